"""``topicvec bench``: measurements that can be repeated anywhere."""

import typer

from topicvec.cli import bench_topics

__all__ = ["app"]

app = typer.Typer(help="Compare with other methods.", no_args_is_help=True)
app.command("topics")(bench_topics.topics)
