"""Files made to harm: whole, with the right checksum, and wrong inside."""

import json

import numpy as np
import pytest
from safetensors import safe_open

from topicvec import DocumentIndex, TopicClassifier, TopicVec, WordVectors, load_vectors
from topicvec.embed.cooccurrence import Cooccurrence, WindowSettings
from topicvec.embed.counting import count_corpus
from topicvec.errors import DataError, FormatError
from topicvec.model import bundle

TEXTS = ["cat dog cat", "bus car bus", "dog cat", "car car bus"] * 10
CLASSES = ["pet", "road"] * 20


def _most(array):
    return min(2**30, np.iinfo(array.dtype).max)


# What can be done to any array of numbers; the first crashed the process where it was an index.
DAMAGES = {
    "far beyond": lambda a: np.full_like(a, np.inf if a.dtype.kind == "f" else _most(a)),
    "negative": lambda a: -np.ones_like(a) - np.abs(a) if a.dtype.kind in "if" else None,
    "too short": lambda a: a[:-1] if a.ndim else a.reshape(1),
    "too long": lambda a: np.concatenate([a, a]) if a.ndim else None,
    "in a column": lambda a: a.reshape(-1, 1) if a.ndim == 1 else a.reshape(-1),
    "of another kind": lambda a: np.zeros(a.shape, np.float32 if a.dtype.kind in "iu" else "i4"),
    "missing": lambda _: None,
    "not a number": lambda a: np.full_like(a, np.nan) if a.dtype.kind == "f" else None,
}
# What is right: numbers of either sign, and infinite pseudo-tokens, as in the paper's model.
SIGNS = {(name, "negative") for name in ("residuals", "vectors.matrix")}
SIGNS |= {("pseudo", "far beyond")}


@pytest.fixture(scope="module")
def vectors():
    return WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]] + 0.01, [1, 1, 1, 1])


@pytest.fixture(scope="module")
def model(vectors):
    return TopicVec(2, vectors, random_state=0).fit(TEXTS)


def arrays_of(path):
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys() if name != "checksum"}  # noqa: SIM118


def refused(path, craft, load, allowed=()):
    """Try all damages on all arrays; give those that were accepted."""
    whole, accepted = path.read_bytes(), []
    for name, array in arrays_of(path).items():
        for damage, edit in DAMAGES.items():
            changed = edit(array)
            same = changed is not None and np.array_equal(changed, array) and changed.size == 0
            if same or (changed is None and damage != "missing") or (name, damage) in allowed:
                continue
            path.write_bytes(whole)
            craft(path, **{name.replace(".", "__"): lambda _, new=changed: new})
            try:
                load(path)
                accepted.append((name, damage))
            except (FormatError, DataError):
                pass
    path.write_bytes(whole)
    load(path)
    return accepted


def test_a_model_with_indices_out_of_range_is_refused_before_it_crashes(model, tmp_path, craft):
    path = tmp_path / "m.topicvec"
    model.save(path)
    craft(path, word_mass__indices=lambda a: np.full_like(a, 2**30))
    with pytest.raises(FormatError, match=r"word_mass\.indices: expected numbers of at most 2"):
        TopicVec.load(path)


def test_arrays_of_half_precision_are_read_as_single(model, tmp_path, craft):
    path = tmp_path / "m.topicvec"
    model.save(path)
    halves = {
        name.replace(".", "__"): lambda a: a.astype(np.float16)
        for name, array in arrays_of(path).items()
        if array.dtype.kind == "f" and np.abs(array).max(initial=0) < 1000
    }
    assert {"topics", "word_mass__data"} <= set(halves)
    craft(path, **halves)
    loaded = TopicVec.load(path)
    assert loaded.fitted_.topics.dtype == np.float32
    assert np.allclose(loaded.transform(TEXTS), model.transform(TEXTS), atol=0.02)
    loaded.partial_fit(TEXTS)


def test_stop_words_of_a_file_are_saved_with_the_model(vectors, tmp_path):
    words, path = tmp_path / "stop.txt", tmp_path / "m.topicvec"
    words.write_text("cat\n")
    TopicVec(1, vectors, stop_words=words, random_state=0).fit(TEXTS).save(path)
    words.unlink()
    assert TopicVec.load(path).stop_words == ["cat"]


def test_no_damage_to_an_array_of_a_model_is_accepted(model, tmp_path, craft):
    path = tmp_path / "m.topicvec"
    model.save(path)
    assert not refused(path, craft, TopicVec.load, SIGNS)


def test_no_damage_to_a_classifier_is_accepted(vectors, tmp_path, craft):
    path = tmp_path / "c.topicvec"
    TopicClassifier(TopicVec(1, vectors, random_state=0)).fit(TEXTS, CLASSES).save(path)
    either = {("extra.coef", "negative"), ("extra.intercept", "negative")}
    assert not refused(path, craft, TopicClassifier.load, SIGNS | either)


def test_no_damage_to_an_index_is_accepted(model, tmp_path, craft):
    path = tmp_path / "i.index"
    DocumentIndex.build(model, TEXTS).save(path)
    signs = {(name, "negative") for name in ("mixtures", "points", "directions", "common")}
    kinds = {("counts.data", "of another kind"), ("counts.data", "far beyond")}  # or weights
    assert not refused(path, craft, lambda p: DocumentIndex.load(p, model), signs | kinds)


def test_no_damage_to_counts_is_accepted(tmp_path, craft):
    path = tmp_path / "counts.safetensors"
    count_corpus(TEXTS, WindowSettings(2)).save(path)
    assert not refused(path, craft, Cooccurrence.load)


def test_no_damage_to_vectors_is_accepted(vectors, tmp_path, craft):
    path = tmp_path / "v.safetensors"
    vectors.save(path)
    assert not refused(path, craft, load_vectors, {("matrix", "negative")})


def test_no_damage_to_a_checkpoint_is_accepted(vectors, tmp_path, craft):
    path = tmp_path / "c.checkpoint"
    fresh = TopicVec(2, vectors, random_state=0, max_iter=12)
    fresh.fit(TEXTS, checkpoint=path)
    # before its first iteration a state has a bound of minus infinity
    signs = {("0.bound", "far beyond"), ("0.iteration", "far beyond")}
    signs |= {
        (f"0.{n}", "negative") for n in ("topics", "residuals", "curvature", "bound", "bounds")
    }
    signs |= {("0.pseudo", "far beyond"), ("0.bounds", "too long"), ("0.bounds", "too short")}
    load = lambda p: fresh.__sklearn_clone__().fit(TEXTS, checkpoint=p)  # noqa: E731
    assert not refused(path, craft, load, signs)


@pytest.mark.parametrize(
    "change",
    [
        {"n_topics": 10**6},
        {"n_topics": "3"},
        {"n_topics": True},
        {"labels": [None]},
        {"labels": [1, 2, 3]},
        {"classes": "abc"},
        {"representative": [[], [[10**400, 0.5]], []]},
        {"representative": [[], [[0, 1e400]], []]},
        {"n_documents": -1},
        {"max_norm": "nan"},
        {"max_norm": -1},
        {"settings": []},
        {"settings": {"n_iter": "many"}},
        {"settings": {"params": {"max_iter": [1]}}},
        {"settings": {"params": {"solver": {"__class__": "os"}}}},
        {"settings": {"params": {"vectors": "/tmp/stranger.kv"}}},
        {"vectors": {}},
        {"vectors": None},
        {"extra": json.loads("[" * 400 + "]" * 400)},
    ],
)
def test_a_card_that_says_what_cannot_be_is_refused(model, tmp_path, craft, change):
    path = tmp_path / "m.topicvec"
    model.save(path)
    card = {**bundle.read(path).card, **change}
    craft(path, metadata={"card": json.dumps(card)})
    with pytest.raises(FormatError):
        TopicVec.load(path)


@pytest.mark.parametrize("card", ["[]", "1", "null", "[" * 100_000, "9" * 5_000, "{", '{"a": NaN}'])
def test_a_card_that_is_no_object_is_refused(model, tmp_path, craft, card):
    path = tmp_path / "m.topicvec"
    model.save(path)
    craft(path, metadata={"card": card})
    with pytest.raises(FormatError, match="card: expected"):
        TopicVec.load(path)
    index = tmp_path / "i.index"
    DocumentIndex.build(model, TEXTS).save(index)
    craft(index, metadata={"card": card})
    with pytest.raises(FormatError, match="card: expected"):
        DocumentIndex.load(index, model)


def test_vectors_on_another_computer_are_not_asked_for(model, tmp_path, craft):
    path = tmp_path / "m.topicvec"
    model.save(path, embed_vectors=False, vectors_path="/there/v.safetensors")
    for place in (r"\\stranger\share\v.safetensors", "//stranger/share/v.safetensors"):
        card = dict(bundle.read(path, model.vectors_).card)
        card["vectors"] = {**card["vectors"], "path": place}
        craft(path, metadata={"card": json.dumps(card)})
        with pytest.raises(FormatError, match="on another computer"):
            TopicVec.load(path)


def test_a_file_that_a_model_names_as_stop_words_is_not_read(model, tmp_path, craft):
    path, secret = tmp_path / "m.topicvec", tmp_path / "secret.txt"
    secret.write_text("cat\n")
    model.save(path)
    card = json.loads(json.dumps(dict(bundle.read(path).card)))
    card["settings"]["params"]["stop_words"] = str(secret)
    craft(path, metadata={"card": json.dumps(card)})
    with pytest.raises(FormatError, match="give them again"):
        TopicVec.load(path)
    assert TopicVec.load(path, stop_words=None).transform(["cat dog"]).shape == (1, 3)


@pytest.mark.parametrize("kind", ["model", "index", "vectors", "counts"])
def test_every_changed_byte_is_found(model, vectors, tmp_path, kind):
    path = tmp_path / kind
    load = {
        "model": TopicVec.load,
        "index": lambda p: DocumentIndex.load(p, model),
        "vectors": lambda p: load_vectors(p, format="safetensors"),
        "counts": Cooccurrence.load,
    }[kind]
    if kind == "model":
        model.save(path)
    elif kind == "index":
        DocumentIndex.build(model, TEXTS[:4]).save(path)
    elif kind == "vectors":
        vectors.save(path, format="safetensors")
    else:
        count_corpus(TEXTS[:4], WindowSettings(2)).save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0x29
        path.write_bytes(damaged)
        with pytest.raises(FormatError):
            load(path)
