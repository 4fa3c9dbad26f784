"""Topics over time: their shares, how their words move, when they come and go.

Time is cut into equal spans. What is said of a topic in a span is counted in expected tokens, the
responsibilities of the model summed over the span's documents:

- Its *share* is the mean, over the documents, of its part of their known words.
- A word *rises* where the topic has more of it than in the other spans. Chance would put each of
  its occurrences into a span with the probability of any word of the topic. Tokens x of documents
  count as (Σx)² / Σx² occurrences (Kish, 1965), at most: a name that one document repeats is no
  movement (test_a_word_that_one_document_repeats_does_not_rise). Of all words of a topic those are
  listed that keep the false ones at one in a hundred (Benjamini and Hochberg, 1995), by the
  log-likelihood ratio of their tokens in the span and elsewhere (Dunning, 1993). Words of a
  document go together, so chance does more than that: of 9,000 reports of Reuters, from which the
  one in a hundred was chosen, 323 words are listed, and with shuffled dates 19.
- The topic is *there* where its share is at least a quarter of an even one, 1 / number of topics.
  It is born in the first such span if the documents before have too little of it for chance, and
  dies in the last such span if those afterwards have. With shares x, its documents count as
  n = (Σx)² / Σx² equal ones; if each fell anywhere among all documents, so few of the n would
  fall into that part in one case of a hundred at most. So a topic is neither born nor dead because
  few documents stand at an end (test_few_documents_at_an_end_are_no_birth_or_death).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from topicvec.engine import resolve_engine
from topicvec.errors import DataError
from topicvec.frames import Frame, make_frame
from topicvec.model.counts import log_unknown
from topicvec.model.estep import Inferred
from topicvec.model.inference import infer, word_masses, word_table
from topicvec.model.reading import Topic
from topicvec.model.topicvec import TopicVec
from topicvec.represent.documents import counter_of
from topicvec.text.counting import check_several
from topicvec.text.document import Document, values_of

__all__ = ["Course", "Courses", "Rise", "TimeSpan", "parse_time", "topics_over_time", "usual_bins"]

Floats = NDArray[np.floating]
Ints = NDArray[np.integer]

_MOST_BINS = 500
_YEAR = 365.2425  # days
_SELDOM = 0.01
_FALSE = 0.01  # of the words that are listed
_CELLS = 4096  # counts at a time


class Rise(NamedTuple):
    """A word that a topic has more of in a span of time than in the others.

    Attributes
    ----------
    word : str
        The word.
    n_tokens : float
        Its expected tokens of the topic in the span.
    ratio : float
        How many times as many these are as if the topic had the same words in all spans.

    Examples
    --------
    >>> Rise("telegraph", 12.0, 3.0).word
    'telegraph'
    """

    word: str
    n_tokens: float
    ratio: float


class TimeSpan(NamedTuple):
    """A topic in a span of time.

    Attributes
    ----------
    name : str
        When it begins: a year, a month or a day if the times are dates, else the number.
    start, end : float
        In years, or whatever the numbers mean.
    n_documents : int
        Documents of the span that have a known word.
    share : float
        Mean part of the topic in them; 0 without documents.
    words : tuple of Rise
        Words that rise, the clearest first.

    Examples
    --------
    >>> TimeSpan("2019", 2019.0, 2020.0, 12, 0.25, ()).share
    0.25
    """

    name: str
    start: float
    end: float
    n_documents: int
    share: float
    words: tuple[Rise, ...]


@dataclass(frozen=True)
class Course:
    """A topic from the first span of time to the last.

    Parameters
    ----------
    topic : Topic
        The topic as it is in the documents of the fit.
    spans : tuple of TimeSpan
        All spans, in order.
    born, died : int, optional
        Places of the first and the last span in which it is there; None if it was there from the
        beginning or to the end, or is too small, or if there are too few documents to tell.

    Examples
    --------
    >>> Course(Topic(1, 0.5, 5.0, (("price", 1.9),)), (), born=2).born
    2
    """

    topic: Topic
    spans: tuple[TimeSpan, ...]
    born: int | None = None
    died: int | None = None


class Courses(tuple[Course, ...]):
    """The courses of several topics, which are a table too.

    Examples
    --------
    >>> span = TimeSpan("2019", 2019.0, 2020.0, 12, 0.25, (Rise("price", 9.0, 2.0),))
    >>> courses = Courses([Course(Topic(1, 0.5, 5.0, (("cost", 1.9),)), (span,), born=0)])
    >>> courses.table()[["label", "time", "share", "words", "born"]].values.tolist()
    [['cost', '2019', 0.25, 'price', True]]
    """

    __slots__ = ()

    def table(self, frame: Frame = "pandas") -> Any:
        """Give a row for each topic and span of time, as a DataFrame.

        Parameters
        ----------
        frame : {"pandas", "polars"}
            Whose table.

        Returns
        -------
        DataFrame
            ``topic``, ``label``, ``time`` (when the span begins), ``start``, ``end``,
            ``documents``, ``share``, ``words`` (that rise), ``born`` and ``died``.
        """
        rows = [(each, place) for each in self for place in range(len(each.spans))]
        spans = [course.spans[place] for course, place in rows]
        columns: dict[str, Any] = {
            "topic": [course.topic.index for course, _ in rows],
            "label": [course.topic.title for course, _ in rows],
            "time": [span.name for span in spans],
            "start": [span.start for span in spans],
            "end": [span.end for span in spans],
            "documents": [span.n_documents for span in spans],
            "share": [span.share for span in spans],
            "words": [", ".join(rise.word for rise in span.words) for span in spans],
            "born": [course.born == place for course, place in rows],
            "died": [course.died == place for course, place in rows],
        }
        return make_frame(columns, frame)


def topics_over_time(
    model: TopicVec,
    documents: Iterable[str | Document],
    *,
    times: Sequence[str] | None = None,
    n_bins: int | None = None,
    n_words: int = 10,
    least: float = 0.25,
) -> Courses:
    """Follow the topics of documents through time: shares, words, births and deaths.

    Parameters
    ----------
    model : TopicVec
        A fitted model.
    documents : iterable of str or Document
        The documents.
    times : sequence of str, optional
        Their times: years, ISO dates or numbers; by default the documents' own.
    n_bins : int, optional
        Number of equal spans of time; by default 6 to 24, with about 20 documents each, but no span
        shorter than a year where only years are known.
    n_words : int
        How many rising words to list at most, of each topic and span.
    least : float
        Part of an even share from which on a topic is there.

    Returns
    -------
    Courses
        A tuple of `Course`, in the order of ``model.topics_`` without the null topic; its
        ``table()`` is a DataFrame.

    Notes
    -----
    The rules for words, births and deaths are at the top of `topicvec.represent.over_time`.

    Examples
    --------
    >>> from topicvec import WordVectors
    >>> vectors = WordVectors(["cat", "dog", "car"], [[3, 1], [3, -1], [-3, 0]], [1, 1, 1])
    >>> texts = ["cat dog"] * 20 + ["car car"] * 20
    >>> model = TopicVec(2, vectors, random_state=0).fit(texts)
    >>> years = ["1901"] * 20 + ["1950"] * 20
    >>> for course in topics_over_time(model, texts, times=years, n_bins=2):
    ...     shares = [round(span.share, 1) for span in course.spans]
    ...     print(course.topic.title, shares, course.born, course.died)
    car [0.0, 1.0] 1 None
    cat, dog [1.0, 0.0] None 0
    """
    check_several(documents)
    texts = list(documents)
    given = values_of(texts, "time", times)
    edges, groups = _cut(given, usual_bins(given) if n_bins is None else n_bins)
    names = _names(edges, given)
    bag = counter_of(model).count(texts, model.vectors_)
    log_unknown(bag.report)  # documents without a known word are not counted, and so can be seen
    seen = _see(model, bag.counts, groups, len(names))
    topics = [topic for topic in model.topics_ if not topic.is_null]
    enough = least / max(len(topics), 1)
    courses = []
    for topic in topics:
        means = seen.means(topic.index)
        words = _rises(seen, model.vectors_.words, topic.index, n_words)
        parts = zip(names, edges[:-1], edges[1:], seen.sizes, means, words, strict=True)
        spans = (
            TimeSpan(name, float(start), float(end), int(size), float(mean), words)
            for name, start, end, size, mean, words in parts
        )
        courses.append(Course(topic, tuple(spans), *_life(seen, topic.index, means >= enough)))
    return Courses(courses)


def parse_time(time: str) -> float:
    """Read a year, an ISO date or a number; dates become years with a fraction.

    Examples
    --------
    >>> parse_time("2019"), parse_time("2019-07-02"), parse_time("1.5")
    (2019.0, 2019.498..., 1.5)
    """
    written = time.strip()
    if _is_number(written):
        return float(written)
    try:
        moment = datetime.fromisoformat(
            f"{written}-01" if re.fullmatch(r"\d{4}-\d{2}", written) else written
        )
    except ValueError as error:
        raise DataError(
            f"expected a year, an ISO date such as 2019-07-02 or a number, found {time!r}"
        ) from error
    seconds = 3600 * moment.hour + 60 * moment.minute + moment.second
    return moment.year + (moment.timetuple().tm_yday - 1 + seconds / 86400) / _YEAR


def _is_number(time: str) -> bool:
    return bool(re.fullmatch(r"[-+]?\d+(\.\d*)?", time.strip()))


def usual_bins(times: Sequence[str], most: int = 24) -> int:
    """Say how many spans of time to make of so many documents.

    Examples
    --------
    >>> usual_bins(["2019-02-11", "2021-10-03"] * 70), usual_bins(["2019", "2021"] * 70)
    (7, 3)
    """
    n_bins = max(6, min(len(times) // 20, most))
    moments = [parse_time(time) for time in times]
    if any(moment % 1 for moment in moments):
        return n_bins
    return min(n_bins, int(max(moments) - min(moments)) + 1)


def _cut(times: Sequence[str], n_bins: int) -> tuple[Floats, Ints]:
    """Cut time into B equal spans: their edges (B + 1,), and the span of each time."""
    if not 1 <= n_bins <= _MOST_BINS:
        raise DataError(f"n_bins must be between 1 and {_MOST_BINS}; found {n_bins}")
    moments = np.array([parse_time(time) for time in times])
    low, high = float(moments.min()), float(moments.max())
    if high == low or (moments % 1 == 0).all():
        high += 1  # the last year ends when the next begins
    edges = np.linspace(low, high, n_bins + 1)
    return edges, np.clip(np.searchsorted(edges, moments, "right") - 1, 0, n_bins - 1)


def _names(edges: Floats, times: Sequence[str]) -> list[str]:
    """Name spans by when they begin, as exactly as they are long."""
    starts, length = edges[:-1], edges[1] - edges[0]
    if all(re.fullmatch(r"[-+]?\d+", time.strip()) for time in times):
        return [f"{start:.0f}" for start in np.ceil(starts.round(6))]  # the first year inside
    if all(map(_is_number, times)):
        return [f"{start:.10g}" for start in starts.round(2 if length < 10 else 0)]
    if not date.min.year <= starts[0] <= starts[-1] < date.max.year:
        raise DataError("dates and years before 1 or after 9998 cannot be put together")
    days = [date(int(start), 1, 1) + timedelta(start % 1 * _YEAR + 1e-6) for start in starts]
    exact = 4 if length >= 1 else 7 if length >= 1 / 12 else 10
    return [day.isoformat()[:exact] for day in days]


class _Seen(NamedTuple):
    """Documents of B spans as a model sees them; those without a known word are left out."""

    groups: Ints  # (D,), the span of each, in order
    shares: Floats  # (D, K), the topics' parts of their words
    masses: list[csc_array]  # (W, K) for each span: expected tokens of the words in the topics
    squares: list[csc_array]  # the same of the documents' tokens, each squared

    @property
    def sizes(self) -> Ints:
        return np.bincount(self.groups, minlength=len(self.masses))

    def means(self, topic: int) -> Floats:
        sums = np.bincount(self.groups, self.shares[:, topic], minlength=len(self.masses))
        return np.asarray(sums / np.maximum(self.sizes, 1))


def _see(model: TopicVec, counts: csr_array, groups: Ints, n_spans: int) -> _Seen:
    fitted, engine = model.fitted_, resolve_engine(model.n_jobs)
    known = np.asarray(counts.sum(axis=1) > 0)
    counts, groups = counts[known], groups[known]
    shares, masses, squares = [], [], []
    for span in range(n_spans):
        inside = counts[groups == span]
        inferred = infer(fitted, inside, engine)
        expected = inferred.theta - fitted.alpha  # what the documents say, without the prior
        shares.append(expected / np.asarray(inside.sum(axis=1))[:, None])
        masses.append(csc_array(word_masses(inferred, len(fitted.vectors))))
        squares.append(csc_array(_squares(inferred, len(fitted.vectors))))
    return _Seen(np.sort(groups), np.concatenate(shares), masses, squares)


def _squares(inferred: Inferred, n_words: int) -> csr_array:
    """Sum up the squares of what each document has of a word in a topic, (W, K)."""
    corpus = inferred.corpus
    sums = np.zeros(inferred.table.shape)
    for shard in corpus.shards:
        owners = np.repeat(np.arange(len(shard.group)), np.diff(shard.indptr)) + shard.rows.start
        for start in range(0, len(owners), _CELLS):
            cells = slice(start, start + _CELLS)
            tokens = inferred.responsibilities(owners[cells], corpus.types[shard.words[cells]])
            tokens *= shard.counts[cells, None]
            np.add.at(sums, shard.words[cells], tokens.astype(float) ** 2)
    return word_table(sums, corpus.types, n_words)


def _life(seen: _Seen, topic: int, there: NDArray[np.bool_]) -> tuple[int | None, int | None]:
    """Find the spans in which a topic is born and dies."""
    if not there.any():
        return None, None
    first, last = np.flatnonzero(there)[[0, -1]].tolist()
    shares = seen.shares[:, topic]
    born = first if _lack(shares, seen.groups < first) else None
    return born, last if _lack(shares, seen.groups > last) else None


def _lack(shares: Floats, chosen: NDArray[np.bool_]) -> bool:
    """Say whether some of the documents have less of a topic than they would by chance."""
    from scipy.special import betainc

    total = float(shares.sum())
    if not chosen.any():
        return False
    n_carriers = total**2 / float(shares @ shares)
    n_found = n_carriers * float(shares[chosen].sum()) / total
    # the binomial distribution up to a number that need not be whole
    return bool(betainc(n_carriers - n_found, n_found + 1, 1 - chosen.mean()) < _SELDOM)


def _rises(seen: _Seen, words: Sequence[str], topic: int, n_words: int) -> list[tuple[Rise, ...]]:
    """List for each span the words that a topic has more of than elsewhere."""
    columns = [mass[:, [topic]] for mass in seen.masses]
    rows = np.unique(np.concatenate([column.indices for column in columns]))
    tokens, squares = (
        np.column_stack([table[:, [topic]].toarray()[rows, 0].astype(float) for table in tables])
        for tables in (seen.masses, seen.squares)
    )
    expected = np.outer(tokens.sum(axis=1), tokens.sum(axis=0)) / max(tokens.sum(), 1e-300)
    scores = _log_likelihood_ratio(tokens, expected)
    scores[~_beyond_chance(tokens, squares)] = 0
    found = []
    for score, own, usual in zip(scores.T, tokens.T, expected.T, strict=True):
        best = [w for w in np.argsort(-score, kind="stable")[:n_words] if score[w]]
        found.append(
            tuple(Rise(words[rows[w]], float(own[w]), float(own[w] / usual[w])) for w in best)
        )
    return found


def _beyond_chance(tokens: Floats, squares: Floats) -> NDArray[np.bool_]:
    """Say which words (words, B) are more frequent in spans than chance explains."""
    from scipy.special import betainc

    total = tokens.sum(axis=1, keepdims=True)
    parts = tokens.sum(axis=0) / max(tokens.sum(), 1e-300)  # of the topic in each span
    overall = np.maximum(squares.sum(axis=1, keepdims=True) / np.maximum(total, 1e-300), 1)
    bursts = np.maximum(squares / np.maximum(tokens, 1e-300), overall)
    inside, outside = tokens / bursts, (total - tokens).clip(0) / overall
    # the binomial distribution from a number on that need not be whole
    chances = betainc(np.maximum(inside, 1e-300), outside + 1, parts)
    chances[total[:, 0] < 2 * overall[:, 0]] = np.inf  # what occurs once cannot rise
    ranked = np.sort(chances[np.isfinite(chances)])
    allowed = ranked[ranked <= _FALSE * np.arange(1, ranked.size + 1) / max(ranked.size, 1)]
    return np.asarray(chances <= allowed.max(initial=-1.0))


def _log_likelihood_ratio(tokens: Floats, expected: Floats) -> Floats:
    """Compare tokens in each span (words, B), and in the other spans, with those expected."""
    from scipy.special import rel_entr

    total = tokens.sum(axis=1, keepdims=True)
    rest, expected_rest = total - tokens, total - expected
    inside, outside = rel_entr(tokens, expected), rel_entr(rest.clip(0), expected_rest.clip(0))
    return np.asarray(2 * (inside + outside))
