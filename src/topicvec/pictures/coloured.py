"""A text with the topics of its words: where each word stands, and the pieces between."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from topicvec.model import TopicVec, document_topics
from topicvec.pictures.seen import infer_quietly
from topicvec.represent.documents import counter_of

__all__ = ["Piece", "PlacedToken", "ReadText", "cut_text", "locate", "read_text"]

_LEAST = 0.005  # smaller proportions are not shown

Place = tuple[int, int]


class Piece(NamedTuple):
    """A piece of a text; ``topic`` is None for what belongs to no topic."""

    text: str
    topic: int | None = None
    probability: float = 0.0


class PlacedToken(NamedTuple):
    """A token with its most probable topic; ``text[start:end]`` is what it was made from."""

    token: str
    topic: int
    probability: float
    start: int
    end: int


class ReadText(NamedTuple):
    """What a model says of a text.

    Attributes
    ----------
    n_known : int
        Number of tokens that have a topic.
    mixture : tuple of (int, float)
        Topics with their proportions, the largest first; the prior's if no token is known.
    tokens : tuple of PlacedToken
        The tokens that have a topic and a place, in order.
    """

    n_known: int
    mixture: tuple[tuple[int, float], ...]
    tokens: tuple[PlacedToken, ...]


def read_text(model: TopicVec, text: str) -> ReadText:
    """Find the topics of a text and of its words; one without a known word is no error.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    text : str
        Any text.

    Returns
    -------
    ReadText

    Examples
    --------
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], np.diag([2, 2, 2]), [1, 1, 1])
    >>> model = TopicVec(1, vectors, random_state=0).fit(["cat dog cat", "car car"])
    >>> [(token.token, token.start) for token in read_text(model, "The Cat & the dog").tokens]
    [('cat', 4), ('dog', 14)]
    """
    spans = _spans(model, text)
    tokens = [token for token, _ in spans]
    rows = counter_of(model).known(tokens, model.fitted_.vectors)
    inferred = infer_quietly(model, [tokens])
    used = np.array(sorted(set(rows.values())), np.int64)
    shares = inferred.responsibilities(0, used)  # (words, K)
    best = zip(shares.argmax(axis=1).tolist(), shares.max(axis=1, initial=0).tolist(), strict=True)
    topics = dict(zip(used.tolist(), best, strict=True))
    known = [(token, *topics[rows[token]], place) for token, place in spans if token in rows]
    return ReadText(
        n_known=len(known),
        mixture=document_topics(inferred.proportions[0], min_share=_LEAST),
        tokens=tuple(PlacedToken(*each, *place) for *each, place in known if place is not None),
    )


def _spans(model: TopicVec, text: str) -> list[tuple[str, Place | None]]:
    """Cut a text into tokens as the model does, each with its place; a phrase is one token.

    A tokenizer that has a method ``spans``, as `Tokenizer` does, says itself where its tokens
    stand. Of any other callable only the tokens are known; they are searched for as `locate`
    does, and those that are not in the text as they stand have no place.
    """
    counter = counter_of(model)
    places: list[Place | None]
    if hasattr(counter.tokenize, "spans"):
        found = counter.tokenize.spans(text)
        tokens, places = [span.token for span in found], [(span.start, span.end) for span in found]
    else:
        tokens = list(counter.tokenize(text))
        places = locate(text, tokens)
    ranges = counter.phrases.ranges(tokens)
    return [(" ".join(tokens[i:j]), _whole(places[i], places[j - 1])) for i, j in ranges]


def _whole(first: Place | None, last: Place | None) -> Place | None:
    return None if first is None or last is None else (first[0], last[1])


def cut_text(text: str, tokens: Iterable[PlacedToken]) -> Iterator[Piece]:
    """Cut a text where topics change; the pieces put together are the text.

    A token that overlaps the one before it is passed over.

    Examples
    --------
    >>> [piece.text for piece in cut_text("Rain at last", [PlacedToken("last", 2, 0.9, 8, 12)])]
    ['Rain at ', 'last']
    """
    end = 0
    for token in tokens:
        if token.start < end:
            continue
        if token.start > end:
            yield Piece(text[end : token.start])
        yield Piece(text[token.start : token.end], token.topic, round(token.probability, 2))
        end = token.end
    if end < len(text):
        yield Piece(text[end:])


def locate(text: str, tokens: Sequence[str]) -> list[Place | None]:
    """Search for tokens, in their order, as whole words of a text, whatever their case.

    A search can go wrong: a token that was changed (its accents taken away, its ending cut off)
    is not found, or found where it stands unchanged later on.

    Parameters
    ----------
    text : str
        The text as it was read.
    tokens : sequence of str
        Lower-case tokens, a subsequence of the text's words.

    Returns
    -------
    list of (start, end) or None
        None for a token that is not found as it stands.

    Examples
    --------
    >>> locate("Rain, rain: GO away", ["rain", "rain", "away"])
    [(0, 4), (6, 10), (15, 19)]
    """
    letters = [character.lower().replace("’", "'") for character in text]
    origin = [i for i, letter in enumerate(letters) for _ in letter]  # lower() may lengthen
    flat = "".join(letters)
    places: list[Place | None] = []
    start = 0
    for token in tokens:
        at = _find_word(flat, token, start)
        if at >= 0:
            start = at + len(token)
        places.append((origin[at], origin[start - 1] + 1) if at >= 0 else None)
    return places


def _find_word(flat: str, token: str, start: int) -> int:
    at = flat.find(token, start) if token else -1
    while at >= 0 and (
        (at > 0 and flat[at - 1].isalnum())
        or (at + len(token) < len(flat) and flat[at + len(token)].isalnum())
    ):
        at = flat.find(token, at + 1)
    return at
