"""The command line: one file a command, and ``render``, the only file that prints."""
