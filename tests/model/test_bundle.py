import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from safetensors.numpy import load_file
from scipy.sparse import csr_array

from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, FormatError, VocabularyMismatch
from topicvec.model import bundle
from topicvec.model.bundle import load, read, save
from topicvec.model.fitted import FittedTopics
from topicvec.model.reading import read_topics
from topicvec.model.state import Solver
from topicvec.model.topicvec import TopicVec

ARRAYS = ("topics", "residuals", "alpha", "mass", "word_counts", "word_documents", "pseudo")

FINITE = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | st.integers() | FINITE | st.text()


def vectors_of(seed=0, n_words=8):
    rng = np.random.default_rng(seed)
    words = ["ice cream", "größe", "猫", "", "\ud800", *(f"w{i}" for i in range(n_words - 5))]
    metadata = {"source": "nowhere"}
    return WordVectors(words, rng.normal(size=(n_words, 3)), rng.random(n_words) + 0.1, metadata)


def model(vectors=None):
    vectors = vectors or vectors_of()
    rng = np.random.default_rng(1)
    topics = rng.normal(size=(4, 3)).astype(np.float32)
    topics[0] = 0
    table = rng.random((len(vectors), 4)).astype(np.float32)
    table[table < 0.5] = 0
    return replace(
        FittedTopics.bare(vectors, topics, max_norm=7.0),
        mass=rng.random(4),
        word_counts=rng.random(len(vectors)),
        word_mass=csr_array(table),
        word_documents=rng.random(len(vectors)),
        document_mass=csr_array(np.where(table > 0, rng.random(table.shape), 0).astype(np.float32)),
        labels=(None, "Größe", 'quo"te', "\ud800"),
        classes=(None, "a", "a", None),
        representative=((), ((3, 1 / 3), (0, 0.1)), (), ((1, 1e-17),)),
        n_documents=5,
        settings={"solver": "newton", "tol": 1e-4, "bounds": [-9.1, -8.3], "nested": {"a": None}},
    )


def assert_same(a, b):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)
    for one, other in ((a.word_mass, b.word_mass), (a.document_mass, b.document_mass)):
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert one.shape == other.shape
    for name in ("vectors", "labels", "classes", "representative", "max_norm", "n_documents"):
        assert getattr(a, name) == getattr(b, name)
    assert dict(a.vectors.metadata) == dict(b.vectors.metadata)
    assert dict(a.settings) == dict(b.settings)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.topics"


@pytest.mark.parametrize(("classes", "share"), [((None, None), "corpus"), ((None, "a"), "class")])
def test_what_the_first_files_left_open_is_decided_by_their_classes(classes, share):
    vectors = WordVectors(["a", "b"], np.eye(2), [1, 1])
    bare = FittedTopics.bare(vectors, np.eye(2, 2, -1), max_norm=7.0)
    of_old = {"params": {"n_topics": 1, "share": "auto"}}
    assert TopicVec._of(replace(bare, classes=classes, settings=of_old), {}).share == share
    kept = {"params": {"n_topics": 1, "share": "class"}}
    assert TopicVec._of(replace(bare, settings=kept), {}).share == "class"


def test_a_loaded_model_is_the_saved_one_to_the_bit(path):
    save(model(), path)
    assert_same(load(path), model())


def test_a_loaded_model_is_read_only(path):
    save(model(), path)
    assert not load(path).topics.flags.writeable


@run(deadline=None, max_examples=40)
@given(
    topics=arrays_of.arrays(
        np.float32, (3, 3), elements=st.floats(-100, 100, width=32, allow_subnormal=True)
    ),
    mass=arrays_of.arrays(np.float64, 3, elements=st.floats(0, 1e300)),
    labels=st.tuples(*[st.none() | st.text()] * 3),
    max_norm=st.floats(min_value=1e-3, allow_nan=False),
    settings=st.dictionaries(st.text(), st.recursive(LEAVES, st.lists, max_leaves=5)),
)
def test_any_model_survives(tmp_path_factory, topics, mass, labels, max_norm, settings):
    path = tmp_path_factory.mktemp("bundle") / "model"
    topics[0] = 0
    bare = FittedTopics.bare(vectors_of(), topics, max_norm=max_norm)
    saved = replace(bare, mass=mass, labels=labels, settings=settings)
    save(saved, path)
    assert_same(load(path), saved)


def test_what_the_estimator_adds_comes_back(path):
    extra = {"params": {"n_topics": np.int64(4), "alpha": (0.1, 0.2), "vectors": None}}
    arrays = {"theta": np.arange(6.0).reshape(2, 3), "done": np.array(True), "none": np.zeros(0)}
    save(model(), path, extra=extra, arrays=arrays)
    found = read(path)
    assert found.extra == {"params": {"n_topics": 4, "alpha": [0.1, 0.2], "vectors": None}}
    assert set(found.arrays) == set(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array, strict=True)


def test_big_endian_and_strided_arrays_come_back_as_the_same_numbers(path):
    arrays = {"big": np.arange(4, dtype=">i4"), "strided": np.arange(12.0).reshape(3, 4).T}
    save(model(), path, arrays=arrays)
    found = read(path).arrays
    assert found["big"].tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(found["strided"], arrays["strided"])


def test_the_card_tells_versions_settings_and_vectors(path):
    save(model(), path)
    card = read(path).card
    assert {"topicvec", "python", "numpy", "scipy", "safetensors"} == set(card["versions"])
    assert card["settings"]["solver"] == "newton"
    assert card["vectors"]["content_hash"] == vectors_of().content_hash
    assert card["vectors"]["embedded"]


def test_the_same_model_gives_the_same_bytes(path):
    save(model(), path)
    first = path.read_bytes()
    save(model(), path)
    assert path.read_bytes() == first


def test_any_reader_of_safetensors_can_open_the_file(path):
    save(model(), path)
    np.testing.assert_array_equal(load_file(path)["topics"], model().topics)


def test_tensors_are_aligned_to_their_numbers(path):
    save(model(), path, arrays={"byte": np.zeros(3, np.uint8)})
    content = path.read_bytes()
    n_bytes = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + n_bytes])
    width = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "U32": 4, "U8": 1}
    for name, entry in header.items():
        if name != "__metadata__":
            assert (8 + n_bytes + entry["data_offsets"][0]) % width[entry["dtype"]] == 0


@pytest.mark.parametrize("bits", [0xFF, 0x01, 0x29])  # 0x29 turns a blank into a tab
def test_damage_anywhere_is_refused(path, bits):
    save(model(vectors_of(n_words=6)), path)
    whole = path.read_bytes()
    for place in [*range(16), *range(16, len(whole) - 40, 3), *range(len(whole) - 40, len(whole))]:
        damaged = bytearray(whole)
        damaged[place] ^= bits
        path.write_bytes(damaged)
        with pytest.raises(FormatError):
            load(path)


def test_a_shorter_or_longer_file_is_refused(path):
    save(model(), path)
    whole = path.read_bytes()
    for content in (b"", whole[:7], whole[:100], whole[:-1], whole[:-32], whole + b"\0"):
        path.write_bytes(content)
        with pytest.raises(FormatError, match="get or save the file again"):
            load(path)


OLDER = {1: ("topics", "residuals", "alpha", "mass", "word_counts")}
OLDER[2] = (*OLDER[1], "pseudo")


@pytest.mark.parametrize("version", OLDER)
def test_older_files_without_documents_of_words_are_read(path, monkeypatch, version):
    monkeypatch.setattr(bundle, "LAYOUT", bundle.LAYOUT._replace(version=version))
    monkeypatch.setattr(bundle, "_ARRAYS", OLDER[version])
    monkeypatch.setattr(bundle, "_TABLES", ("word_mass",))
    save(model(), path)
    assert not any(name.startswith(("document_mass", "word_doc")) for name in load_file(path))
    monkeypatch.undo()
    found = load(path)
    np.testing.assert_array_equal(found.word_documents, model().word_counts)
    np.testing.assert_array_equal(found.document_mass.toarray(), model().word_mass.toarray())
    assert_same(
        replace(model(), word_documents=found.word_documents, document_mass=found.document_mass),
        found,
    )
    assert len(read_topics(found)) == 4


def test_a_table_of_documents_of_the_wrong_kind_is_refused(path):
    save(replace(model(), word_documents=np.ones(2)), path)
    with pytest.raises(FormatError, match="word_documents: expected shape"):
        load(path)


def test_a_newer_file_is_refused_with_the_way_out(path, monkeypatch):
    newer = bundle.LAYOUT._replace(version=bundle.LAYOUT.version + 1)
    monkeypatch.setattr(bundle, "LAYOUT", newer)
    save(model(), path)
    monkeypatch.undo()
    with pytest.raises(FormatError, match="pip install --upgrade topicvec"):
        load(path)


def test_a_file_of_word_vectors_is_not_a_model(tmp_path):
    path = tmp_path / "v.safetensors"
    WordVectors(["cat"], [[1.0]], [1]).save(path)
    with pytest.raises(FormatError, match="expected a model file"):
        load(path)


def test_a_pickle_is_not_opened(path):
    path.write_bytes(pickle.dumps({"topics": 1}))
    with pytest.raises(FormatError, match="this is no model file: check the name"):
        load(path)


def test_a_whole_file_with_wrong_parts_is_refused(path):
    broken = replace(model(), alpha=np.ones(9))
    save(broken, path)
    with pytest.raises(FormatError, match="alpha: expected shape"):
        load(path)


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_missing_file_or_a_folder_is_said_so(tmp_path, name):
    with pytest.raises(DataError, match="no such file"):
        load(tmp_path / name)


def test_a_failed_save_leaves_the_old_file(path, monkeypatch):
    save(model(), path)
    before = path.read_bytes()
    monkeypatch.setattr("topicvec.files.os.fsync", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(model(), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    "extra",
    [{"f": print}, {"x": float("nan")}, {"x": [float("inf")]}, {"m": {1: 2}}, {"a": np.ones(2)}],
)
def test_what_json_cannot_hold_is_refused_by_name(path, extra):
    with pytest.raises(DataError, match=f"card.extra.{next(iter(extra))}"):
        save(model(), path, extra=extra)
    assert not path.exists()


def test_arrays_of_objects_and_text_are_refused(path):
    for array in (np.array([None]), np.array(["a"])):
        with pytest.raises(DataError, match="only arrays of numbers"):
            save(model(), path, arrays={"x": array})


def test_a_wrong_choice_for_the_vectors_is_refused(path):
    with pytest.raises(DataError, match="embed_vectors"):
        save(model(), path, embed_vectors="yes")


def test_vectors_left_out_can_be_given(path):
    save(model(), path, embed_vectors=False)
    assert_same(load(path, vectors_of()), model())


def test_vectors_left_out_can_be_given_by_their_path(path, tmp_path):
    plain_vectors().save(tmp_path / "v.safetensors")
    saved = model_on(plain_vectors())
    save(saved, path, embed_vectors=False)
    assert_same(load(path, tmp_path / "v.safetensors"), saved)


def test_a_folder_is_not_overwritten(tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        save(model(), tmp_path)


def test_a_file_without_vectors_is_smaller(path):
    big = model(vectors_of(n_words=500))
    save(big, path)
    whole = path.stat().st_size
    save(big, path, embed_vectors=False)
    assert path.stat().st_size < whole - 500 * (3 * 4 + 8)


def test_missing_vectors_are_refused_with_what_to_do(path):
    save(model(), path, embed_vectors=False)
    with pytest.raises(FormatError, match="give them as vectors="):
        load(path)
    save(model(), path, embed_vectors=False, vectors_path="/no/such/v.safetensors")
    with pytest.raises(FormatError, match=r"not at /no/such/v\.safetensors"):
        load(path)


@pytest.mark.parametrize("embed_vectors", [True, False])
def test_other_vectors_are_refused(path, embed_vectors):
    save(model(), path, embed_vectors=embed_vectors)
    with pytest.raises(VocabularyMismatch, match="built on other word vectors"):
        load(path, vectors_of(seed=9))


def plain_vectors(seed=0):
    rng = np.random.default_rng(seed)
    return WordVectors(["cat", "dog", "cow"], rng.normal(size=(3, 3)), [1, 2, 3])


def test_vectors_are_found_where_the_card_says_or_beside_the_model(path, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    plain_vectors().save(kept / "v.safetensors")
    saved = model_on(plain_vectors())
    save(saved, path, embed_vectors=False, vectors_path=kept / "v.safetensors")
    assert_same(load(path), saved)
    (kept / "v.safetensors").rename(tmp_path / "v.safetensors")
    assert_same(load(path), saved)


def model_on(vectors):
    topics = np.eye(3, dtype=np.float32) - np.diag([1, 0, 0]).astype(np.float32)
    return FittedTopics.bare(vectors, topics, max_norm=7.0)


def test_changed_vectors_at_the_place_are_refused(path, tmp_path):
    plain_vectors(seed=1).save(tmp_path / "v.safetensors")
    saved = model_on(plain_vectors())
    save(saved, path, embed_vectors=False, vectors_path=tmp_path / "v.safetensors")
    with pytest.raises(VocabularyMismatch):
        load(path)


def test_a_place_with_a_pickle_is_never_opened(path, tmp_path):
    class Boom:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was opened",))

    (tmp_path / "v.kv").write_bytes(pickle.dumps(Boom()))
    save(model(), path, embed_vectors=False, vectors_path=tmp_path / "v.kv")
    with pytest.raises(FormatError):
        load(path)


@pytest.fixture
def default_vectors(monkeypatch):
    def load_vectors(source=None, *, max_words=None, **options):
        assert source is None
        return vectors_of() if max_words is None else vectors_of().subset(["ice cream"])

    monkeypatch.setattr(bundle, "load_vectors", load_vectors)


@pytest.mark.usefixtures("default_vectors")
def test_default_vectors_are_referenced_and_others_embedded(path):
    save(model(), path)
    assert not read(path).card["vectors"]["embedded"]
    assert_same(load(path), model())
    save(model(vectors_of(seed=4)), path)
    assert read(path).card["vectors"]["embedded"]


@pytest.mark.usefixtures("default_vectors")
def test_default_vectors_are_embedded_on_request(path):
    save(model(), path, embed_vectors=True)
    assert read(path).card["vectors"]["embedded"]


@pytest.mark.usefixtures("default_vectors")
def test_a_model_on_default_vectors_of_another_release_is_refused(path, monkeypatch):
    save(model(), path)
    monkeypatch.setattr(bundle, "load_vectors", lambda: vectors_of(seed=7))
    with pytest.raises(VocabularyMismatch):
        load(path)


def test_a_solver_of_the_users_own_is_saved(tmp_path):
    vectors = WordVectors(["cat", "dog", "car"], np.eye(3), [1, 1, 1])
    solver = Solver(max_passes=9, n_normalizer_words=2)
    fitted = TopicVec(1, vectors, solver=solver, random_state=0).fit(["cat dog", "car"])
    fitted.save(tmp_path / "model.topicvec")
    assert TopicVec.load(tmp_path / "model.topicvec").solver == solver
