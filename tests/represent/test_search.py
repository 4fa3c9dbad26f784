import numpy as np
import pytest
from scipy.sparse import csr_array

from topicvec import TopicVec
from topicvec.errors import DataError, FormatError, VocabularyMismatch
from topicvec.represent import DocumentIndex, represent, transport_distance
from topicvec.represent.blend import choose_blend, halves
from topicvec.represent.search import Blend
from topicvec.represent.transport import topic_distances
from topicvec.represent.words import WordIndex, known_counts


@pytest.fixture(scope="module")
def index(model, documents):
    return DocumentIndex.build(model, documents)


def test_bm25_weights_are_those_of_the_formula():
    counts = csr_array([[2, 0, 1], [0, 1, 1]])
    index = WordIndex.of(["a", "b", "c"], counts)
    telling = np.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    damping = 1.2 * (0.25 + 0.75 * 3 / 2.5)
    assert index.telling[0] == pytest.approx(telling)
    assert index.table.toarray()[0, 0] == pytest.approx(telling * 2 / (2 + damping))


def test_only_words_that_occur_are_looked_up_and_all_of_them_are(model):
    words, counts = ["star", "unheard", "bread", "the"], csr_array([[0, 1, 2, 1], [0, 0, 1, 0]])
    asked = []

    class Counter:
        def known(self, tokens, vectors):
            asked.extend(tokens)
            return {token: vectors.ids[token] for token in tokens if token in vectors}

    vectors = model.vectors_
    known = known_counts(Counter(), words, counts, vectors)
    assert asked == ["unheard", "bread", "the"]
    assert known.shape == (2, len(vectors))
    assert known[:, [vectors.ids["bread"]]].toarray().ravel().tolist() == [2, 1]
    assert known.sum() == 3 + ("the" in vectors)


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("telescopes and the night sky", "astronomy"),
        ("dough in a hot oven", "cooking"),
        ("roses and weeds", "gardening"),
        ("violin concerto", "music"),
        ("stomach ulcers and physicians", "medicine"),
    ],
)
def test_short_queries_find_their_subject(index, documents, query, label):
    hits = index.search(query, n=3)
    assert [documents[hit.index].label for hit in hits].count(label) >= 2
    assert [hit.id for hit in hits] == [documents[hit.index].id for hit in hits]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_a_word_without_a_vector_is_found_by_itself(model, documents):
    texts = [document.text for document in documents]
    texts[41] += " The xyzzyx was seen again."
    index = DocumentIndex.build(model, texts)
    assert index.search("xyzzyx", n=1)[0].index == 41


def test_a_query_of_unknown_words_finds_nothing(index):
    assert index.search("qqqzzz") == []
    assert index.search("the of and") == []
    assert index.search("") == []


def test_a_whole_document_as_query_finds_itself(index, documents):
    assert index.search(documents[30])[0].index == 30


def test_similar_documents_are_of_the_same_class_mostly_and_never_itself(index, documents):
    n_right = 0
    for row, document in enumerate(documents):
        hits = index.similar(row, n=3)
        assert row not in [hit.index for hit in hits]
        n_right += sum(documents[hit.index].label == document.label for hit in hits)
    assert n_right > 0.8 * 3 * len(documents)


def test_similar_takes_a_place_or_an_id(index, documents):
    assert index.similar(documents[5].id) == index.similar(5)
    with pytest.raises(DataError, match=r"no document is called 'nobody'; .* use search"):
        index.similar("nobody")
    with pytest.raises(DataError, match="between 0 and 95"):
        index.similar(96)


def test_texts_without_names_are_named_by_their_place(model):
    index = DocumentIndex.build(model, (text for text in ["moon and stars", "oven and bread"]))
    assert index.ids == ("0", "1")
    assert index.search("bread", n=5)[0].id == "1"


def test_a_blend_of_words_alone_ranks_by_words_alone(model, documents):
    index = DocumentIndex.build(model, documents, blend=Blend(0, 0, 1))
    scores = index.words.scores({"telescope": 1})
    assert index.search("telescope")[0].score == pytest.approx(float(scores.max()))


def test_any_number_of_workers_gives_the_same_bits(model, documents):
    def build(n_jobs):
        return DocumentIndex.build(
            model.__sklearn_clone__()._of(model.fitted_, {"n_jobs": n_jobs}), documents
        )

    one, two = build(1), build(2)
    assert one.mixtures.tobytes() == two.mixtures.tobytes()
    assert one.directions.tobytes() == two.directions.tobytes()


def test_a_saved_index_gives_the_same_hits(index, model, tmp_path):
    index.save(tmp_path / "a.index")
    again = DocumentIndex.load(tmp_path / "a.index", model)
    assert again.ids == index.ids
    assert again.blend == index.blend
    assert again.search("salt water") == index.search("salt water")
    assert again.similar(7) == index.similar(7)


def test_the_same_index_is_the_same_file(index, tmp_path):
    index.save(tmp_path / "a.index")
    index.save(tmp_path / "b.index")
    assert (tmp_path / "a.index").read_bytes() == (tmp_path / "b.index").read_bytes()


def test_an_index_of_another_model_is_refused(index, documents, vectors, tmp_path):
    index.save(tmp_path / "a.index")
    other = TopicVec(11, vectors, random_state=1).fit(documents)
    with pytest.raises(VocabularyMismatch, match="another model"):
        DocumentIndex.load(tmp_path / "a.index", other)


def test_a_file_that_is_no_index_is_refused(index, model, tmp_path):
    path = tmp_path / "a.index"
    with pytest.raises(DataError, match="no such file"):
        DocumentIndex.load(path, model)
    model.save(path)
    with pytest.raises(FormatError, match="expected a document index"):
        DocumentIndex.load(path, model)
    index.save(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FormatError, match="not a whole document index"):
        DocumentIndex.load(path, model)


def test_a_file_that_lacks_a_part_is_refused(index, model, tmp_path, craft):
    path = tmp_path / "a.index"
    index.save(path)
    craft(path, mixtures=None)
    with pytest.raises(FormatError, match="mixtures"):
        DocumentIndex.load(path, model)


@pytest.mark.parametrize("wrong", ["one text", np.zeros((2, 3))])
def test_what_is_no_list_of_documents_is_refused(model, wrong):
    with pytest.raises(DataError, match="expected a list"):
        DocumentIndex.build(model, wrong)


def test_no_documents_are_refused(model):
    with pytest.raises(DataError, match="corpus is empty"):
        DocumentIndex.build(model, [])


@pytest.mark.parametrize("blend", [Blend(0, 0, 0), Blend(-1, 1, 1)])
def test_a_blend_of_nothing_is_refused(model, blend):
    with pytest.raises(DataError, match="blend"):
        DocumentIndex.build(model, ["moon"], blend=blend)


def test_halves_have_every_other_word_and_together_all():
    counts = csr_array([[1, 0, 2, 3, 4], [0, 0, 0, 0, 0], [5, 0, 0, 0, 0]])
    first, second = halves(counts)
    assert (first + second).toarray().tolist() == counts.toarray().tolist()
    assert first.toarray()[0].tolist() == [1, 0, 0, 3, 0]
    assert first.nnz == 3


@pytest.mark.parametrize("telling", [0, 1, 2])
def test_the_part_that_finds_the_words_of_the_other_half_counts_most(telling):
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 3, 50, 200), np.float32)
    first[telling], second[telling] = second[2], first[2]
    chosen = choose_blend(first, second, np.arange(50))
    assert sum(chosen) == pytest.approx(1, abs=0.01)
    assert int(np.argmax(chosen)) == telling
    assert min(chosen) >= 0.1


def test_parts_that_tell_nothing_count_evenly():
    chosen = choose_blend(*np.ones((2, 3, 5, 40), np.float32), np.arange(5))
    assert chosen == pytest.approx(Blend(), abs=0.01)
    assert choose_blend(*np.ones((2, 3, 0, 4), np.float32), np.arange(0)) == Blend()
    assert choose_blend(*np.ones((2, 3, 1, 1), np.float32), np.arange(1)) == Blend()


def test_the_documents_choose_the_blend_and_it_is_the_same_each_time(index, model, documents):
    again = DocumentIndex.build(model, documents)
    assert again.blend == index.blend
    assert min(index.blend) >= 0.1
    assert index.blend != Blend()


def test_documents_of_one_word_have_no_halves_and_can_be_searched(model):
    index = DocumentIndex.build(model, ["moon", "bread", "violin"])
    assert index.blend == Blend()
    assert index.search("bread", n=1)[0].index == 1


def test_the_chosen_blend_finds_as_many_of_the_class_as_its_best_part(model, documents):
    def right(index):
        found = [(row, hit) for row in range(len(documents)) for hit in index.similar(row, n=5)]
        return sum(documents[row].label == documents[hit.index].label for row, hit in found)

    parts = [Blend(1, 0, 0), Blend(0, 1, 0), Blend(0, 0, 1)]
    alone = [right(DocumentIndex.build(model, documents, blend=part)) for part in parts]
    assert right(DocumentIndex.build(model, documents)) >= 0.98 * max(alone)


def test_reranking_orders_the_best_by_the_work_of_transport(index, documents):
    before = index.search(documents[3], n=len(documents))
    after = index.search(documents[3], n=len(documents), rerank="transport")
    assert sorted(hit.index for hit in before) == sorted(hit.index for hit in after)
    rows = [hit.index for hit in after]
    mixtures = represent(index.model, documents, "proportions", prior=False)
    distances = transport_distance(index.model, mixtures[3], mixtures[rows], keep=8)[0]
    np.testing.assert_allclose(distances, np.sort(distances), atol=1e-5)
    longest = topic_distances(index.model).max()
    np.testing.assert_allclose([h.score for h in after], 1 - distances / longest, atol=1e-5)
    assert rows[0] == 3


def test_reranked_neighbours_are_of_the_same_subject_and_not_itself(index, documents):
    right = [
        documents[hit.index].label == document.label
        for row, document in enumerate(documents)
        for hit in index.similar(row, n=3, rerank="transport")
    ]
    assert np.mean(right) > 0.7
    assert all(hit.index != 5 for hit in index.similar(5, n=200, rerank="transport"))


def test_a_query_without_topics_is_not_reranked(model, documents):
    texts = [document.text for document in documents]
    texts[41] += " The xyzzyx was seen again."
    index = DocumentIndex.build(model, texts)
    assert index.search("xyzzyx", rerank="transport") == index.search("xyzzyx")
    assert index.search("qqqzzz", rerank="transport") == []


def test_an_unknown_way_to_rerank_is_refused(index):
    with pytest.raises(DataError, match="transport"):
        index.search("bread", rerank="words")


def test_a_document_without_words_is_never_reranked_to_the_front(model, documents):
    everything = DocumentIndex.build(model, [*documents, ""])
    query = " ".join(str(documents[0].text).split()[:5])
    hits = everything.search(query, len(everything), rerank="transport")
    assert len(documents) not in [hit.index for hit in hits]
