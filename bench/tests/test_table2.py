import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from topicvec.datasets import LabelledTexts
from topicvec.errors import DataError, FormatError, MissingExtra
from topicvec.text import Document
from topicvec_bench import table2
from topicvec_bench.corpora import CORPORA, hold_out, known_tokens
from topicvec_bench.movers import Neighbours
from topicvec_bench.registry import METHODS, split_names
from topicvec_bench.results import PAPER, Results, Row, check_again, summarize
from topicvec_bench.table2 import run_method, run_table2

QUICK = ["BOW", "MeanWV"]


@pytest.fixture
def corpora(monkeypatch, planted):
    """Let the planted documents stand for both corpora, and count how often they are loaded."""
    loaded = []

    def load(subset):
        loaded.append(subset)
        tokens = planted.train if subset == "train" else planted.test
        documents = tuple(
            Document(str(row), " ".join(words), label)
            for row, (words, label) in enumerate(zip(tokens.documents, tokens.labels, strict=True))
        )
        return LabelledTexts(documents, tuple(sorted(set(tokens.labels.tolist()))))

    for name in CORPORA:
        monkeypatch.setitem(CORPORA, name, load)
    return loaded


def run(planted, methods=QUICK, corpora=("reuters",), **options):
    return list(run_table2(corpora, methods, planted.vectors, **options))


def test_each_corpus_and_method_has_a_row_with_both_protocols(planted, corpora):
    rows = run(planted, corpora=["20news", "reuters"])
    assert [(row.corpus, row.method) for row in rows] == [
        (corpus, method) for corpus in ("20news", "reuters") for method in QUICK
    ]
    for row in rows:
        assert (row.n_train, row.n_test) == (80, 40)
        assert set(row.scores) == {"paper", "strong"}
        assert row.scores["strong"].f1 > 90
    assert corpora == ["train", "test"] * 2


def test_seeds_are_for_methods_that_draw_random_numbers(planted, corpora, monkeypatch):
    few = {"reuters": {"TopicVec": {"n_topics": 2, "options": {"tol": 1e-2}}}}
    monkeypatch.setattr("topicvec_bench.registry.SETTINGS", few)
    rows = run(planted, ["bow", "topicvec"], n_seeds=2)
    assert [(row.method, row.seed) for row in rows] == [
        ("BOW", 0),
        ("TopicVec", 0),
        ("TopicVec", 1),
    ]
    assert rows[1].settings["n_topics"] == 2
    assert rows[1].settings["form"] == "proportions"  # a default, but it could change
    assert "random_state" not in rows[1].settings


def test_held_out_documents_come_from_the_training_documents(planted, corpora):
    (row,) = run(planted, ["BOW"], corpora=["reuters-heldout"])
    assert corpora == ["train"]  # the test documents are not even loaded
    assert row.n_train + row.n_test == 80
    assert 0.2 < row.n_test / 80 < 0.3


def test_held_out_documents_are_the_last_of_each_class():
    labels = "abababaabb"
    texts = tuple(Document(str(row), "text", label) for row, label in enumerate(labels))
    parts = hold_out(LabelledTexts(texts, ("a", "b")), 0.4)
    assert [[int(each.id) for each in part.documents] for part in parts] == [
        [0, 1, 2, 3, 4, 5],
        [6, 7, 8, 9],
    ]
    assert parts[1].labels.tolist() == ["a", "a", "b", "b"]


def test_random_documents_of_each_class_are_held_out_by_a_seed():
    documents = tuple(Document(str(row), "text", "ab"[row % 2]) for row in range(40))
    texts = LabelledTexts(documents, ("a", "b"))
    first, again, other = (
        {each.id for each in hold_out(texts, 0.25, seed=seed)[1].documents} for seed in (1, 1, 2)
    )
    assert first == again != other
    assert sum(int(name) % 2 for name in first) == 5  # of twenty of each class
    assert first != {str(row) for row in range(30, 40)}


def test_a_number_behind_the_name_holds_out_random_documents(planted, corpora, monkeypatch):
    held = []

    def spy(wanted, split, *rest, **options):
        held.append(split[1].documents)
        return run_method(wanted, split, *rest, **options)

    monkeypatch.setattr(table2, "run_method", spy)
    names = ["reuters-heldout", "reuters-heldout1", "reuters-heldout2"]
    rows = run(planted, ["BOW"], corpora=names)
    assert corpora == ["train"] * 3
    assert [row.corpus for row in rows] == names
    assert len({row.n_test for row in rows}) == 1
    assert all(one != other for one, other in combinations(held, 2))


@pytest.mark.parametrize("name", ["reuters-heldoutx", "reuters-heldout-1", "-heldout", "news1"])
def test_an_unknown_part_is_refused(planted, corpora, name):
    with pytest.raises(DataError, match="unknown corpus"):
        run(planted, corpora=[name])


def test_settings_can_be_changed_for_a_trial(planted, corpora):
    plain, changed = (
        run(planted, ["TF-IDF"], changes=changes)[0] for changes in (None, {"sublinear": False})
    )
    assert changed.settings == plain.settings | {"sublinear": False}
    assert changed.settings != plain.settings


@pytest.mark.parametrize("name", ["max_norm", "random_state", "vectors"])
def test_a_setting_that_cannot_be_changed_is_refused(planted, corpora, name):
    with pytest.raises(DataError, match=f"no setting '{name}' to change"):
        run(planted, ["TF-IDF"], changes={name: 1})


def test_features_of_training_documents_are_those_of_unseen_ones(planted, corpora, monkeypatch):
    asked = []
    transform = "topicvec_bench.topicvec.TopicVecFeatures.transform"
    monkeypatch.setattr(transform, lambda _, documents: asked.append(len(documents)) or whole)
    whole = np.zeros((40, 9))
    few = {"reuters": {"own-words": {"n_topics": 3, "options": {"tol": 1e-2}}}}
    monkeypatch.setattr("topicvec_bench.registry.SETTINGS", few)
    run(planted, ["own-words"])
    assert asked == [40]  # the training documents go another way


def test_words_of_the_training_documents_get_vectors(planted, corpora):
    few = planted.vectors.subset(30)
    (without,) = run_table2(["reuters"], ["BOW"], few, min_count=0)
    (with_words,) = run_table2(["reuters"], ["BOW"], few, min_count=2)
    assert without.scores["paper"].n_features <= 30
    assert with_words.scores["paper"].n_features > 30
    assert with_words.vectors == without.vectors + "+2"
    (mean,) = run_table2(["reuters"], ["MeanWV"], few, min_count=2)
    assert mean.scores["strong"].f1 > 60


def test_a_broken_run_goes_on_where_it_stopped(planted, corpora, tmp_path, monkeypatch):
    file = tmp_path / "table2.json"
    first = next(run_table2(["reuters"], QUICK, planted.vectors, output=file))
    ran = []

    def spy(wanted, *rest, **options):
        ran.append(wanted.method)
        return run_method(wanted, *rest, **options)

    monkeypatch.setattr(table2, "run_method", spy)
    rows = run(planted, output=file)
    assert ran == ["MeanWV"]
    assert rows[0] == first
    assert [row.method for row in Results.read(file).rows] == QUICK


def test_other_vectors_or_settings_are_run_again(planted, corpora, tmp_path, monkeypatch):
    file = tmp_path / "table2.json"
    run(planted, ["TF-IDF"], output=file)
    changed = {"reuters": {"TF-IDF": {"sublinear": False}}}
    monkeypatch.setattr("topicvec_bench.registry.SETTINGS", changed)
    run(planted, ["TF-IDF"], output=file)
    (row,) = Results.read(file).rows
    assert row.settings["sublinear"] is False
    (other,) = run_table2(["reuters"], ["TF-IDF"], planted.vectors.subset(30), output=file)
    assert other.vectors != row.vectors


def test_a_method_that_cannot_run_is_skipped_with_its_reason(planted, corpora, monkeypatch):
    def fit(*_):
        raise MissingExtra("BOW needs nothing: pip install nothing")

    monkeypatch.setattr("topicvec_bench.simple.WordCounts.fit", fit)
    rows = run(planted)
    assert [row.is_done for row in rows] == [False, True]
    assert "pip install" in rows[0].skipped
    assert [each.skipped != "" for each in summarize(rows, METHODS)] == [True, False]


def test_a_skipped_row_is_tried_again(tmp_path):
    row = Row("reuters", "BOW", 0, "abc", skipped="no reason")
    results = Results.read(tmp_path / "x.json").with_row(row)
    assert results.find(row) is None


@pytest.mark.parametrize("content", ["[]", "{", '{"rows": [{"corpus": 1}]}', "\udcff"])
def test_a_file_of_something_else_is_not_overwritten(content, planted, corpora, tmp_path):
    file = tmp_path / "other.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(FormatError, match=r"other\.json"):
        run(planted, output=file)
    assert file.read_bytes() == content.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"corpora": ["imdb"]}, "imdb"),
        ({"methods": ["BOW", "nothing"]}, "nothing"),
        ({"n_seeds": 0}, "n_seeds"),
        ({"min_count": -1}, "min_count"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_wrong_wishes_are_refused_before_the_work(options, message, planted, corpora):
    with pytest.raises(DataError, match=message):
        run(planted, **options)
    assert corpora == []


def test_a_summary_has_mean_and_spread_over_seeds(planted):
    row = run_method(Row("reuters", "BOW", 0, ""), (planted.train, planted.test), planted.vectors)
    scores = row.scores["paper"]
    rows = [
        replace(row, seed=seed, scores={**row.scores, "paper": replace(scores, f1=f1)})
        for seed, f1 in enumerate((90.0, 92.0, 94.0))
    ]
    (found,) = summarize(rows, METHODS)
    assert str(found.f1) == "92.0 ± 2.0"
    (of_two,) = summarize(rows[:2], METHODS)
    assert str(of_two.f1) == "91.0"  # two seeds are no spread
    assert found.paper_f1 == PAPER["reuters"]["BOW"].f1
    assert found.n_features == 50


def test_rows_come_back_from_the_file_as_they_were(planted, tmp_path):
    row = run_method(Row("reuters", "BOW", 0, ""), (planted.train, planted.test), planted.vectors)
    file = tmp_path / "rows.json"
    Results.read(file).with_row(row)
    assert Results.read(file).rows == (row,)
    assert json.loads(file.read_text())["rows"][0]["scores"]["paper"]["n_features"] == 50


def test_stop_words_unknown_words_and_empty_documents_are_dropped():
    documents = [("a", "The cat, the QQQ cat."), ("b", "the of"), ("b", "dog")]
    texts = tuple(Document(str(i), text, label) for i, (label, text) in enumerate(documents))
    found = known_tokens(LabelledTexts(texts, ("a", "b")), {"the", "cat", "dog"})
    assert found.documents == [["cat", "cat"], ["dog"]]
    assert found.labels.tolist() == ["a", "b"]
    assert found.n_tokens == 3


def test_a_row_tells_its_main_figures_in_the_file(planted, tmp_path, corpora):
    file = tmp_path / "table2.json"
    (row,) = run(planted, ["BOW"], output=file)
    (saved,) = json.loads(file.read_text())["rows"]
    figures = {"method", "corpus", "form", "n_features", "f1", "f1_stronger", "seed"}
    assert figures <= set(saved)
    assert (saved["f1"], saved["f1_stronger"]) == (
        row.scores["paper"].f1,
        row.scores["strong"].f1,
    )
    assert Results.read(file).rows == (row,)


def test_neighbours_are_scored_by_the_classes_they_name(planted, corpora, monkeypatch):
    class Oracle(Neighbours):
        def fit(self, documents, labels):
            self.labels = planted.test.labels
            return self

        def predict(self, documents):
            return self.labels

        _keep = _nearest = None

    monkeypatch.setattr(table2, "make", lambda *_, **__: Oracle())
    wanted = Row("reuters", "WMD kNN", 0, "")
    row = run_method(wanted, (planted.train, planted.test), planted.vectors)
    assert (row.scores["paper"].f1, row.form) == (100.0, "neighbours")
    assert row.as_dict()["f1_stronger"] is None
    (summary,) = summarize([row], METHODS)
    assert summary.strong_f1 is None


def test_a_method_that_could_name_classes_is_still_judged_by_its_features(planted, corpora):
    wanted = Row("reuters", "sLDA", 0, "", {"n_topics": 4, "n_initial": 5, "n_iter": 5})
    row = run_method(wanted, (planted.train, planted.test), planted.vectors)
    assert (set(row.scores), row.form) == ({"paper", "strong"}, "features")
    assert row.scores["paper"].n_features == 4


def test_names_with_commas_are_told_apart():
    assert split_names("topicvec, square roots,BOW") == ["TopicVec, square roots", "BOW"]
    assert split_names("TopicVec,nothing") == ["TopicVec", "nothing"]


def test_rows_that_are_run_again_must_be_as_in_the_file(planted, tmp_path, corpora):
    file = tmp_path / "table2.json"
    rows = run(planted, output=file)
    check_again(Results.read(file), run(planted))
    score = replace(rows[0].scores["paper"], f1=rows[0].scores["paper"].f1 - 1e-9)
    changed = replace(rows[0], scores={**rows[0].scores, "paper": score})
    with pytest.raises(DataError, match=r"not as in the file: reuters BOW seed 0 \("):
        check_again(Results.read(file), [changed, rows[1]])
