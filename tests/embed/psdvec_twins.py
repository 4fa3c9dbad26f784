"""Dense, literal, slow twins of the formulas in docs/explanation/psdvec.md, and small corpora."""

from collections import Counter

import numpy as np

from topicvec.embed.counting import count_cooccurrences
from topicvec.engine import one_blas_thread
from topicvec.text import Vocabulary

try:
    import cloudpickle  # joblib needs it
except ImportError:
    from joblib.externals import cloudpickle  # or, when older, brings it

WEIGHT = {
    "flat": lambda d, window: 1.0,
    "harmonic": lambda d, window: 1.0 / d,
    "linear": lambda d, window: (window + 1 - d) / window,
}


def zipf_corpus(n_words=60, n_documents=120, seed=0):
    """Documents of a Zipf law with topics, so that words have something to say of others."""
    rng = np.random.default_rng(seed)
    base = 1.0 / np.arange(1, n_words + 1)
    topics = [base * rng.gamma(0.3, size=n_words) + 1e-3 * base for _ in range(4)]
    documents = []
    for _ in range(n_documents):
        law = topics[rng.integers(4)]
        length = rng.integers(1, 60)
        ids = rng.choice(n_words, length, p=law / law.sum())
        documents.append([f"w{i:03d}" for i in ids])
    return documents


def vocabulary_of(documents, without=()):
    counts = Counter(token for tokens in documents for token in tokens)
    return Vocabulary.from_counts({w: n for w, n in counts.items() if w not in without})


def counted(documents=None, **settings):
    documents = zipf_corpus() if documents is None else documents
    return count_cooccurrences(documents, vocabulary_of(documents), n_jobs=1, **settings)


def literal_left_counts(documents, words, window, weighting):
    """x[i, j]: how often word i stands left of word j, pair by pair."""
    ids = {word: i for i, word in enumerate(words)}
    x = np.zeros((len(words), len(words)))
    for tokens in documents:
        for place, focus in enumerate(tokens):
            for distance in range(1, window + 1):
                if place - distance < 0:
                    break
                context = tokens[place - distance]
                if focus in ids and context in ids:
                    x[ids[context], ids[focus]] += WEIGHT[weighting](distance, window)
    return x


def literal_log_ratios(x, kappa, power=1.0, floor=-np.inf):
    """G_ij = ln((1−κ) x_ij/x_i· + κ u_j) − ln u_j."""
    u = x.sum(axis=0) ** power
    u = u / u.sum()
    with np.errstate(divide="ignore"):
        G = np.log((1 - kappa) * x / x.sum(axis=1)[:, None] + kappa * u) - np.log(u)
    return np.maximum(G, floor)


def literal_weights(x, saturated, unseen):
    """w_ij = min(√x_ij, c)/c with c the true quantile of the non-zero √x, from unseen up to 1."""
    roots = np.sort(np.sqrt(x[x > 0]))
    c = roots[min(int(np.ceil((1 - saturated) * roots.size)), roots.size - 1)]
    return unseen + (1 - unseen) * np.minimum(np.sqrt(x), c) / c


def literal_factorization(G, W, n_dims, n_iter, d):
    """The paper's iteration with full eigendecompositions, weights d_i² d_j² on top."""
    X = G / 2
    for t in range(1, n_iter + 1):
        G_t = W * G + (1 - W) * X
        S = (G_t + G_t.T) / 2
        values, Q = np.linalg.eigh(d[:, None] * S * d)
        kept = [i for i in np.argsort(-values)[: n_dims + n_iter - t] if values[i] > 0]
        V = Q[:, kept] * np.sqrt(values[kept]) / d[:, None]
        X = V @ V.T
    return V, values[kept]


def literal_regression(V, d, w12, w21, g12, g21, mu):
    """One word: weights and targets of both directions, then the normal equations."""
    w = w12 + w21
    g = (w12 * g12 + w21 * g21) / w
    A = V.T @ np.diag(d**2 * w) @ V + mu * np.eye(V.shape[1])
    return np.linalg.solve(A, V.T @ (d**2 * w * g))


class Copying:
    """Sends the function and each item away and back, as an engine of other machines does."""

    def map(self, function, items):
        for item in items:
            away = cloudpickle.loads(cloudpickle.dumps((function, item)))
            with one_blas_thread():
                result = away[0](away[1])
            yield cloudpickle.loads(cloudpickle.dumps(result))
