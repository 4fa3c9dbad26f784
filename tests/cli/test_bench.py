import pytest

from topicvec.cli.main import call


@pytest.mark.parametrize("arguments", [[], ["table2", "--corpus", "reuters"], ["topics", "-h"]])
def test_bench_says_in_one_line_where_it_went(arguments, capsys):
    assert call(["bench", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("topicvec: the laboratory is a package of its own: pip install")
    assert "topicvec-bench" in shown.err
    assert shown.err.count("\n") == 1


def test_bench_is_not_among_the_commands(capsys):
    assert call(["-h"]) == 0
    assert "bench" not in capsys.readouterr().out
