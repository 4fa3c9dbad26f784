"""Each bad vector file gets one clear message, and nothing is half-written."""

import gzip
import json
import pickle
import re
import struct
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import save_file

from topicvec.embed import WordVectors, load_vectors
from topicvec.errors import DataError, FormatError, MissingExtra


@pytest.fixture
def refused(tmp_path):
    """Write content to a file, and expect load_vectors to refuse it with a message."""

    def check(content, message, error=FormatError, name="v.dat", **options):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(error, match=message) as caught:
            load_vectors(path, **options)
        assert str(path) in str(caught.value)

    return check


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"3 2\n", "promises 3 words, found 0"),
        (b"2 2\ncat 1 2\ndog 1\n", "line 3: expected a word and 2 numbers, found 2 fields"),
        (b"cat 1 2\ndog 1\ncow 1 2\n", "line 2: expected a word and 2 numbers, found 2 fields"),
        (b"cat 1\ndog 1 2\ncow 1 2\n", "line 1: expected a word and 2 numbers, found 2 fields"),
        (b"2 2\ncat 1 2\n\ndog 3 4\n", "line 3: expected a word and 2 numbers, found 0 fields"),
        (b"2 2\ncat 1 2\n 1 2\n", "line 3: expected a word and 2 numbers, found 2 fields"),
        (b"2 3\ncat 1 2 3\ndog 1  2\n", "line 3: expected a word and 3 numbers, found 2 numbers"),
        (b"2 2\ncat 1 2\ncat 3 4\n", "line 3: the word 'cat' stands already at line 2"),
        (b"cat 1 2\ndog 3 4\ncat 5 6\n", "line 3: the word 'cat' stands already at line 1"),
        (b"2 2\ncat 1 2\ndog nan 4\n", "line 3: expected finite numbers"),
        (b"2 2\ncat 1 2\ndog 1 -inf\n", "line 3: expected finite numbers"),
        (b"2 2\ncat 1 2\ndog 1 1e39\n", "line 3: expected finite numbers"),
        (b"2 2\ncat 1 2\ndog 1 x\n", "line 3: expected a word and 2 numbers, found 'x'"),
        (b"2 2\ncat 1 2\ndog 1 1_0\n", "line 3: expected a word and 2 numbers, found '1_0'"),
        (b"2 2\ncat 1 2\ndog 1 2 3\n", "line 3: expected a word and 2 numbers, found 3 numbers"),
        (b"2 3\ncat 1 2\ndog 1 2\n", "line 2: expected a word and 3 numbers, found 3 fields"),
        (b"cat 1 2\ncow 1 2\ndog 1 2 3\n", "line 3: .* 2 numbers, found 3 numbers"),
        (b"3 2\ncat 1 2\ndog 3 4\n", "promises 3 words, found 2"),
        (b"1 2\ncat 1 2\ndog 3 4\n", "promises 1 words, found 2"),
        (b"0 2\n", "promises 0 words of 2 dimensions"),
        (b"2 0\ncat\ndog\n", "promises 2 words of 0 dimensions"),
        (
            b"2 2\ncat 1 2\ncaf\xe9 3 4\n",
            "line 3: byte 0xe9 .* is not utf-8: .*encoding= .--encoding",
        ),
        (b"\xff\xfe\x00\x00 some other file", "expected word vectors .* found a file that starts"),
        (b"Once upon a time\nthere was a cat.\n", "expected word vectors"),
        (struct.pack("<ii", 793712314, 12) + b"\0" * 50, "a fastText model"),
    ],
)
def test_a_bad_text_file_is_refused_with_file_and_line(refused, content, message):
    refused(content, message)


def test_a_file_of_no_vectors_is_refused_when_its_format_is_forced(refused):
    refused(b"Once upon a time\n", "expected lines of a word and its numbers", format="glove")
    refused(b"cat 1 2\n", 'expected a first line "words dims"', format="word2vec-binary")


def record(word, *numbers, end=b"\n"):
    return word + b" " + struct.pack(f"<{len(numbers)}f", *numbers) + end


GOOD = b"2 2\n" + record(b"cat", 1, 2) + record(b"dog", 3, 4)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD[:-10], "promises 2 words of 2 dimensions, found 1 whole ones: the file is cut off"),
        (GOOD[:12], "at least 20 bytes, found 12"),
        (GOOD.replace(b"dog", b"cat"), "word 2: the word 'cat' stands already at word 1"),
        (b"2 2\n" + record(b"cat", 1, 2) + record(b"dog", 3, np.nan), "word 2: .*finite"),
        (b"2 2\n" + record(b"cat", 1, 2) + record(b"d\xe9g", 3, 4), "word 2: byte 0xe9"),
        (b"1" + GOOD[1:], "found more behind them"),
        (b"2 3" + GOOD[3:], "promises 2 words of 3 dimensions"),
        (b"900000000000 500" + GOOD[3:], "promises 900000000000 words"),
        (b"2 900000" + GOOD[3:], "1 to 65536 dimensions"),
        (b"1 2\ncat " + b"\x80" * 6, "at least 10 bytes|cut off"),
        (b"1 2\n" + b"\x80" * 70_000, "expected a space after the word"),
    ],
)
def test_a_bad_binary_file_is_refused_with_file_and_word(refused, content, message):
    refused(content, message, format="word2vec-binary")


@pytest.mark.parametrize("content", [GOOD[:-10], b"9" + GOOD[1:], b"9999999999 300" + GOOD[3:]])
def test_a_bad_binary_file_is_refused_when_its_format_is_detected(refused, content):
    refused(content, "promises")


@pytest.mark.parametrize("content", [b"5000000 300\ncat" + b" 1" * 300 + b"\n", GOOD])
def test_a_lying_header_costs_no_memory(refused, content):
    lying = re.sub(rb"^\d+ \d+", b"50000000 300", content)
    tracemalloc.start()
    refused(lying, "promises 50000000 words")
    refused(gzip.compress(lying), "promises 50000000 words")
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def test_a_cut_compressed_file_is_refused(refused):
    whole = gzip.compress(b"2 2\ncat 1 2\ndog 3 4\n")
    refused(whole[:-9], "cannot be read to its end")
    refused(whole[:20] + b"\0\0\0\0" + whole[24:], "cannot be read to its end")


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"no such file: .*v\.txt"):
        load_vectors(tmp_path / "v.txt")
    with pytest.raises(DataError, match="is a folder"):
        load_vectors(tmp_path)


@pytest.mark.parametrize("format", ["safetensors", "word2vec", "word2vec-binary", "gensim"])
def test_a_missing_file_is_refused_also_when_its_format_is_forced(tmp_path, format):
    with pytest.raises(DataError, match="no such file: "):
        load_vectors(tmp_path / "v.kv", format=format)


@pytest.mark.parametrize("encoding", ["utf-88", "rot13", "a\0b"])
def test_an_unknown_encoding_is_refused_with_some_that_exist(tmp_path, encoding):
    (tmp_path / "v.txt").write_text("cat 1 2\n")
    with pytest.raises(DataError, match=r"no encoding is called .*try utf-8, cp1252 or latin-1"):
        load_vectors(tmp_path / "v.txt", encoding=encoding)


@pytest.mark.parametrize("max_words", [0, -1, 1.5])
def test_fewer_words_than_one_are_refused_for_any_source(tmp_path, max_words):
    (tmp_path / "v.txt").write_text("cat 1 2\n")
    loaded = WordVectors(["cat", "dog"], [[1], [2]], [1, 1])
    for source in (tmp_path / "v.txt", loaded, None):
        with pytest.raises(DataError, match="max_words must be at least 1 and whole"):
            load_vectors(source, max_words=max_words)


def test_a_step_for_each_dimension_is_refused(tmp_path):
    path = tmp_path / "v.safetensors"
    tensors = {
        "unigram": np.ones(2, np.float32),
        "step": np.array([0.5, 2], np.float32),
        "word_lengths": np.ones(2, np.uint32),
        "words": np.frombuffer(b"ab", np.uint8),
        "codes": np.array([[1, 2], [3, -4]], np.int8),
    }
    save_file(tensors, path, {"format": "topicvec-vectors", "version": "1"})
    with pytest.raises(FormatError, match=r"tensor step: expected F32 \(\), found .*\(2,\)"):
        load_vectors(path)


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"one of safetensors, .*found 'excel'"):
        load_vectors(tmp_path / "v.txt", format="excel")


@pytest.fixture
def tensors(tmp_path, signed):
    """The bytes of a good file, and a way to change its header."""
    WordVectors(["cat", "dög"], [[1, 2], [3, 4]], [3, 1]).save(tmp_path / "good.safetensors")
    data = (tmp_path / "good.safetensors").read_bytes()
    n_bytes = int.from_bytes(data[:8], "little")

    def change(edit):
        header = json.loads(data[8 : 8 + n_bytes])
        edit(header)
        text = json.dumps(header).encode()
        return signed(len(text).to_bytes(8, "little") + text + data[8 + n_bytes :])

    return data, change


def test_a_damaged_safetensors_file_is_refused(refused, tensors):
    data, _ = tensors
    refused(data[:-1], "not a whole file of word vectors")
    refused(data[:50], "not a whole file of word vectors")
    refused(data + b"\0", "not a whole file of word vectors")
    refused(data[:9] + b"!" + data[10:], "not a whole file of word vectors")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda h: h["__metadata__"].update(version="2"), "version '2', but .* reads up to 1"),
        (lambda h: h["__metadata__"].update(version="new"), "version 'new'"),
        (
            lambda h: h["__metadata__"].update(format="pt"),
            "expected .*found 'pt'",
        ),
        (lambda h: h.pop("__metadata__"), "found None: get or write"),
        (lambda h: h.update(other=h.pop("matrix")), "a tensor 'other' that no vector file has"),
        (lambda h: h.update(other=h.pop("unigram")), "a tensor 'other' that no"),
        (
            lambda h: h.update(other=h.pop("words")),
            "a tensor 'other' that no",
        ),
        (lambda h: h["matrix"].update(shape=[4]), "expected"),
        (lambda h: h["matrix"].update(shape=[1, 4]), r"tensor unigram: .*\(1,\)"),
        (lambda h: h["matrix"].update(dtype="I32"), "tensor matrix: expected F32"),
        (lambda h: h["words"].update(shape=[1, 7]), "tensor words"),
        (lambda h: h.update(codes=h.pop("matrix")), "tensor codes: expected I8"),
    ],
)
def test_safetensors_of_another_layout_are_refused(refused, tensors, edit, message):
    refused(tensors[1](edit), message)


def test_a_changed_byte_of_a_vector_file_is_refused(refused, tensors):
    data, _ = tensors
    refused(data.replace(struct.pack("<f", 3), struct.pack("<f", 4)), "its checksum is wrong")


def test_safetensors_with_damaged_contents_are_refused(refused, tensors, signed):
    data, _ = tensors
    refused(signed(data.replace("dög".encode(), b"d\xff\xffg")), "words: expected text in UTF-8")
    lengths = struct.pack("<II", 3, 4)
    refused(signed(data.replace(lengths, struct.pack("<II", 3, 5))), "expected 8 bytes.*found 7")
    nan = data.replace(struct.pack("<f", 3), struct.pack("<f", np.nan))
    refused(signed(nan), "nan or infinity in the vector of 'dög'")


@pytest.mark.parametrize("name", ["v.dat", "v.kv", "v.model", "v.wordvectors", "v.gensim"])
@pytest.mark.parametrize("format", [None, "gensim"])
def test_a_pickle_is_not_opened_whatever_its_name_unless_that_is_asked_for(refused, name, format):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("a pickle was opened",)

    for content in (pickle.dumps(Trap()), gzip.compress(pickle.dumps(Trap()))):
        refused(content, "may run any code when opened.*trust_pickle", name=name, format=format)


def test_a_pickle_of_something_else_is_refused(refused):
    pytest.importorskip("gensim")
    refused(pickle.dumps({"cat": [1, 2]}), "gensim", name="v.kv", trust_pickle=True)
    refused(gzip.compress(pickle.dumps([])), "unpack it", name="v.kv", trust_pickle=True)


def test_a_gensim_file_without_gensim_says_how_to_install_it(refused, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    message = r'pip install "topicvec\[gensim\]"'
    refused(pickle.dumps([]), message, error=MissingExtra, name="v.kv", trust_pickle=True)


def test_mmap_is_refused_where_there_is_nothing_to_map(refused, tmp_path):
    refused(b"cat 1 2\n", "mmap=True needs a safetensors file", error=DataError, mmap=True)
    WordVectors(["cat"], [[1]], [1]).save(tmp_path / "v.safetensors", quantized=True)
    with pytest.raises(DataError, match="mmap=True needs float32"):
        load_vectors(tmp_path / "v.safetensors", mmap=True)


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.vec.gz"])
@pytest.mark.parametrize("word", ["ice cream", "a\tb", "a\nb", "a\rb", ""])
def test_words_that_a_format_cannot_hold_are_not_written(tmp_path, name, word):
    with pytest.raises(DataError, match=r"save as \.safetensors"):
        WordVectors(["cat", word], [[1], [2]], [1, 1]).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.safetensors"])
def test_words_that_are_not_unicode_are_not_written(tmp_path, name):
    with pytest.raises(DataError, match="cannot be written in UTF-8"):
        WordVectors(["\ud800"], [[1]], [1]).save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("v.docx", {}, "the ending says no format"),
        ("v.safetensors.gz", {}, "the ending says no format"),
        ("v.txt", {"format": "excel"}, "found 'excel'"),
        ("v.txt", {"quantized": True}, r"saved as \.safetensors"),
        ("none/v.txt", {}, "no such folder"),
        ("v.safetensors", {"step": 0.001}, "step must be at least"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_nothing_written(tmp_path, name, options, message):
    with pytest.raises(DataError, match=message):
        WordVectors(["cat"], [[1]], [1]).save(tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_metadata_may_not_use_the_layouts_own_keys(tmp_path):
    with pytest.raises(DataError, match=r"own keys \['version'\]"):
        WordVectors(["cat"], [[1]], [1], {"version": "3"}).save(tmp_path / "v.safetensors")


def test_an_interrupted_write_leaves_the_old_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "v.txt"
    path.write_text("precious")

    def stop(block):
        raise KeyboardInterrupt

    monkeypatch.setattr("topicvec.embed.formats.text._decimals", stop)
    with pytest.raises(KeyboardInterrupt):
        WordVectors(["cat"], [[1]], [1]).save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["v.txt"]
    assert path.read_text() == "precious"
