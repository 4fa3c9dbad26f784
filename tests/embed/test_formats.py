"""Every format gives back what was written, to the bit."""

import bz2
import gzip
import hashlib
import json
import lzma
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from topicvec.embed import WordVectors, ZipfWarning, load_vectors
from topicvec.embed.formats import detect_format
from topicvec.embed.formats import text as text_format
from topicvec.embed.formats.tensors import dequantize, quantize
from topicvec.errors import FormatError
from topicvec.stored import TENSOR_TYPES, write_tensors

ANY_WORD = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SOLID_WORD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c"),
    min_size=1,
    max_size=8,
)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def word_vectors(draw, word):
    words = draw(st.lists(word, min_size=1, max_size=6, unique=True))
    matrix = draw(arrays(np.float32, (len(words), draw(st.integers(1, 4))), elements=FLOATS))
    counts = draw(arrays(np.float64, len(words), elements=st.floats(1e-3, 1e3)))
    return WordVectors(words, matrix, counts, draw(st.dictionaries(ANY_WORD, ANY_WORD, max_size=2)))


def load_quietly(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ZipfWarning)
        return load_vectors(path, **options)


def round_trip(vectors, name, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        vectors.save(path, **options)
        assert [file.name for file in Path(folder).iterdir()] == [name]
        return load_quietly(path, format=options.get("format"), trust_pickle=name.endswith(".kv"))


def assert_same_numbers(found, expected):
    assert found.words == expected.words
    assert found.matrix.tobytes() == expected.matrix.tobytes()


def is_free_of_reserved_keys(vectors):
    return not {"format", "version"} & set(vectors.metadata)


@settings(deadline=None)
@given(word_vectors(ANY_WORD).filter(is_free_of_reserved_keys))
def test_safetensors_give_back_everything(vectors):
    found = round_trip(vectors, "v.safetensors")
    assert_same_numbers(found, vectors)
    assert found == vectors
    assert found.metadata == vectors.metadata


@pytest.mark.parametrize("name", ["v.txt", "v.vec", "v.txt.gz", "v.vec.xz", "v.txt.bz2"])
@settings(max_examples=40, deadline=None)
@given(vectors=word_vectors(SOLID_WORD))
def test_text_with_a_header_gives_back_words_and_numbers(name, vectors):
    assert_same_numbers(round_trip(vectors, name), vectors)


@settings(deadline=None)
@given(word_vectors(SOLID_WORD))
def test_glove_text_gives_back_words_and_numbers(vectors):
    assert_same_numbers(round_trip(vectors, "v.txt", format="glove"), vectors)


@pytest.mark.parametrize("name", ["v.bin", "v.bin.gz"])
@settings(max_examples=60, deadline=None)
@given(vectors=word_vectors(SOLID_WORD))
def test_word2vec_binary_gives_back_words_and_numbers(name, vectors):
    assert_same_numbers(round_trip(vectors, name, format="word2vec-binary"), vectors)


@settings(max_examples=20, deadline=None)
@given(vectors=word_vectors(ANY_WORD))
def test_gensim_files_give_back_words_numbers_and_nearly_the_probabilities(vectors):
    pytest.importorskip("gensim")
    found = round_trip(vectors, "v.kv")
    assert_same_numbers(found, vectors)
    np.testing.assert_allclose(found.unigram, vectors.unigram, atol=1e-11)


@settings(deadline=None)
@given(word_vectors(ANY_WORD).filter(is_free_of_reserved_keys))
def test_eight_bit_files_give_back_the_quantized_numbers(vectors):
    limited = WordVectors(
        vectors.words, np.clip(vectors.matrix, -1e30, 1e30), vectors.unigram, vectors.metadata
    )
    found = round_trip(limited, "v.safetensors", quantized=True)
    assert found.words == vectors.words
    assert (found.matrix == dequantize(quantize(limited.matrix))).all()
    np.testing.assert_allclose(found.unigram, vectors.unigram, rtol=1e-6)


def make(n_words=50, n_dims=7):
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(n_words)]
    return WordVectors(words, rng.normal(size=(n_words, n_dims)), rng.random(n_words) + 0.01)


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        ("safetensors", "safetensors"),
        ("word2vec", "word2vec"),
        ("fasttext", "word2vec"),
        ("glove", "glove"),
        ("word2vec-binary", "word2vec-binary"),
    ],
)
def test_a_format_is_told_from_the_content_whatever_the_name(tmp_path, format, expected):
    path = tmp_path / "vectors.dat"
    make().save(path, format=format)
    assert detect_format(path) == expected
    assert_same_numbers(load_quietly(path), make())


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("format", ["word2vec", "glove", "word2vec-binary"])
def test_compression_is_told_from_the_content_whatever_the_name(tmp_path, compress, format):
    path = tmp_path / "vectors.dat"
    make().save(path, format=format)
    path.write_bytes(compress(path.read_bytes()))
    assert_same_numbers(load_quietly(path), make())


def test_the_same_vectors_give_the_same_bytes(tmp_path):
    vectors = make().with_metadata(**{f"key{i}": "x" for i in range(20)})
    for name in ("v.safetensors", "v.txt.gz"):
        vectors.save(tmp_path / f"a{name}")
        vectors.save(tmp_path / f"b{name}")
        assert (tmp_path / f"a{name}").read_bytes() == (tmp_path / f"b{name}").read_bytes()


def test_safetensors_themselves_can_read_the_file(tmp_path):
    from safetensors.numpy import load_file

    make().save(tmp_path / "v.safetensors")
    tensors = load_file(tmp_path / "v.safetensors")
    assert set(tensors) == {"matrix", "unigram", "words", "word_lengths", "checksum"}
    assert (tensors["matrix"] == make().matrix).all()


def test_a_memory_map_is_a_read_only_window_on_the_file(tmp_path):
    make().save(tmp_path / "v.safetensors")
    vectors = load_vectors(tmp_path / "v.safetensors", mmap=True)
    assert isinstance(vectors.matrix, np.memmap)
    assert not vectors.matrix.flags.writeable
    assert vectors.matrix.offset % 4 == 0
    assert vectors == make()
    assert vectors.nearest("w3") == make().nearest("w3")


@pytest.mark.parametrize("name", ["v.safetensors", "v.txt", "v.bin", "v.kv"])
@pytest.mark.parametrize("n", [1, 3, 50, 99])
def test_only_the_first_words_can_be_loaded(tmp_path, name, n):
    if name == "v.kv":
        pytest.importorskip("gensim")
    make().save(tmp_path / name)
    found = load_quietly(tmp_path / name, max_words=n, trust_pickle=name == "v.kv")
    assert found.words == make().words[:n]
    assert (found.matrix == make().matrix[:n]).all()


@pytest.mark.parametrize("mode", ["eight bits", "mmap"])
def test_only_the_first_words_of_other_layouts_can_be_loaded(tmp_path, mode):
    make().save(tmp_path / "v.safetensors", quantized=mode == "eight bits")
    found = load_vectors(tmp_path / "v.safetensors", max_words=3, mmap=mode == "mmap")
    assert found.words == make().words[:3]
    assert (found.matrix == load_vectors(tmp_path / "v.safetensors").matrix[:3]).all()


def test_a_step_makes_an_eight_bit_file(tmp_path):
    make().save(tmp_path / "v.safetensors", step=0.25)
    assert not (load_vectors(tmp_path / "v.safetensors").matrix % 0.25).any()


def test_gensims_own_binary_and_text_files_are_read(tmp_path):
    pytest.importorskip("gensim")
    keyed = make().to_gensim()
    for binary in (True, False):
        path = tmp_path / "vectors"
        keyed.save_word2vec_format(str(path), binary=binary)
        found = load_quietly(path).subset(make().words)  # gensim sorts by count
        assert_same_numbers(found, make())


def test_a_gensim_model_is_read_with_its_counts(tmp_path):
    models = pytest.importorskip("gensim.models")
    model = models.Word2Vec([["cat", "sat"], ["cat", "cat"]], vector_size=4, min_count=1)
    model.save(str(tmp_path / "w2v.model"))
    found = load_vectors(tmp_path / "w2v.model", trust_pickle=True)
    assert found["cat"].tolist() == model.wv["cat"].tolist()
    assert found.unigram.tolist() == [0.75, 0.25]


def test_words_with_spaces_are_read_from_the_right(tmp_path):
    (tmp_path / "v.txt").write_text("at 7 p.m. 1 2\n. . . 3 4\ncat\t5\t6\ndog  7  8 \r\n\n\n")
    vectors = load_quietly(tmp_path / "v.txt")
    assert vectors.words == ("at 7 p.m.", ". . .", "cat", "dog")
    assert vectors.matrix.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_a_byte_order_mark_before_a_header_is_skipped(tmp_path):
    (tmp_path / "v.txt").write_bytes(b"\xef\xbb\xbf1 2\ncat 1 2\n")
    assert load_quietly(tmp_path / "v.txt").words == ("cat",)


def test_another_encoding_can_be_given(tmp_path):
    (tmp_path / "v.txt").write_bytes(b"1 1\ncaf\xe9 1\n")
    assert load_quietly(tmp_path / "v.txt", encoding="latin-1").words == ("café",)


def test_the_one_number_that_double_rounding_would_change_comes_back(tmp_path):
    number = np.array([0x15AE43FD], np.uint32).view(np.float32)
    assert np.float32(float(str(number[0]))) != number[0]
    vectors = WordVectors(["cat"], [[number[0], -number[0]]], [1])
    assert_same_numbers(round_trip(vectors, "v.txt"), vectors)


def test_text_is_read_in_blocks_of_any_size(tmp_path, monkeypatch):
    monkeypatch.setattr(text_format, "BLOCK_BYTES", 200)
    for format in ("word2vec", "glove"):
        make(400).save(tmp_path / "v.txt", format=format)
        assert_same_numbers(load_quietly(tmp_path / "v.txt"), make(400))


def test_binary_is_read_in_blocks_of_any_size(tmp_path, monkeypatch):
    monkeypatch.setattr("topicvec.embed.formats.binary.BLOCK_BYTES", 50)
    assert_same_numbers(round_trip(make(400), "v.bin"), make(400))


NUMBER_TEXT = st.one_of(
    FLOATS.map(lambda x: str(np.float32(x))),
    st.floats().map(repr),
    st.integers().map(str),
    st.from_regex(r"[-+]?[0-9]{0,20}\.?[0-9]{0,20}([eE][-+]?[0-9]{0,3})?", fullmatch=True),
    st.text("0123456789.eE+-_naif", max_size=6),
)


def python_reads(field):
    try:
        return np.float64(field) if "_" not in field else None
    except ValueError:
        return None


@settings(deadline=None, max_examples=400)
@given(st.lists(NUMBER_TEXT.filter(str.strip), min_size=1, max_size=5))
def test_numbers_in_text_are_read_as_python_reads_them_or_refused(fields):
    line, numbers = " ".join(fields).encode(), [python_reads(field) for field in fields]
    if None in numbers:
        with pytest.raises(FormatError, match="line 7: expected a word and"):
            text_format._numbers(Path("x"), 7, [line], len(fields))
        return
    with np.errstate(over="ignore"):
        expected = np.array([numbers, numbers]).astype(np.float32)
    found = text_format._numbers(Path("x"), 7, [line, line], len(fields))
    assert np.array_equal(expected, found, equal_nan=True)
    assert (np.signbit(expected) == np.signbit(found)).all()


@pytest.mark.parametrize("line", [b"1\r 2", b"1\x0c 2", b"\x0b1 2"])
def test_white_space_around_a_number_is_none_of_it(line):
    assert text_format._numbers(Path("x"), 1, [line], 2).tolist() == [[1, 2]]


def test_tensors_of_any_type_come_back_with_the_checksum_of_all_before(tmp_path):
    from safetensors.numpy import load_file

    path, rng = tmp_path / "any.safetensors", np.random.default_rng(0)
    tensors = {name: rng.integers(0, 2, (3, 2)).astype(name) for name in TENSOR_TYPES}
    tensors |= {"turned": tensors["<f8"].T, "big": tensors["<f4"].astype(">f4")}
    tensors |= {"number": np.array(0.5), "none": np.empty((0, 2), np.int8)}
    write_tensors(path, tensors, {"b": "é", "a": "2"})
    found = load_file(path)
    content = path.read_bytes()
    assert found.pop("checksum").tobytes() == hashlib.sha256(content[:-32]).digest()
    for name, array in tensors.items():
        assert found[name].shape == array.shape
        assert (found[name] == array).all()
    write_tensors(path, tensors, {"b": "é", "a": "2"})
    assert path.read_bytes() == content


def test_the_header_is_json_with_our_format_and_version(tmp_path):
    make().with_metadata(by="me").save(tmp_path / "v.safetensors")
    data = (tmp_path / "v.safetensors").read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    expected = {"format": "topicvec-vectors", "version": "1", "by": "me"}
    assert header["__metadata__"] == expected
