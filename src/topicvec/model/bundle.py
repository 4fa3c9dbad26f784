"""Saving fitted topics: one safetensors file with a JSON card in its header; no pickle.

The header's metadata are ``format``, ``version`` (a newer one is refused) and ``card``: versions,
settings, labels, classes, documents, the word vectors by content hash, and what the estimator
adds. There is a tensor for each array of the record, those of embedded vectors (``vectors.*``)
and of the estimator (``extra.*``), and last the ``checksum``, SHA-256 of all bytes before it.
Nothing in the file is ever executed. The same model gives the same bytes.

Parameters of the estimator are among the settings: what cannot be written as JSON and is needed
only to fit (topics to start from, a generator) is left out; a tokenizer of the user's own is
remembered by its name.
"""

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from itertools import pairwise
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from scipy.sparse import csr_array

from topicvec.embed.adapt import Learned, learned_from
from topicvec.embed.formats.tensors import TENSOR_TYPES, write_tensors
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, FormatError, VocabularyMismatch
from topicvec.model.fitted import FittedTopics, Setting
from topicvec.model.state import Solver
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.vocabulary import Vocabulary
from topicvec.version import __version__

__all__ = ["Bundle", "MissingTokenizer", "from_settings", "load", "read", "save", "to_settings"]

LAYOUT, VERSION = "topicvec-model", 3
_ARRAYS = ("topics", "residuals", "alpha", "mass", "word_counts", "pseudo", "word_documents")
_TABLES, _TABLE = ("word_mass", "document_mass"), ("data", "indices", "indptr")
_LEARNED = ("rows", "places", "residual", "mean", "scale", "unigram")
_DIGEST_BYTES = 32
_NULL_EXTRA = 3  # from this version on n_topics does not count the null topic
_ONLY_TO_FIT = {"vectors", "fixed_topics", "n_jobs", "labeller"}
AnyPath = str | PathLike[str]
Arrays = Mapping[str, NDArray[Any]]
Card = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Bundle:
    """What a file holds: the model, what the estimator added, and the whole card.

    Examples
    --------
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> Bundle(FittedTopics.bare(vectors, np.zeros((1, 2)), max_norm=7.0)).extra
    {}
    """

    fitted: FittedTopics
    extra: Mapping[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict)
    card: Mapping[str, Any] = field(default_factory=dict)


def save(
    fitted: FittedTopics,
    path: AnyPath,
    *,
    embed_vectors: bool | Literal["auto"] = "auto",
    vectors_path: AnyPath | None = None,
    extra: Mapping[str, Any] | None = None,
    arrays: Arrays | None = None,
) -> None:
    """Write a model to one file, whole or not at all.

    Parameters
    ----------
    fitted : FittedTopics
    path : path
        Of the file; one that is there is replaced.
    embed_vectors : bool or "auto"
        Whether the word vectors go into the file. "auto" leaves out the default vectors, which
        come with topicvec, and takes in all others; of vectors that learned from a text on top
        of the default ones it takes what they learned.
    vectors_path : path, optional
        Where vectors that are left out can be found; a safetensors file.
    extra, arrays : mappings, optional
        Anything that JSON can hold, and arrays of numbers, to be given back by `read`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "pets.topics")
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> save(FittedTopics.bare(vectors, np.eye(2, 2, -1), max_norm=7.0), path, extra={"n_jobs": 2})
    >>> read(path).extra
    {'n_jobs': 2}
    """
    if embed_vectors not in (True, False, "auto"):
        raise DataError(f'embed_vectors must be True, False or "auto", found {embed_vectors!r}')
    if Path(path).is_dir():
        raise DataError(f"{path} is a folder: give the name of a file")
    is_default = embed_vectors is not True and _is_default(fitted.vectors)
    learned = embed_vectors == "auto" and _rests_on_default(fitted.vectors)
    embedded = not (is_default or learned) if embed_vectors == "auto" else bool(embed_vectors)
    about_vectors = {
        "content_hash": fitted.vectors.content_hash,
        "n_words": len(fitted.vectors),
        "n_dims": fitted.vectors.n_dims,
        "metadata": fitted.vectors.metadata,
        "embedded": embedded,
        "default": is_default,
        "learned": learned,
        "path": None if vectors_path is None else str(Path(vectors_path).absolute()),
    }
    tensors = _tensors(fitted, embedded, arrays or {})
    if learned:
        tensors |= _learned_tensors(learned_from(fitted.vectors, load_vectors()))
    metadata = {"format": LAYOUT, "version": str(VERSION)}
    metadata["card"] = _card(fitted, extra or {}, about_vectors)
    write_tensors(Path(path), tensors, metadata, checksum=True)


def load(path: AnyPath, vectors: WordVectors | AnyPath | None = None) -> FittedTopics:
    """Load a model; it gives the same results as the saved one, to the bit.

    Parameters
    ----------
    path : path
        Of a file that `save` wrote.
    vectors : WordVectors or path, optional
        The word vectors, if they are not in the file and not where it says.

    Raises
    ------
    FormatError, VocabularyMismatch
        The file is damaged, newer, or no model; the vectors are missing, or other ones.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "pets.topics")
    >>> vectors = WordVectors(["cat", "dog"], [[1, 0], [0, 1]], [1, 1])
    >>> save(FittedTopics.bare(vectors, np.eye(2, 2, -1), max_norm=7.0), path)
    >>> load(path).topics.tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    return read(path, vectors).fitted


def read(path: AnyPath, vectors: WordVectors | AnyPath | None = None) -> Bundle:
    """Load a model together with what the estimator saved beside it; see `load`.

    Examples
    --------
    >>> read("no_such_model")
    Traceback (most recent call last):
    topicvec.errors.DataError: no such file: no_such_model: give the name of a file that save wrote
    """
    file = Path(path)
    if not file.is_file():
        raise DataError(f"no such file: {file}: give the name of a file that save wrote")
    tensors, card = _read(file)
    try:
        fitted = _record(card, tensors, _find_vectors(file, card["vectors"], tensors, vectors))
        own = [name for name in tensors if name.startswith("extra.")]
        arrays = {name.removeprefix("extra."): tensors[name] for name in own}
        return Bundle(fitted, card["extra"], arrays, card)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise FormatError(
            f"{file}: whole, but not as topicvec writes it ({error!r}): save the model again"
        ) from error


def _tensors(fitted: FittedTopics, embedded: bool, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Name all arrays."""
    named: dict[str, NDArray[Any]] = {name: getattr(fitted, name) for name in _ARRAYS}
    for table in _TABLES:
        named |= {f"{table}.{name}": getattr(getattr(fitted, table), name) for name in _TABLE}
    named |= {f"extra.{name}": np.asarray(array) for name, array in arrays.items()}
    if embedded:
        named["vectors.matrix"] = fitted.vectors.matrix
        named["vectors.unigram"] = fitted.vectors.unigram
        named |= _word_tensors(fitted.vectors.words)
    for name, array in named.items():
        if array.dtype.newbyteorder("<").str not in TENSOR_TYPES:
            raise DataError(f"{name}: only arrays of numbers can be saved, found {array.dtype}")
    return dict(sorted(named.items()))


def _word_tensors(words: Sequence[str]) -> dict[str, NDArray[Any]]:
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    return {
        "vectors.words": np.frombuffer(b"".join(encoded), np.uint8),
        "vectors.word_lengths": np.array([len(word) for word in encoded], np.uint32),
    }


def _learned_tensors(learned: Learned) -> dict[str, NDArray[Any]]:
    named = {f"vectors.{name}": np.atleast_1d(getattr(learned, name)) for name in _LEARNED}
    return named | _word_tensors(learned.words)


def _card(fitted: FittedTopics, extra: Mapping[str, Any], about_vectors: Card) -> str:
    versions = {"topicvec": __version__, "python": platform.python_version()}
    card = {
        "versions": versions | {name: version(name) for name in ("numpy", "scipy", "safetensors")},
        "n_topics": fitted.n_topics,
        "n_documents": fitted.n_documents,
        "max_norm": fitted.max_norm if isfinite(fitted.max_norm) else str(fitted.max_norm),
        "labels": fitted.labels,
        "classes": fitted.classes,
        "representative": fitted.representative,
        "settings": fitted.settings,
        "vectors": about_vectors,
        "extra": extra,
    }
    return json.dumps(_plain(card, "card"))


def _is_default(vectors: WordVectors) -> bool:
    try:
        first = load_vectors(max_words=1)  # a quick look before all of them are read
    except FormatError:
        return False  # an installation without its data has no default vectors
    alike = first.words[0] == vectors.words[0] and first.metadata == vectors.metadata
    return alike and vectors == load_vectors()


def _rests_on_default(vectors: WordVectors) -> bool:
    try:
        n = int(vectors.metadata.get("general", "-1"))
        return n == len(load_vectors()) and vectors.words[:n] == load_vectors().words
    except FormatError:
        return False


def _plain(value: Any, place: str) -> Any:
    """Turn a value into what JSON can hold and give back; refuse what it cannot."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{i}]") for i, item in enumerate(value)]
    if value is None or isinstance(value, (str, int)) or (type(value) is float and isfinite(value)):
        return value
    raise DataError(
        f"{place}: a card can hold text, finite numbers, lists and mappings with text as keys, "
        f"found {type(value).__name__}: convert it, or leave it out"
    )


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], Card]:
    """Read the tensors and the card of a file that is whole."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            _check_layout(path, metadata)
            _check_digest(path)
            tensors = {name: file.get_tensor(name) for name in set(file.keys()) - {"checksum"}}
        card: Card = json.loads(metadata["card"])
        params = card["settings"].get("params") or {}
        if int(metadata["version"]) < _NULL_EXTRA and isinstance(params.get("n_topics"), int):
            params["n_topics"] -= 1
    except (SafetensorError, KeyError, ValueError) as error:
        raise FormatError(
            f"{path}: not a whole model file ({error}): get or save the file again"
        ) from error
    return tensors, card


def _check_layout(path: Path, metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != LAYOUT:
        raise FormatError(
            f'{path}: expected a model file (format "{LAYOUT}" in its metadata), found '
            f"{metadata.get('format')!r}: was it written by save?"
        )
    number = metadata.get("version", "")
    if not (number.isascii() and number.isdigit()) or int(number) > VERSION:
        raise FormatError(
            f"{path}: layout version {number!r}, but this topicvec {__version__} reads up to "
            f"{VERSION}: pip install --upgrade topicvec"
        )


def _check_digest(path: Path) -> None:
    content = np.memmap(path, np.uint8, "r")
    if hashlib.sha256(content[:-_DIGEST_BYTES].data).digest() != content[-_DIGEST_BYTES:].tobytes():
        raise FormatError(f"{path}: damaged, its checksum is wrong: get or save the file again")


def _find_vectors(
    path: Path, about: Card, tensors: Arrays, given: WordVectors | AnyPath | None
) -> WordVectors:
    if given is None and about["embedded"]:
        return _embedded(about, tensors)
    if given is None and about.get("learned"):
        found = _joined(tensors)
    else:
        found = _referenced(path, about) if given is None else load_vectors(given)
    if found.content_hash != about["content_hash"]:
        raise VocabularyMismatch(
            f"{path} was built on other word vectors ({about['n_words']:,} words × "
            f"{about['n_dims']} dims, hash {about['content_hash'][:12]}…) than {found}, hash "
            f"{found.content_hash[:12]}…: load the right ones and give them as vectors="
        )
    return found


def _embedded(about: Card, tensors: Arrays) -> WordVectors:
    unigram = tensors["vectors.unigram"]
    return WordVectors(_words(tensors), tensors["vectors.matrix"], unigram, about["metadata"])


def _joined(tensors: Arrays) -> WordVectors:
    """Put what a text taught together with the default vectors."""
    rows, places, residual, mean, scale, unigram = (tensors[f"vectors.{n}"] for n in _LEARNED)
    general, words = load_vectors(), tuple(_words(tensors))
    wide = (len(words), general.n_dims + residual.shape[1])
    right = {"rows": rows.shape == wide, "mean": mean.shape == (general.n_dims,)}
    right["places"] = places.dtype.kind == "i" and places.shape == residual.shape[:1]
    right["places"] &= not places.size or (places.min() >= 0 and places.max() < len(general))
    wrong = [name for name, good in right.items() if not good]
    if wrong:
        raise ValueError(f"vectors.{wrong[0]}: does not fit the default vectors")
    return Learned(words, rows, places, residual, mean, float(scale[0]), unigram).join(general)


def _words(tensors: Arrays) -> list[str]:
    blob, ends = tensors["vectors.words"].tobytes(), np.cumsum(tensors["vectors.word_lengths"])
    pairs = pairwise([0, *ends.tolist()])
    return [blob[start:end].decode("utf-8", "surrogatepass") for start, end in pairs]


def _referenced(path: Path, about: Card) -> WordVectors:
    """Load vectors that are not in the file: the default ones, or where the card says."""
    if about["default"]:
        return load_vectors()
    hint = Path(about["path"]) if about["path"] else None
    for place in (hint, path.parent / hint.name) if hint else ():
        if place.is_file():  # of our own format only: others may be pickles
            return load_vectors(place, format="safetensors")
    raise FormatError(
        f"{path}: its word vectors ({about['n_words']:,} words × {about['n_dims']} dims) are not "
        f"in the file{f' and not at {hint}' if hint else ''}: load them and give them as vectors="
    )


def _record(card: Card, tensors: Arrays, vectors: WordVectors) -> FittedTopics:
    n_topics, n_words = card["n_topics"], len(vectors)
    if "word_documents" not in tensors:
        tensors = {**_not_in_older_files(n_topics, tensors), **tensors}
    k, w = (n_topics,), (n_words,)
    shapes = [(n_topics, vectors.n_dims), k, k, k, w, k, w]
    for name, shape in zip(_ARRAYS, shapes, strict=True):
        if tensors[name].shape != shape:
            raise ValueError(f"{name}: expected shape {shape}, found {tensors[name].shape}")
    tables = {
        table: csr_array(tuple(tensors[f"{table}.{name}"] for name in _TABLE), (n_words, n_topics))
        for table in _TABLES
    }
    return FittedTopics(
        vectors=vectors,
        **{name: tensors[name] for name in _ARRAYS},  # type: ignore[arg-type]
        **tables,  # type: ignore[arg-type]
        labels=tuple(card["labels"]),
        classes=tuple(card["classes"]),
        representative=tuple(
            tuple((row, p) for row, p in pairs) for pairs in card["representative"]
        ),
        max_norm=float(card["max_norm"]),
        n_documents=card["n_documents"],
        settings=card["settings"],
    )


def _not_in_older_files(n_topics: int, tensors: Arrays) -> dict[str, NDArray[Any]]:
    """Give what files before version 3 lack: words stand for the documents that have them."""
    documents = {f"document_mass.{name}": tensors[f"word_mass.{name}"].copy() for name in _TABLE}
    counts = tensors["word_counts"].copy()
    return {"pseudo": np.full(n_topics, np.inf), "word_documents": counts, **documents}


class MissingTokenizer:
    """Stands for a tokenizer that a saved model needs and cannot bring along.

    Examples
    --------
    >>> MissingTokenizer("my.cutter")("some text")
    Traceback (most recent call last):
    topicvec.errors.DataError: the model was fitted with the tokenizer my.cutter, ...
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"MissingTokenizer({self.name!r})"

    def __call__(self, text: str) -> NoReturn:  # noqa: ARG002
        """Say what to do."""
        raise DataError(
            f"the model was fitted with the tokenizer {self.name}, which a file cannot hold: "
            "give it again, TopicVec.load(path, tokenizer=…)"
        )


def to_settings(params: Mapping[str, Any]) -> dict[str, Setting]:
    """Write the parameters that JSON can hold.

    Examples
    --------
    >>> to_settings({"n_topics": 5, "alpha": np.ones(2), "n_jobs": 2})
    {'n_topics': 5, 'alpha': [1.0, 1.0]}
    """
    kept = {name: value for name, value in params.items() if name not in _ONLY_TO_FIT}
    tokenizer = kept.pop("tokenizer", None)
    settings: dict[str, Setting] = {}
    for name, value in kept.items():
        with suppress(DataError):  # it is needed only to fit
            settings[name] = _written(value, name)
    if tokenizer is not None:
        settings["tokenizer"] = _tokenizer_name(tokenizer)
    return settings


def from_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Read parameters that `to_settings` wrote.

    Examples
    --------
    >>> from_settings({"n_topics": 5, "tokenizer": "topicvec:original"})
    {'n_topics': 5, 'tokenizer': Tokenizer(rules='original')}
    """
    params = dict(settings)
    if isinstance(params.get("solver"), Mapping):
        params["solver"] = Solver(**params["solver"])
    if params.get("n_normalizer_words") is not None:  # of a file from before there was a Solver
        limit = params["n_normalizer_words"]
        params["solver"] = Solver(params.get("solver", "newton"), n_normalizer_words=limit)
    name = params.pop("tokenizer", None)
    if name is not None:
        owner, _, rules = str(name).partition(":")
        params["tokenizer"] = Tokenizer(rules) if owner == "topicvec" else MissingTokenizer(name)  # type: ignore[arg-type]
    return params


def _tokenizer_name(tokenizer: Any) -> str:
    if isinstance(tokenizer, Tokenizer):
        return f"topicvec:{tokenizer.rules}"
    if isinstance(tokenizer, MissingTokenizer):
        return tokenizer.name
    owner = tokenizer if hasattr(tokenizer, "__qualname__") else type(tokenizer)
    return f"{getattr(owner, '__module__', 'builtins')}.{owner.__qualname__}"


def _written(value: Any, place: str) -> Any:
    """Turn a parameter into what JSON can hold; refuse what it cannot."""
    if isinstance(value, Solver):  # infinite in any that a user may give, as JSON has it not
        value = {name: each for name, each in asdict(value).items() if name != "pseudo_tokens"}
    elif isinstance(value, os.PathLike):
        value = os.fspath(value)
    elif isinstance(value, Vocabulary):
        value = value.words
    elif isinstance(value, (set, frozenset)):
        value = sorted(value)
    elif isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    elif isinstance(value, Mapping):
        value = {str(name): _written(each, place) for name, each in value.items()}
    elif isinstance(value, Iterable) and not isinstance(value, (str, np.ndarray)):
        value = [_written(each, place) for each in value]
    return _plain(value, place)
