"""Topics with words of their own: φ_k ~ Dir(m P(·|t_k)), inside EM.

A topic's distribution over words is not what its vector says but drawn around it, as if the
vector had been seen m times. With C_wk the expected tokens of word w in topic k, a_wk = m P(w|k):

    P~(w|k) = (C_wk + a_wk) / (C_k + m)              is what the E-step uses,
    S_wk    = a_wk log(1 + C_wk / a_wk)  ≤  C_wk     are the tokens that the vector answers for.

m = ∞ is the paper's model (P~ = P, S = C); with small m the counts rule, as in LDA. A word
without a vector has v = 0: its prior is the same in all topics but for r_k, and its own tokens
place it. The bound is that of the paper with P~ for P, less m KL(P ‖ P~) for each topic. It rises
in each part: the mixtures (E-step), P~ (its best value is the formula above), and the topics: at
the best P~ they have Σ_w (C + a) log(C + a) − a log a of it, which is convex in log a with slope
S, so its tangent Σ_w S_wk log P(w|k), the M-step's old problem with S in place of C, is a lower
bound that touches it (test_the_tangent_of_the_m_step_is_a_lower_bound,
test_the_bound_with_own_words_never_falls).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from topicvec.engine import Engine, near
from topicvec.model import equations

__all__ = ["OwnWords", "better_pseudo", "find_pseudo", "own_moment"]

Floats = NDArray[np.floating]

_WIDEST = 1e3  # by which m is first changed; so it is found up to a million times less or more
_LEAST = 1e-6  # tokens, so that a word without any divides by something


class OwnWords(NamedTuple):
    """The tokens that give topics words of their own.

    Attributes
    ----------
    counts : array, (U, K)
        C of the word types.
    unigram : array, (U,)
        Their probabilities.
    pseudo : array, (K,)
        m of each topic; infinite for one without words of its own.
    totals : array, (K,), optional
        C_k of all words, if these are not all.
    """

    counts: Floats
    unigram: Floats
    pseudo: Floats
    totals: Floats | None = None

    @property
    def spread(self) -> Floats:
        """log(1 + C_k / m_k) of each topic, (K,)."""
        totals = self.counts.sum(axis=0, dtype=float) if self.totals is None else self.totals
        return equations.own_spread(totals, self.pseudo)

    def cut(self, sizes: Sequence[int]) -> Iterator["OwnWords"]:
        """Cut into consecutive pieces of so many word types."""
        start = 0
        for size in sizes:
            rows = slice(start, start + size)
            yield OwnWords(self.counts[rows], self.unigram[rows], self.pseudo, self.totals)
            start += size

    def price(self, lifted: Floats) -> float:
        """What words of their own take from the bound, from Σ_w a x of each topic."""
        k = np.isfinite(self.pseudo)
        return float((lifted[k] - self.pseudo[k] * self.spread[k]).sum())

    def rise(self, counts: Floats, gained: Floats) -> float:
        """What the bound gains when P~ takes new tokens, from Σ_w (C + a)(x − x before)."""
        k, totals = np.isfinite(self.pseudo), counts.sum(axis=0, dtype=float)
        more = equations.own_spread(totals, self.pseudo) - self.spread
        return float((gained[k] - (totals[k] + self.pseudo[k]) * more[k]).sum())

    def pay(self, spread: Floats) -> Floats:
        """Say what each word pays for the lift of others, (U, K) or (U, 1) of it, from the spread.

        A word that no topic has tokens of pays the same in all, the most: else every text with
        new words would seem to be of the null topic, which lifts none, or of small ones
        (test_new_words_do_not_push_a_text_into_the_null_topic).
        """
        seen = np.asarray(self.counts.any(axis=1))
        return spread if seen.all() else np.where(seen[:, None], spread, spread.max())

    def lift(self, exponent: Floats, counts: Floats | None = None) -> tuple[Floats, Floats]:
        """Give a and x = log(1 + C/a) (n, K) at the `logits`; both 0 where C is, or m is infinite.

        Most words are in few topics, so most of the work is left out.
        """
        C = self.counts if counts is None else counts
        some = np.flatnonzero((C > 0) & np.isfinite(self.pseudo))
        words, topics = np.divmod(some, C.shape[1])
        a, x = np.zeros(C.shape), np.zeros(C.shape)
        theirs = self.pseudo[topics, None], self.unigram[words], exponent.ravel()[some, None]
        a.ravel()[some] = tokens = equations.pseudo_counts(*theirs)[:, 0]
        x.ravel()[some] = equations.own_lift(C.ravel()[some].astype(float), tokens)
        return a, x


def own_moment(
    residuals: Floats, pseudo: Floats, V: Floats, dots: Floats, before: Floats, unigram: Floats,
    C: Floats,
) -> tuple[Floats, Floats, Floats, Floats]:  # fmt: skip
    """Sum up a block of word types: C itself, its S and moment, and what the bound gains.

    Parameters
    ----------
    residuals, pseudo : arrays, (K,)
        r and m.
    V, dots : arrays, (n, N), (n, K)
        Vectors of the words and their v·t.
    before, unigram : arrays, (n, K), (n,)
        Their tokens in the topics before, and their probabilities.
    C : array, (n, K)
        Their tokens now.

    Returns
    -------
    C, drawn, moment, gained : arrays, (n, K), (K,), (K, N), (K,)
        What is gained is Σ (C + a) (x − x before), see `OwnWords.rise`.
    """
    own, exponent = OwnWords(before, unigram, pseudo), dots.astype(float) + residuals
    a_before, old = own.lift(exponent)
    a, x = (a_before, old) if C is before else own.lift(exponent, C)
    S = np.where(np.isfinite(pseudo), a * x, C)
    gained = ((C + np.maximum(a, a_before)) * (x - old)).sum(axis=0)
    return C, S.sum(axis=0), equations.moment(V, S.astype(V.dtype)), gained


def find_pseudo(
    engine: Engine, own: OwnWords, pieces: Sequence[Floats], residuals: Floats
) -> float:
    """Find m, one for all topics, where the evidence of the Dirichlet-multinomial is largest.

    From the present m, by halving the range of log m; within 3%.
    """
    m, step = float(own.pseudo[np.isfinite(own.pseudo)][0]), _WIDEST
    while step > 1.03:
        m = m * step if better_pseudo(engine, own, pieces, residuals, m) > m else m / step
        step = step**0.5
    return m


def better_pseudo(
    engine: Engine, own: OwnWords, pieces: Sequence[Floats], residuals: Floats, m: float
) -> float:
    """Improve m by Minka's fixed point (2000): expected tables over their number if m were right.

    Tokens are fractions; the counts behind them are taken for Poisson, of which a positive one
    has the mean C / (1 − e^−C).
    """
    finite = np.isfinite(own.pseudo)
    now = OwnWords(own.counts, own.unigram, np.where(finite, m, np.inf))
    pairs = zip(pieces, now.cut([len(piece) for piece in pieces]), strict=True)
    tables = sum(near(engine).map(partial(_tables, residuals), pairs))
    totals = own.counts.sum(axis=0, dtype=float)[finite]
    return float(tables / (digamma(m + totals) - digamma(m)).sum())


def _tables(residuals: Floats, pair: tuple[Floats, OwnWords]) -> float:
    """Expected tables of the Chinese restaurant: draws from what the vectors say."""
    dots, own = pair
    some = np.flatnonzero((own.counts > 0) & np.isfinite(own.pseudo))
    words, topics = np.divmod(some, own.counts.shape[1])
    exponent = dots.ravel()[some].astype(float) + residuals[topics]
    a = equations.pseudo_counts(own.pseudo[topics, None], own.unigram[words], exponent[:, None])
    a, C = a[:, 0], np.maximum(own.counts.ravel()[some].astype(float), _LEAST)
    open_tables = -np.expm1(-C)
    return float((open_tables * a * (digamma(a + C / open_tables) - digamma(a))).sum())
