"""Lets ``python -m topicvec`` do what the ``topicvec`` command does."""

from topicvec.cli import run

if __name__ == "__main__":
    run()
