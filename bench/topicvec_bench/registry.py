"""Which methods there are, what their settings are for each corpus, and how one is made."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

from topicvec.errors import DataError
from topicvec_bench.methods import METHODS, Method, Role

__all__ = [
    "METHODS", "MIN_COUNT", "SETTINGS", "Method", "Role", "find_method", "make", "names",
    "split_names",
]  # fmt: skip

# Parameters for each corpus of table 2: the paper's, or chosen on held-out training documents. The
# test documents took no part in any choice.
_BY_CLASS = [
    method.name for method in METHODS.values()
    if method.features.startswith(("topicvec:", "controls:RandomGroups", "supervised:",
                                   "learned_vectors:", "glove:", "neural_vectors:", "huang:"))
]  # fmt: skip
SETTINGS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "20news": {name: {"n_topics": 15} for name in _BY_CLASS},  # 20 · 15 − 19 = 281 features
    "reuters": {
        **{name: {"n_topics": 12} for name in _BY_CLASS},  # 10 · 12 − 9 = 111 features
        "LDA": {"n_topics": 50},
        "LDA, advised": {"n_topics": 50},
        "LDA-Gibbs": {"n_topics": 50},
        "PLSA": {"n_topics": 50},
        "ReplicatedSoftmax": {"n_hidden": 50},
        "DocNADE": {"n_hidden": 50},
        "sLDA": {"n_topics": 50},
        "LFTM": {"n_topics": 50},
        "LF-DMM": {"n_topics": 50},
        "TWE": {"n_topics": 50},
        "TWE-2": {"n_topics": 50},
        "TWE-3": {"n_topics": 50},
        "GaussianLDA": {"n_topics": 70},
        "ETM": {"n_topics": 50},
        "BERTopic": {"n_topics": 50},
        "FASTopic": {"n_topics": 50},
        "KeyNMF": {"n_topics": 50},
        "TMD kNN": {"n_topics": 50},
    },
}


# Vectors are learned for words that the training documents have so often; 0: for none. On the last
# training documents of 20 Newsgroups this gives TopicVec 3 points; on those of Reuters, whose
# unknown words are mostly codes, it takes one away.
MIN_COUNT: Mapping[str, int] = {"20news": 2, "reuters": 0}


def names(role: Role) -> list[str]:
    """List the methods that take part in table 2, or in the comparison of topics (ours first).

    Examples
    --------
    >>> names("features")[:3], names("topics")[:2]
    (['BOW', 'TF-IDF', 'LDA'], ['TopicVec', 'LDA (gensim)'])
    """
    found = [method for method in METHODS.values() if getattr(method, role)]
    if role == "topics":
        found.sort(key=lambda method: method.name != "TopicVec")
    return [method.name_as(role) for method in found]


def find_method(name: str, role: Role = "features") -> Method:
    """Return the method that a user means; case and all but letters and digits may differ.

    Examples
    --------
    >>> find_method("topicvec").name, find_method("lda-gensim", "topics").name
    ('TopicVec', 'LDA')
    >>> find_method("word2vec")
    Traceback (most recent call last):
    topicvec.errors.DataError: unknown method 'word2vec': expected one of BOW; TF-IDF; ...
    """
    for method in METHODS.values():
        if getattr(method, role) and _plain(name) == _plain(method.name_as(role)):
            return method
    raise DataError(f"unknown method {name!r}: expected one of {'; '.join(names(role))}")


def split_names(text: str, role: Role = "features") -> list[str]:
    """Part names with commas between them; a name may have a comma itself.

    Examples
    --------
    >>> split_names("BOW, TopicVec, square roots, tf-idf")
    ['BOW', 'TopicVec, square roots', 'TF-IDF']
    """
    known = {_plain(name): name for name in names(role)}
    parts, found = text.split(","), []
    while parts:
        ends = (end for end in range(len(parts), 1, -1) if _plain("".join(parts[:end])) in known)
        end = next(ends, 1)
        found.append(known.get(_plain("".join(parts[:end])), ",".join(parts[:end]).strip()))
        parts = parts[end:]
    return found


def _plain(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())


def make(name: str, role: Role = "features", *, corpus: str | None = None, **params: Any) -> Any:
    """Make an unfitted method with its settings for a corpus.

    Parameters
    ----------
    name : str
        A name of the method in the role.
    role : {"features", "topics"}
        What it is to do.
    corpus : str, optional
        Take the settings for this corpus, see `SETTINGS`.
    **params
        Parameters, instead of the settings. ``vectors``, ``random_state`` and ``n_jobs`` are left
        out for methods that do not have them.

    Returns
    -------
    Baseline
        A `TopicBaseline` for the role "topics".

    Examples
    --------
    >>> make("LDA", corpus="reuters", random_state=3)
    GensimLDA(n_topics=50, random_state=3)
    >>> make("lda-tomotopy", "topics", n_topics=30, n_jobs=1)
    TomotopyLDA(n_topics=30)
    """
    method = find_method(name, role)
    kind = method.load(role)
    lacking = {"vectors", "random_state", "n_jobs"} - set(signature(kind).parameters)
    given = {key: value for key, value in params.items() if key not in lacking}
    settings = method.settings if role == "features" else {}
    return kind(**{**settings, **SETTINGS.get(corpus or "", {}).get(method.name, {}), **given})
