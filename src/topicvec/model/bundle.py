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

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from topicvec.embed.adapt import Learned, learned_from
from topicvec.embed.formats.tensors import check_about
from topicvec.embed.load import load_vectors
from topicvec.embed.vectors import WordVectors
from topicvec.errors import DataError, FormatError, VocabularyMismatch
from topicvec.model.fitted import FittedTopics, Setting
from topicvec.model.state import Solver
from topicvec.stored import (
    ANY,
    FLAG,
    NAME,
    TENSOR_TYPES,
    TEXT,
    Kind,
    Layout,
    Stored,
    each,
    is_of,
    mapping,
    number,
    one_of,
    pair,
    read_tensors,
    sparse_parts,
    whole,
    write_tensors,
)
from topicvec.text.stopwords import is_list_name, stop_words
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.vocabulary import Vocabulary
from topicvec.version import __version__

__all__ = [
    "Bundle", "MissingTokenizer", "from_settings", "is_model", "load", "read", "save",
    "to_settings",
]  # fmt: skip

LAYOUT = Layout("topicvec-model", 3, "model file", "get or save the file again")
_ARRAYS = ("topics", "residuals", "alpha", "mass", "word_counts", "pseudo", "word_documents")
_TABLES = ("word_mass", "document_mass")
_LEARNED = ("rows", "places", "residual", "mean", "scale", "unigram")
_NULL_EXTRA = 3  # from this version on n_topics does not count the null topic
_DOCUMENTS = 3  # from this version on there are documents of words
_ONLY_TO_FIT = {"vectors", "fixed_topics", "n_jobs", "client", "labeller", "verbose"}
_SOLVER = {
    "method": TEXT, "inner_tol": number(0), "max_passes": whole(1), "learning_rate": number(0),
    "base_length": number(0), "n_steps": whole(1), "start": TEXT,
    "n_normalizer_words": whole(1) | one_of(None), "max_norm": number(0), "learn_alpha": FLAG,
}  # fmt: skip
_IS_SOLVER = Kind(
    "fields of a Solver",
    lambda found: (
        isinstance(found, dict)
        and all(name in _SOLVER and _SOLVER[name].fits(value) for name, value in found.items())
    ),
)
# Parameters that are read from a file; any other name in it is left alone.
_PARAMS: dict[str, Kind] = {
    "n_topics": whole(1) | one_of("auto"),
    "vectors": one_of(None, "corpus"),
    "own_words": FLAG | number(0),
    "phrases": FLAG,
    "alpha": number(0) | one_of(None, "learn") | each(number(0)),
    "max_norm": number(0),
    "solver": TEXT | _IS_SOLVER,
    "n_normalizer_words": whole(1) | one_of(None),
    "max_iter": whole(1),
    "tol": number(),
    "init": TEXT | each(ANY),
    "seed_words": one_of(None) | each(each(TEXT)) | mapping(each(TEXT)),
    "tokenizer": NAME,
    "stop_words": NAME | each(TEXT),
    "vocabulary": one_of(None) | each(TEXT),
    "share": TEXT,
    "random_state": whole(0, 2**64) | one_of(None) | each(ANY),
}
_SETTINGS: dict[str, Kind] = {
    "params": mapping(ANY) | one_of(None),
    "bounds": each(number()) | one_of(None),
    "n_iter": whole(0) | one_of(None),
    "converged": FLAG | one_of(None),
    "interrupted": FLAG,
    "last_change": number() | one_of(None),
    "unknown_words": mapping(whole(0)) | one_of(None),
    "phrases": mapping(whole(0)) | one_of(None),
    "stop_words": each(TEXT),
    "columns": each(TEXT),
    "n_normalizer_words": whole(1) | one_of(None),
}
_VECTORS: dict[str, Kind] = {
    "content_hash": TEXT, "n_words": whole(1), "n_dims": whole(1), "metadata": mapping(TEXT),
    "embedded": FLAG, "default": FLAG, "learned": FLAG, "path": NAME,
}  # fmt: skip
_TINY, _FAR = 5e-324, 1e6  # more than zero; further from it than any topic
_NEEDED = ("content_hash", "n_words", "n_dims", "metadata", "embedded", "default", "path")
AnyPath = str | PathLike[str]
Arrays = Mapping[str, NDArray[Any]]
Card = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Bundle:
    """What a file holds: the model, what the estimator added, the whole card, and the file.

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
    stored: Stored | None = None


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
    metadata = {"format": LAYOUT.name, "version": str(LAYOUT.version)}
    metadata["card"] = _card(fitted, extra or {}, about_vectors)
    write_tensors(Path(path), tensors, metadata)


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
    topicvec.errors.DataError: no such file: no_such_model: give the name of a model file
    """
    stored = read_tensors(Path(path), LAYOUT, checksum=True)
    card = _read_card(stored)
    fitted = _record(card, stored, _find_vectors(stored, card["vectors"], vectors))
    own = [name for name in stored.tensors if name.startswith("extra.")]
    arrays = {name.removeprefix("extra."): stored.tensors[name] for name in own}
    return Bundle(fitted, card["extra"], arrays, card, stored)


def is_model(path: AnyPath) -> bool:
    """Say whether a file is a saved model, by its content, whatever its name.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "pets.txt")
    >>> _ = path.write_text("Cats purr.")
    >>> is_model(path)
    False
    """
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        if file.read(9)[8:] != b"{":  # behind the length of what stands before the tensors
            return False
    return is_of(Path(path), LAYOUT)


def _tensors(fitted: FittedTopics, embedded: bool, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Name all arrays."""
    named: dict[str, NDArray[Any]] = {name: getattr(fitted, name) for name in _ARRAYS}
    for table in _TABLES:
        named |= sparse_parts(table, getattr(fitted, table))
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
        general = load_vectors().words
        same = vectors.metadata.get("general") == str(len(general))
        return same and vectors.words[: len(general)] == general
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


def _read_card(stored: Stored) -> Card:
    """Read the card, every field of it that is used checked."""
    sizes = {"n_topics": whole(1, 2**31), "n_documents": whole(0)}
    card = stored.card("card", sizes, *sizes)
    k, row = card["n_topics"], whole(0, card["n_documents"] - 1)
    kinds = {
        "versions": mapping(TEXT),
        "max_norm": number(0) | one_of("inf"),
        "labels": each(NAME, k),
        "classes": each(NAME, k),
        "representative": each(each(pair(row, number(0, 1))), k),
        "settings": mapping(ANY),
        "vectors": mapping(ANY),
        "extra": mapping(ANY),
    }
    stored.fields("card", card, kinds, *kinds)
    settings = stored.fields("settings", card["settings"], _SETTINGS)
    params = stored.fields("params", settings.get("params") or {}, _PARAMS)
    about = stored.fields("vectors", card["vectors"], _VECTORS, *_NEEDED)
    check_about(stored, about["metadata"])
    if int(stored.metadata["version"]) < _NULL_EXTRA and isinstance(params.get("n_topics"), int):
        params["n_topics"] -= 1
    return card


def _find_vectors(stored: Stored, about: Card, given: WordVectors | AnyPath | None) -> WordVectors:
    if given is None and about["embedded"]:
        return _embedded(about, stored)
    if given is None and about.get("learned"):
        found = _joined(stored)
    else:
        found = _referenced(stored.path, about) if given is None else load_vectors(given)
    if found.content_hash != about["content_hash"]:
        raise VocabularyMismatch(
            f"{stored.path} was built on other word vectors ({about['n_words']:,} words × "
            f"{about['n_dims']} dims, hash {about['content_hash'][:12]}…) than {found}, hash "
            f"{found.content_hash[:12]}…: load the right ones and give them as vectors="
        )
    return found


def _embedded(about: Card, stored: Stored) -> WordVectors:
    words = _words(stored)
    matrix = stored.numbers("vectors.matrix", (len(words), None))
    unigram = stored.numbers("vectors.unigram", (len(words),), least=_TINY)
    if not (words and matrix.shape[1]):
        stored.refuse("vectors.matrix", "words and dimensions", matrix.shape)
    return WordVectors(words, matrix, unigram, about["metadata"])


def _joined(stored: Stored) -> WordVectors:
    """Put what a text taught together with the default vectors."""
    general, words = load_vectors(), _words(stored)
    places = stored.numbers("vectors.places", (None,), "i", 0, len(general) - 1)
    residual = stored.numbers("vectors.residual", (len(places), None))
    rows = stored.numbers("vectors.rows", (len(words), general.n_dims + residual.shape[1]))
    mean = stored.numbers("vectors.mean", (general.n_dims,))
    scale = float(stored.numbers("vectors.scale", (1,), least=_TINY)[0])
    n_words = len(general) + len(words)
    unigram = stored.numbers("vectors.unigram", (n_words,), least=_TINY)
    if not general.ids.keys().isdisjoint(words):
        stored.refuse("vectors.words", "words that the default vectors lack", "others")
    return Learned(words, rows, places, residual, mean, scale, unigram).join(general)


def _words(stored: Stored) -> tuple[str, ...]:
    words = stored.texts("vectors.words", "vectors.word_lengths")
    return stored.distinct("vectors.words", words)


def _referenced(path: Path, about: Card) -> WordVectors:
    """Load vectors that are not in the file: the default ones, or where the card says."""
    if about["default"]:
        return load_vectors()
    hint = Path(about["path"]) if about["path"] else None
    if hint and str(hint).startswith(("//", "\\\\")):  # asking another computer tells it who asks
        raise FormatError(
            f"{path}: its word vectors are said to be on another computer ({hint}): load them and "
            "give them as vectors="
        )
    for place in (hint, path.parent / hint.name) if hint else ():
        if place.is_file():  # of our own format only: others may be pickles
            return load_vectors(place, format="safetensors")
    raise FormatError(
        f"{path}: its word vectors ({about['n_words']:,} words × {about['n_dims']} dims) are not "
        f"in the file{f' and not at {hint}' if hint else ''}: load them and give them as vectors="
    )


def _record(card: Card, stored: Stored, vectors: WordVectors) -> FittedTopics:
    n_topics, n_words = card["n_topics"], len(vectors)
    if int(stored.metadata["version"]) < _DOCUMENTS:
        older = _not_in_older_files(n_topics, stored)
        stored = replace(stored, tensors={**older, **stored.tensors})
    k, w = (n_topics,), (n_words,)
    topics = stored.numbers("topics", (n_topics, vectors.n_dims), most=_FAR, least=-_FAR)
    if topics[0].any():
        stored.refuse("topics", "zeros for the null topic", topics[0])
    return FittedTopics(
        vectors=vectors,
        topics=topics,
        residuals=stored.numbers("residuals", k),
        alpha=stored.numbers("alpha", k, least=0),
        mass=stored.numbers("mass", k, least=0),
        word_counts=stored.numbers("word_counts", w, least=0),
        word_mass=stored.table("word_mass", (n_words, n_topics)),
        word_documents=stored.numbers("word_documents", w, least=0),
        document_mass=stored.table("document_mass", (n_words, n_topics)),
        pseudo=stored.numbers("pseudo", k, least=0, infinite=True),
        labels=tuple(card["labels"]),
        classes=tuple(card["classes"]),
        representative=tuple(
            tuple((row, p) for row, p in pairs) for pairs in card["representative"]
        ),
        max_norm=float(card["max_norm"]),
        n_documents=card["n_documents"],
        settings=card["settings"],
    )


def _not_in_older_files(n_topics: int, stored: Stored) -> dict[str, NDArray[Any]]:
    """Give what files before version 3 lack: words stand for the documents that have them."""
    older = {"pseudo": np.full(n_topics, np.inf)}
    for name in [name for name in stored.tensors if name.startswith("word_mass.")]:
        older[name.replace("word_mass", "document_mass")] = stored.tensors[name].copy()
    if "word_counts" in stored.tensors:
        older["word_documents"] = stored.tensors["word_counts"].copy()
    return older


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
    words = kept.get("stop_words")
    if isinstance(words, os.PathLike) or (isinstance(words, str) and not is_list_name(words)):
        kept["stop_words"] = stop_words(words)  # the model needs no other file
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
    words = params.get("stop_words")
    if isinstance(words, str) and not is_list_name(words):
        raise FormatError(
            f"the model's stop words are in a file, {words!r}, which a model may not choose: give "
            "them again, TopicVec.load(path, stop_words=…), and save it"
        )
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
