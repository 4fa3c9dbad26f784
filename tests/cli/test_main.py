import json
import re
import subprocess
import sys
import warnings

import pytest

from topicvec.cli.main import call, run

COMMANDS = [
    ["topics"], ["fit"], ["transform"], ["info"], ["show"],
    ["over-time"], ["by-class"], ["relabel"], ["merge"], ["choose"], ["explain"], ["search"],
    ["similar"], ["summarize"], ["demo"],
    ["classify", "train"], ["classify", "predict"], ["cloud"], ["picture"], ["report"], ["explore"],
    *(["vectors", name] for name in ("train", "add", "eval", "convert", "info", "nearest")),
]  # fmt: skip


def test_help_lists_the_commands(capsys):
    assert call(["--help"]) == 0
    shown = capsys.readouterr().out
    for command in COMMANDS:
        assert command[0] in shown


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_teaches_with_an_example(command, capsys):
    assert call([*command, "--help"]) == 0
    assert "Example: topicvec" in " ".join(capsys.readouterr().out.split())


def test_version(capsys):
    import topicvec

    assert call(["--version"]) == 0
    assert capsys.readouterr().out.strip() == topicvec.__version__


def test_topics_as_json_have_what_scripts_rely_on(article, capsys):
    assert call(["topics", str(article), "-k", "7", "--seed", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    keys = {"index", "share", "words", "label", "is_background", "is_null"}
    assert keys <= set(found["topics"][0])
    assert len(found["documents"]) == 1
    assert sum(found["documents"][0]["proportions"]) == pytest.approx(1)
    assert sum(topic["share"] for topic in found["topics"]) == pytest.approx(1, abs=0.02)


def test_as_many_topics_as_asked_for(article, capsys):
    assert call(["topics", str(article), "-k", "8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    topics = [topic for topic in found["topics"] if not topic["is_null"]]
    assert len(topics) == 8
    assert sorted(topic["index"] for topic in topics) == list(range(1, 9))
    assert len({topic["label"] for topic in topics}) == 8
    behind = [topic["is_background"] for topic in topics]
    assert behind == sorted(behind)
    assert len(found["documents"][0]["proportions"]) == 9  # with the null topic


def test_the_table_has_a_row_for_each_topic_with_its_name(article, capsys):
    assert call(["topics", str(article), "-k", "8", "--json"]) == 0
    topics = json.loads(capsys.readouterr().out)["topics"]
    assert call(["topics", str(article), "-k", "8"]) == 0
    shown = capsys.readouterr().out
    rows = [line.split("│") for line in shown.splitlines() if re.match(r"│ +\d", line)]
    assert [int(row[1]) for row in rows] == [topic["index"] for topic in topics[:-1]]
    for row, topic in zip(rows, topics, strict=False):
        assert topic["label"].startswith(row[2].strip())
    share = sum(topic["share"] for topic in topics if topic["is_background"])
    assert share > 0
    behind = [str(topic["index"]) for topic in topics if topic["is_background"]]
    kind = "topics" if len(behind) > 1 else "topic"
    assert shown.splitlines()[-1] == (
        f"background (grey), {share:.1%} of the words, which tell nothing: {kind} "
        + ", ".join(behind)
    )


def test_no_word_of_a_topic_is_said_twice_and_shares_stand_below_each_other(article, capsys):
    assert call(["topics", str(article), "-k", "8"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert len({row.index("%") for row in rows if "%" in row}) == 1
    words: dict[str, list[str]] = {}
    topic = ""
    for row in rows:
        number, label, _, more = (cell.strip() for cell in row.strip("│").split("│"))
        topic = number or topic
        named = [word for word in label.rstrip(",").split(", ") if word]
        words.setdefault(topic, []).extend([*named, *more.split()])
    for found in words.values():
        assert len(set(found)) == len(found) == 10


@pytest.mark.parametrize("options", [[], ["-k", "auto"]])
def test_the_number_of_topics_follows_from_the_text(options, article, capsys):
    assert call(["topics", str(article), *options, "--json"]) == 0
    topics = json.loads(capsys.readouterr().out)["topics"]
    assert 5 <= len(topics) - 1 <= 12


def test_too_many_topics_are_lowered_and_said_so(tmp_path, capsys):
    text = tmp_path / "short.txt"
    text.write_text("Salt water and bread.")
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # as for users; in tests they are errors
        assert call(["topics", str(text), "-k", "40", "--json"]) == 0
    shown = capsys.readouterr()
    assert len(json.loads(shown.out)["topics"]) == 4
    assert "has 3 distinct words, so it gets 3 topics, not 40" in shown.err


def test_as_many_words_as_asked_for(article, capsys):
    assert call(["topics", str(article), "-k", "3", "--words", "15", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["topics"][0]["words"]) == 15


def test_the_same_seed_gives_the_same_output(article, capsys):
    outputs = []
    for _ in range(2):
        assert call(["topics", str(article), "-k", "4", "--json"]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]


def test_topics_as_a_table_and_a_page(article, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert call(["topics", str(article), "-k", "5", "--page", str(page)]) == 0
    assert "share" in capsys.readouterr().out
    assert 'id="records"' in page.read_text(encoding="utf-8")


def test_a_pipe_works(article):
    command = [sys.executable, "-m", "topicvec", "topics", "-", "-k", "3", "--json"]
    with article.open("rb") as stdin:
        done = subprocess.run(command, stdin=stdin, capture_output=True, check=True)
    assert json.loads(done.stdout)["documents"][0]["id"] == "stdin"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["topics", "no-such-file.txt"], "no-such-file.txt"),
        (["topics", "{empty}"], "empty"),
        (["topics", "{latin}", "--encoding", "utf-8"], "--encoding"),
        (["topics", "{table}", "--text-column", "body"], "body"),
        (["topics", "{article}", "-k", "0"], "n_topics must be"),
        (
            ["topics", "{article}", "-k", "many"],
            "-k takes a number of topics, or auto; found 'many'",
        ),
        (["vectors", "info", "{article}"], "article.txt"),
        (["vectors", "nearest", "qqqzzz"], "qqqzzz"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, expected, article, tmp_path, capsys):
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "latin.txt").write_bytes("caf\xe9 au lait".encode("latin-1"))
    (tmp_path / "table.csv").write_text("id,text\n1,water and salt\n")
    names = {
        "empty": tmp_path / "empty.txt",
        "latin": tmp_path / "latin.txt",
        "table": tmp_path / "table.csv",
        "article": article,
    }
    assert call([argument.format(**names) for argument in arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    *read, error = shown.err.splitlines()
    assert error.startswith("topicvec: ")
    assert all("utf-8" in line for line in read)
    assert expected in shown.err
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["topics", "--no-such-option"], "--no-such-option"),
        (["show", "m.topicvec", "x"], "(?i)'topic': "),  # how names are written differs
        (["picture", "sculpture", "m.topicvec"], "'sculpture' is not one of 'topic-map'"),
        (["picture"], "(?i)Missing argument 'kind.*topic-map"),  # between versions of typer
        (["explore", "m.topicvec", "a.txt", "--port", "99999"], "65535; topicvec explore -h"),
        (["no-such-command"], "No such command 'no-such-command'; topicvec -h tells more"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments, expected, capsys):
    assert call(arguments) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("topicvec: ")
    assert shown.count("\n") == 1
    assert re.search(expected, shown)


def test_an_interrupt_while_modules_are_loaded_is_one_line(monkeypatch, capsys):
    class Interrupted:
        def find_spec(self, name, *_):
            if name == "topicvec.cli.render":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "topicvec.cli.render")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    with pytest.raises(SystemExit, match="130"):
        run()
    assert capsys.readouterr().err == "topicvec: interrupted\n"


def test_debug_shows_the_traceback():
    from topicvec.errors import DataError

    with pytest.raises(DataError):
        call(["topics", "no-such-file.txt", "--debug"])


def test_the_demo_prints_topics_and_writes_its_pages(tmp_path, capsys):
    assert call(["demo", "--output", str(tmp_path)]) == 0
    assert "Topics of one article" in capsys.readouterr().out
    assert "brine" in (tmp_path / "article.html").read_text(encoding="utf-8")


def test_a_command_does_not_wait_for_the_modules_of_others(article, vectors):
    code = (
        "import sys; from topicvec.cli.main import call; call(sys.argv[1:]); "
        "print(*[name for name in sys.modules if name.startswith('topicvec.')], file=sys.stderr)"
    )
    arguments = ["topics", str(article), "-k", "3", "--vectors", str(vectors), "-q"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=True)
    loaded = set(done.stderr.decode().split())
    own = {f"topicvec.cli.{name}" for name in ("main", "render", "options", "topics", "fitting")}
    assert {name for name in loaded if name.startswith("topicvec.cli.")} == own
    assert not {name for name in loaded if name.startswith(("topicvec.explore", "topicvec.rep"))}


def test_help_waits_for_nothing_slow():
    code = (
        "import sys; from topicvec.cli.main import call; call(['--help']); call(['fit', '-h']); "
        "sys.exit(bool({'numpy', 'scipy'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
