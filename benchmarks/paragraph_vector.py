"""Is Paragraph Vector TopicVec with one topic a document? Neighbours of 500 documents, both ways.

    TOPICVEC_DATA=/path/to/data python benchmarks/paragraph_vector.py

PV-DBOW learns document vectors d and output vectors o of words so that σ(o_w·d) tells the words of
a document from noise. At its maximum, log P(w|d) = o_w·d + log P_noise(w) + a constant: TopicVec's
link with one topic, v = o, t = d and u = P_noise, the frequencies to the power 0.75. So with o as
word vectors, one topic is fitted to each document (``TopicVec, K = 1`` of the laboratory), and the
ten nearest neighbours of each document by one are held against those by the other. Two settings
of u, and one with the embedded vectors; controls are mean vectors of the same words, and topics
of other documents. Another seed of PV-DBOW says how far it agrees with itself, and its own
objective brought to the maximum by L-BFGS, with the same o, how far it is from its end: stochastic
gradients stop earlier, at shorter vectors, so topics are held to the median length of document
vectors. That length was chosen after a first run at 20 epochs, where topics as long as the longest
document vector agreed in 0.32 of the neighbours. Other lengths were tried: after 20 epochs length 1
agrees in 0.65, after 100 epochs in 0.50, length 2 in 0.64 and length 5 in 0.69.
Documents are of the training part of Reuters. Writes
``results/paragraph_vector.json``. Needs the laboratory: ``pip install ./bench``.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from topicvec_bench.base import TokenLists, require
from topicvec_bench.corpora import CORPORA, known_tokens
from topicvec_bench.paragraph import Lexicon, fit_document_topics
from topicvec_bench.registry import make
from topicvec_bench.tokens import number_tokens
from topicvec_bench.twe import NOISE_POWER, fit_skip_gram_topics

from topicvec import load_vectors

RESULTS = Path(__file__).parent / "results" / "paragraph_vector.json"
N_NEIGHBOURS = 10
Floats = NDArray[np.floating]


def neighbours(vectors: Floats) -> NDArray[np.integer]:
    """Give the nearest other documents of each by the cosine, (D, 10)."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    return np.argsort(-cosines, axis=1, kind="stable")[:, :N_NEIGHBOURS]


def agreement(one: Floats, other: Floats) -> float:
    """Give the share of nearest neighbours that two kinds of vectors have in common."""
    pairs = zip(neighbours(one), neighbours(other), strict=True)
    return float(np.mean([len(np.intersect1d(a, b)) / N_NEIGHBOURS for a, b in pairs]))


def train_dbow(documents: TokenLists, n_dims: int, n_epochs: int, seed: int) -> Any:
    """Train PV-DBOW as it was published: no word foretells another."""
    gensim = require("gensim.models.doc2vec", "PV-DBOW")
    tagged = [gensim.TaggedDocument(list(row), [i]) for i, row in enumerate(documents)]
    return gensim.Doc2Vec(
        tagged, dm=0, dbow_words=0, vector_size=n_dims, min_count=2, negative=5, sample=0,
        ns_exponent=NOISE_POWER, epochs=n_epochs, seed=seed, workers=1,
    )  # fmt: skip


def compare(documents: TokenLists, rows: NDArray[np.integer], model: Any, again: Any) -> Any:
    """Give how far PV-DBOW's document vectors agree with each other kind, and how long they are."""
    outputs, words = model.syn1neg, model.wv.index_to_key
    chosen = [documents[row] for row in rows]
    tokens = number_tokens(documents, model.wv.key_to_index)
    counts = number_tokens(chosen, model.wv.key_to_index).counts(len(words))
    means = (counts @ outputs) / counts.sum(1)[:, None]
    frequency = np.bincount(tokens.words, minlength=len(words))
    dbow = model.dv.vectors[rows]
    radius = float(np.median(np.linalg.norm(dbow, axis=1)))
    topics = {
        "noise": fit_document_topics(means, Lexicon.of(outputs, frequency**NOISE_POWER), radius),
        "counts": fit_document_topics(means, Lexicon.of(outputs, frequency * 1.0), radius),
    }
    own = make("TopicVec, K = 1", vectors=load_vectors(None)).fit(documents).transform(chosen)
    shuffled = np.random.default_rng(0).permutation(topics["noise"])
    ended = fit_skip_gram_topics(0 * dbow, counts.toarray() * 1.0, outputs, frequency)
    kinds = {
        "PV-DBOW at its maximum": ended,
        "PV-DBOW, another seed": again.dv.vectors[rows],
        "TopicVec, K = 1, its output vectors, u by noise": topics["noise"],
        "TopicVec, K = 1, its output vectors, u by counts": topics["counts"],
        "TopicVec, K = 1, embedded vectors": own,
        "control: mean of its output vectors": means,
        "control: mean of embedded vectors": make("MeanWV").fit(documents).transform(chosen),
        "control: topics of other documents": shuffled,
    }
    cosine = np.sum(dbow * topics["noise"], axis=1)
    cosine /= np.linalg.norm(dbow, axis=1) * np.linalg.norm(topics["noise"], axis=1)
    return {
        "agreement with PV-DBOW": {k: round(agreement(dbow, v), 3) for k, v in kinds.items()},
        "by chance": round(N_NEIGHBOURS / (len(rows) - 1), 3),
        "median cosine of topic (u by noise) and PV-DBOW": round(float(np.median(cosine)), 3),
        "median length": {
            "PV-DBOW": round(float(np.median(np.linalg.norm(dbow, axis=1))), 2),
            "PV-DBOW at its maximum": round(float(np.median(np.linalg.norm(ended, axis=1))), 2),
            "topic": round(float(np.median(np.linalg.norm(topics["noise"], axis=1))), 2),
        },
    }


def main() -> None:
    """Train, compare, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=500)
    parser.add_argument("--dims", type=int, default=50)
    parser.add_argument("--epochs", type=int, nargs="+", default=[20, 100])
    given = parser.parse_args()
    train = known_tokens(CORPORA["reuters"]("train"), load_vectors(None)).documents
    documents = [tokens for tokens in train if len(tokens) >= 20]
    rows = np.linspace(0, len(documents) - 1, given.documents).astype(int)
    found = {}
    for n_epochs in given.epochs:
        start = time.perf_counter()
        models = [train_dbow(documents, given.dims, n_epochs, seed) for seed in (0, 1)]
        found[f"{n_epochs} epochs"] = compare(documents, rows, *models)
        found[f"{n_epochs} epochs"]["seconds"] = round(time.perf_counter() - start, 1)
    about = {"corpus": "reuters, training part", "documents": len(rows), "dimensions": given.dims}
    result = {**about, "trained on": len(documents), "neighbours": N_NEIGHBOURS, **found}
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
