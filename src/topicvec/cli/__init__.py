"""The command line: one file a command, and ``render``, the only file that prints.

Here is only where it starts, before anything is imported that takes time: Ctrl-C and SIGTERM, which
is what Ctrl-C is, end a command in one line from its first moment.
"""

import signal
import sys

__all__ = ["INTERRUPTED", "run"]

INTERRUPTED = 130


def run() -> None:
    """Run the command line and leave the process with its exit code."""
    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:  # and not ignored
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        from topicvec.cli.main import call

        code = call(sys.argv[1:])
    except KeyboardInterrupt:  # before or after all that could print it
        sys.stderr.write("topicvec: interrupted\n")
        code = INTERRUPTED
    sys.exit(code)
