import numpy as np
import pytest

from topicvec.embed import WordVectors
from topicvec.errors import DataError
from topicvec.measure.heldout import WordTopics, document_completion
from topicvec_bench import compare, registry
from topicvec_bench.compare import SkippedRun, TopicRun, run_topics, score_runs
from topicvec_bench.registry import METHODS, Method, find_method, make

GROUPS = [[f"{letter}{i}" for i in range(6)] for letter in "abc"]
WORDS = [word for group in GROUPS for word in group]


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    classes = np.arange(90) % 3
    documents = [list(rng.choice(GROUPS[c], 20)) for c in classes]
    return [[str(word) for word in document] for document in documents], classes.tolist()


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(1)
    centres = 2 * np.eye(3)[np.repeat(range(3), 6)]
    return WordVectors(WORDS, centres + 0.2 * rng.normal(size=(18, 3)), np.ones(18))


@pytest.fixture
def settings(vectors):
    return {"TopicVec": {"vectors": vectors, "n_jobs": 1}, "LDA (tomotopy)": {"n_sweeps": 100}}


LOCAL = ["TopicVec", "LDA (gensim)", "LDA (tomotopy)", "LDA (scikit-learn)", "NMF (scikit-learn)"]
GET_STUCK = {"LDA (gensim)", "LDA (scikit-learn)"}  # variational, from a random start


@pytest.mark.parametrize("name", LOCAL)
def test_every_model_keeps_the_contract_and_most_find_block_topics(name, corpus, vectors, settings):
    if needs := find_method(name, "topics").needs:
        pytest.importorskip(needs)
    documents, classes = corpus
    run = run_topics(name, documents, 3, **settings.get(name, {}))
    assert isinstance(run, TopicRun)
    assert run.proportions.shape == (90, 3)
    [score] = score_runs([run], documents, vectors=vectors, classes=classes)
    if name not in GET_STUCK:
        assert sorted(sorted(words[:6]) for words in run.topics) == GROUPS
        assert (score.purity, score.nmi, score.n_found) == (1, pytest.approx(1), 3)
    assert np.isfinite([score.npmi, score.c_v, score.u_mass, score.embedding]).all()
    assert score.reference_npmi is None


@pytest.mark.parametrize("name", LOCAL)
def test_unknown_words_and_empty_documents_pass_through(name, corpus, settings):
    if needs := find_method(name, "topics").needs:
        pytest.importorskip(needs)
    model = make(name, "topics", n_topics=3, **settings.get(name, {}))
    model.fit(corpus[0])
    if name == "TopicVec":
        with pytest.warns(UserWarning, match="no known word"):
            rows = model.transform([["yak"], ["a1", "a2", "yak"]])
    else:
        rows = model.transform([["yak"], ["a1", "a2", "yak"]])
        assert isinstance(model, WordTopics)
        assert document_completion(model, corpus[0]).perplexity < len(WORDS)
    assert np.isfinite(rows).all()
    assert rows[1].max() > 0.5
    assert np.array_equal(model.transform(corpus[0][:5]), model.transform(corpus[0][:5]))


def test_a_reference_is_counted_once_for_all_runs(corpus, vectors, settings, monkeypatch):
    documents, _ = corpus
    runs = [run_topics(name, documents, 3, **settings.get(name, {})) for name in LOCAL[-2:]]
    counted = []
    count = compare.count_windows
    monkeypatch.setattr(
        compare, "count_windows", lambda *a, **k: counted.append(a[0]) or count(*a, **k)
    )
    reference = iter([" ".join(document) for document in documents])
    scores = score_runs(runs, documents, vectors=vectors, reference=reference)
    assert len(counted) == 2
    for score in scores:
        assert score.reference_npmi == pytest.approx(score.npmi)  # the same texts
        assert score.purity is None


def test_a_model_that_cannot_be_imported_is_skipped_with_its_reason(monkeypatch, corpus):
    odd = Method("Odd", "Not there.", topics="no_such_module:Odd")
    monkeypatch.setattr(registry, "METHODS", {**METHODS, "Odd": odd})
    found = run_topics("Odd", corpus[0], 3)
    assert found == SkippedRun("Odd", 3, "No module named 'topicvec_bench.no_such_module'")


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(DataError, match="unknown method 'LSA': expected one of TopicVec; LDA"):
        make("LSA", "topics", n_topics=3)
    with pytest.raises(DataError, match="at least one fitted model"):
        score_runs([], [["a"]], vectors=None)
