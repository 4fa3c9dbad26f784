"""``topicvec bench``: measurements that can be repeated anywhere."""

import typer

from topicvec.cli import bench_table2, bench_topics

__all__ = ["app"]

app = typer.Typer(help="Compare with other methods.", no_args_is_help=True)
app.command("table2")(bench_table2.table2)
app.command("topics")(bench_topics.topics)
