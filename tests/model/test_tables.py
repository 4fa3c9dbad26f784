"""Topics and documents as tables, pages and bars."""

import re
import subprocess
import sys

import numpy as np
import pandas
import polars
import pytest

from topicvec import DocumentIndex, TopicVec, frames, pictures
from topicvec.datasets import sample_corpus
from topicvec.errors import DataError, MissingExtra
from topicvec.measure import npmi, topic_stability
from topicvec.model import choose_n_topics, read_topics
from topicvec.represent import TopicClassifier, TopicFeatures, topics_over_time, topics_per_class


@pytest.fixture(scope="module")
def documents():
    return sample_corpus()


@pytest.fixture(scope="module")
def model(documents):
    return TopicVec(6, random_state=0).fit(documents)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_topics_are_a_table(model, frame):
    table = model.topic_table(frame)
    assert type(table).__module__.split(".")[0] == frame
    assert list(table["topic"]) == [topic.index for topic in model.topics_]
    assert list(table["label"]) == [topic.label for topic in model.topics_]
    assert list(table["kind"])[-1] == "null"
    assert sum(table["share"]) == pytest.approx(1)
    assert table["words"][0].split(", ") == [word for word, _ in model.topics_[0].words]
    assert list(table["documents"][0]) == [row for row, _ in model.topics_[0].documents]


def test_topics_of_classes_have_a_column_for_them(documents):
    labels = [each.label for each in documents]
    model = TopicVec(1, share="class", random_state=0).fit(documents, labels)
    table = model.topic_table().dropna(subset="class")
    assert sorted(table["class"]) == sorted(set(labels))


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_documents_are_a_table(model, documents, frame):
    table = model.document_table(documents, frame)
    shares = model.transform(documents)
    assert list(table["document"]) == [document.id for document in documents]
    assert list(table["topic"]) == (1 + shares[:, 1:].argmax(axis=1)).tolist()
    assert list(table["share"]) == shares[:, 1:].max(axis=1).tolist()
    names = model.get_feature_names_out().tolist()
    assert np.array_equal(np.column_stack([table[name] for name in names]), shares)
    assert table["words"][0] > 20


@pytest.mark.filterwarnings("ignore:1 of 2 documents have no known word")
def test_documents_of_a_series_keep_their_names(model):
    texts = pandas.Series(["rain on the sea", "of the and"], index=["wet", "empty"])
    table = model.document_table(texts)
    assert table.index.tolist() == ["wet", "empty"]
    assert table.loc["empty", "words"] == 0
    assert model.document_table(polars.Series(texts.tolist()), "polars").shape == table.shape


def test_topics_over_time_are_the_table_behind_the_picture(model, documents):
    courses = topics_over_time(model, documents, n_bins=3)
    table = courses.table()
    assert len(table) == 3 * len(courses)
    first = table[table["topic"] == courses[0].topic.index]
    assert first["share"].tolist() == [span.share for span in courses[0].spans]
    assert courses.table("polars").shape == table.shape


def test_topics_per_class_are_the_table_behind_the_picture(model, documents):
    found = topics_per_class(model, documents)
    table = found.table()
    assert sorted(set(table["class"])) == sorted({each.label for each in documents})
    of_music = table[table["class"] == "music"]
    assert of_music["documents"].unique().tolist() == [12]
    rows = [row for row, each in enumerate(documents) if each.label == "music"]
    means = model.transform(documents)[rows].mean(axis=0)
    assert of_music["share"].tolist() == pytest.approx(means[of_music["topic"]].tolist())
    assert found.table("polars").shape == table.shape


def test_a_topic_is_found_by_a_word_or_more(model):
    topic, probability = model.find_topics("planet", n=1)[0]
    assert "planet" in dict(topic.words)
    assert probability > 0.5
    assert len(model.find_topics("bread and the night sky", n=3)) == 3
    with pytest.raises(DataError, match="no word of 'qqqzz' has a vector"):
        model.find_topics("qqqzz")


def test_a_fitted_model_is_a_table_in_a_notebook(model):
    page = model._repr_html_()
    assert page.count("<tr") == len(model.topics_) + 1
    assert model.topics_[0].label in page
    assert "TopicVec(n_topics=6, random_state=0)" in page
    shares = [float(width) for width in re.findall(r"width:([\d.]+)em\"></i>", page)]
    assert max(shares) == pytest.approx(6)
    assert "<script" not in model.relabel({1: "<script>"})._repr_html_()


def test_a_model_without_topics_is_scikit_learns_diagram():
    assert "sk-container" in TopicVec(3)._repr_html_()


def test_a_table_without_its_package_says_how_to_get_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match=re.escape('pip install "topicvec[polars]"')):
        model.topic_table("polars")
    with pytest.raises(DataError, match="frame must be 'pandas' or 'polars'; found 'excel'"):
        model.topic_table("excel")
    assert frames.output_of(model) == "default"


def test_tables_need_neither_pandas_nor_scikit_learn_before_they_are_asked_for():
    code = (
        "import sys, topicvec.cli.main, topicvec.model.topicvec, topicvec.represent.classifier; "
        "print([name for name in ('sklearn', 'pandas', 'polars') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.filterwarnings("ignore:not converged")
def test_verbose_shows_a_bar_on_standard_error_and_changes_nothing(documents, capfd):
    heard = []
    model = TopicVec(3, max_iter=3, tol=1, random_state=0, verbose=1)
    model.fit(documents, callback=heard.append)
    shown = capfd.readouterr()
    assert "learning topics bound" in shown.err
    assert shown.out == ""
    assert heard
    plain = TopicVec(3, max_iter=3, tol=1, random_state=0).fit(documents)
    assert capfd.readouterr().err == ""
    assert np.array_equal(plain.topic_vectors_, model.topic_vectors_)


def test_the_wrong_kind_of_argument_is_told_in_a_sentence(model):
    with pytest.raises(DataError, match=r"topics such as \[1, 2\], found 1: one group to merge is"):
        model.merge([1, 2])
    with pytest.raises(DataError, match=r"expected numbers of topics such as \[1, 2\], found 3$"):
        model.drop(3)
    with pytest.raises(DataError, match=r"expected names of topics such as \{3: 'sea'\}, found"):
        model.relabel("sea")
    with pytest.raises(DataError, match=r"n_topics must be a whole number .* found 'auto'"):
        model.reduce("auto")
    with pytest.raises(DataError, match=r"lists of words; found a model: give \[\[word for word"):
        npmi(model, [["cat"]])
    for runs in (model, [model, model]):
        with pytest.raises(DataError, match=r"found a model: give \[model\.topic_vectors_\[1:\]"):
            topic_stability(runs)
    with pytest.raises(DataError, match='for lists of words give by="jaccard"'):
        topic_stability([[["cat", "dog"]], [["dog", "cat"]]])


def test_what_is_no_list_of_documents_is_never_taken_for_one(model, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("The cat purrs.")
    takers = [
        model.transform,
        model.document_table,
        TopicVec(2).fit_transform,
        TopicFeatures().fit,
        TopicFeatures().fit_transform,
        lambda documents: TopicClassifier().fit(documents, ["a", "b"]),
        lambda documents: topics_over_time(model, documents, times=["2001", "2002"]),
        lambda documents: topics_per_class(model, documents, ["a", "b"]),
    ]
    for take in takers:
        with pytest.raises(DataError, match="found one str; put it in a list"):
            take("ab")
        with pytest.raises(DataError, match=r"found one str; a file is read by topicvec\.read_doc"):
            take(str(path))
        with pytest.raises(DataError, match=r"found a dict; give list\(x\.values\(\)\)"):
            take({"a": "The cat", "b": "The dog"})
    with pytest.raises(
        DataError, match="is a file, not the folder of a prepared corpus: its texts"
    ):
        TopicVec(2).fit(path)


def test_a_document_without_a_class_is_told(documents):
    labels = [None, *(["a", "b"] * len(documents))[1 : len(documents)]]
    expected = f"found none for 1 of {len(documents)}, the first in row 0: leave"
    for gap in (None, float("nan")):
        with pytest.raises(DataError, match=expected):
            TopicClassifier().fit(documents, [gap, *labels[1:]])


def test_words_of_documents_are_counts_unless_they_have_weights(model):
    counts = [[3.0, 1.0], [0.0, 2.0]]
    words = list(model.vectors_.words[:2])
    whole = TopicVec(2, model.vectors_, vocabulary=words, random_state=0).fit(counts)
    assert whole.document_table(counts)["words"].tolist() == [4, 2]
    assert whole.document_table([[0.5, 0.25], [0.0, 2.0]])["words"].tolist() == [0.75, 2.0]


def test_a_share_and_its_bar_stay_in_one_line_of_a_notebook(model):
    page = model._repr_html_()
    assert "td.share{white-space:nowrap}" in page
    assert page.count('<td class="share">') == len(model.topics_)


def test_each_argument_of_another_kind_is_told_in_a_sentence(model):
    texts = ["The rain falls on the sea.", "A goal in the last minute of the match."]
    wrong = {
        r"random_state must be .* found 'a'": lambda: TopicVec(2, random_state="a").fit(texts),
        "random_state must be a whole": lambda: TopicVec(2, random_state=-1).fit(texts),
        "tokenizer must be a function": lambda: TopicVec(2, tokenizer="split").fit(texts),
        r"list of words .* found 'sea'": lambda: TopicVec(2, vocabulary="sea").fit(texts),
        r"list of words .* found 5": lambda: TopicVec(2, vocabulary=5).fit(texts),
        "a name, a file or words; found 5": lambda: TopicVec(2, stop_words=5).fit(texts),
        "tuple of texts: give them one": lambda: model.token_proportions((texts[1] * 2,)),
        "expected model.fitted_; found TopicVec": lambda: read_topics(model),
        r"several numbers .* found 5": lambda: choose_n_topics(texts, 5),
        "expected one text; found list": lambda: pictures.tokens(model, texts),
        "list of documents; found one str": lambda: pictures.document_map(model, "ab"),
        "list of documents; found one str;": lambda: pictures.over_time(model, "ab", times=[1, 2]),
        "a TopicVec, and then documents": lambda: DocumentIndex.build(texts, model),
        r"found NoneType in row 1; use ''": lambda: DocumentIndex.build(model, ["rain", None]),
        "found 3 among the tokens": lambda: DocumentIndex.build(model, [["rain", 3]]),
        "a text or its tokens; found int": lambda: DocumentIndex.build(model, texts).search(5),
    }
    for expected, call in wrong.items():
        with pytest.raises(DataError, match=expected):
            call()
