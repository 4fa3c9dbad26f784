import json
import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from topicvec.embed import WordVectors
from topicvec.errors import DataError, FormatError
from topicvec.measure import words as module
from topicvec.measure.words import analogies, evaluate_words, unrecognised_tests, word_similarity


def make(n_words=200, n_dims=10, seed=0):
    rng = np.random.default_rng(seed)
    return WordVectors(
        [f"w{i}" for i in range(n_words)], rng.normal(size=(n_words, n_dims)), np.ones(n_words)
    )


def random_pairs(n=60, seed=1):
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 200, size=(n, 2))
    return [(f"w{a}", f"W{b}", float(rng.integers(0, 10))) for a, b in places]


def random_questions(n=300, seed=2):
    rng = np.random.default_rng(seed)
    return [tuple(f"w{i}" for i in rng.integers(0, 200, size=4)) for _ in range(n)]


def test_similarity_is_spearmans_correlation_ties_included():
    vectors, pairs = make(), random_pairs()
    cosines = [vectors.similarity(a, b.lower()) for a, b, _ in pairs]
    expected = spearmanr(cosines, [score for *_, score in pairs]).statistic
    score = word_similarity(vectors, pairs)
    assert score.spearman == pytest.approx(expected, abs=1e-4)
    assert (score.n_used, score.n_total, score.value) == (60, 60, score.spearman)


def test_pairs_with_an_unknown_word_are_left_out_and_counted():
    pairs = random_pairs()
    more = [*pairs, ("w1", "unknown", 3.0)]
    score = word_similarity(make(), more)
    assert (score.n_used, score.n_total) == (60, 61)
    assert score.spearman == word_similarity(make(), pairs).spearman


@pytest.mark.parametrize("pairs", [[], [("w1", "w2", 3)], [("w1", "w2", 3), ("w3", "w4", 3)]])
def test_similarity_without_variation_is_not_a_number(pairs):
    assert math.isnan(word_similarity(make(), pairs).spearman)


@pytest.mark.parametrize("method", ["add", "mul"])
def test_analogies_agree_with_one_question_at_a_time(monkeypatch, method):
    monkeypatch.setattr(module, "BLOCK_WORDS", 37)
    monkeypatch.setattr(module, "BLOCK_QUESTIONS", 11)
    vectors = make()
    single = [(*q[:3], vectors.analogy(*q[:3], method=method)[0][0]) for q in random_questions()]
    assert analogies(vectors, single, method).accuracy == 1
    wrong = random_questions()
    right = sum(q == s for q, s in zip(wrong, single, strict=True))
    assert analogies(vectors, wrong, method).accuracy == right / len(wrong)


def test_a_question_asked_twice_counts_twice_and_unknown_words_not_at_all():
    vectors = make()
    a, b, c = "w1", "w2", "w3"
    right = (a, b, c, vectors.analogy(a, b, c)[0][0])
    wrong = (a, b, c, "w4" if right[3] != "w4" else "w5")
    score = analogies(vectors, [right, right, wrong, ("w1", "w2", "w3", "unknown")])
    assert (score.accuracy, score.n_used, score.n_total) == (pytest.approx(2 / 3), 3, 4)
    assert score.name == "questions (add)"
    assert score.as_dict()["n_used"] == 3


def test_no_known_question_is_not_a_number():
    assert math.isnan(analogies(make(), [("a", "b", "c", "d")]).accuracy)


def test_a_folder_of_tests_is_scored_file_by_file(tmp_path):
    (tmp_path / "ws.txt").write_bytes(b"W1\tw2\t3.5\r\nw2\tw3\t1\r\nw1\tw4\t2\r\n")
    (tmp_path / "men.csv").write_text("# comment\nw1,w2,50.000\nw5,w6,1\n")
    (tmp_path / "google.txt").write_text(": capitals\nw1 w2 w3 w4\nw1 w2 w3 no\n")
    (tmp_path / "README.txt").write_text("Where these tests come from.\n")
    (tmp_path / "empty.txt").write_text("")
    scores = evaluate_words(make(), tmp_path)
    assert [score.name for score in scores] == ["men", "ws", "google (add)", "google (mul)"]
    assert [score.n_used for score in scores] == [2, 3, 1, 1]
    assert scores[1] == word_similarity(make(), tmp_path / "ws.txt")
    assert word_similarity(make(), tmp_path / "ws.txt", name="mine").name == "mine"


def test_files_that_are_no_tests_are_logged_and_can_be_listed(tmp_path, caplog):
    (tmp_path / "ws.txt").write_text("w1 w2 3\nw3 w4 1\n")
    (tmp_path / "README.txt").write_text("Collected by A, from B, in C, with D.\n")
    (tmp_path / "simlex.xlsx").write_bytes(b"PK\xff")
    (tmp_path / ".hidden.txt").write_text("hidden\n")
    (tmp_path / "folder.txt").mkdir()
    expected = [tmp_path / "README.txt", tmp_path / "simlex.xlsx"]
    assert unrecognised_tests(tmp_path) == expected
    assert [score.name for score in evaluate_words(make(), tmp_path)] == ["ws"]
    assert "README.txt, simlex.xlsx" in caplog.text


@pytest.mark.parametrize(
    "header", ["Word 1,Word 2,Human (mean)", "Word 1\tWord 2\tHuman (mean)", "word1 word2 score"]
)
def test_one_header_row_of_a_similarity_test_is_skipped(tmp_path, header):
    path = tmp_path / "ws.csv"
    path.write_text(f'{header}\n"w1","w2",3.5\nw2, w3, 1\nNew York,w3,2\n')
    score = word_similarity(make(), path)
    assert (score.n_used, score.n_total) == (2, 3)
    assert evaluate_words(make(), tmp_path) == [score]
    path.write_text(f"{header}\n{header}\nw1 w2 3\n")
    with pytest.raises(FormatError, match="line 1: expected two words and a score"):
        word_similarity(make(), path)


def test_a_file_that_is_not_utf8_is_refused_and_a_byte_order_mark_is_no_letter(tmp_path):
    path = tmp_path / "ws.txt"
    path.write_bytes("\ufeffw1 w2 3\nw3 w4 1\n".encode())
    assert word_similarity(make(), path).n_used == 2
    path.write_bytes("café w2 3\n".encode("latin-1"))
    for test in (lambda: word_similarity(make(), path), lambda: evaluate_words(make(), tmp_path)):
        with pytest.raises(DataError, match=r"ws\.txt: .*UTF-8, found byte 0xe9 .*save the file"):
            test()


def test_a_score_that_is_not_defined_is_null_in_json():
    records = [word_similarity(make(), []), analogies(make(), [])]
    for record, key in zip(records, ["spearman", "accuracy"], strict=True):
        assert record.as_dict()[key] is None
        json.dumps(record.as_dict(), allow_nan=False)


def test_a_folder_without_tests_and_missing_ones_are_refused(tmp_path):
    with pytest.raises(DataError, match="no word tests"):
        evaluate_words(make(), tmp_path)
    with pytest.raises(DataError, match="no such folder"):
        evaluate_words(make(), tmp_path / "none")
    with pytest.raises(DataError, match="no such file"):
        word_similarity(make(), tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("test", "content", "message"),
    [
        (word_similarity, "a b 1\na b\n", "line 2: expected two words and a score"),
        (word_similarity, "a b 1\na b high\n", "line 2: expected two words and a score"),
        (word_similarity, "a b\na b 1\n", "line 1: expected two words and a score"),
        (word_similarity, "a b nan\na b 1\n", "line 1: expected two words and a score"),
        (word_similarity, "a b nan\n", "line 1: expected two words and a score"),
        (analogies, "a b c d\na b c\n", "line 2: expected four words"),
    ],
)
def test_a_bad_line_of_a_test_is_refused(tmp_path, test, content, message):
    path = tmp_path / "test.txt"
    path.write_text(content)
    with pytest.raises(FormatError, match=message):
        test(make(), path)
