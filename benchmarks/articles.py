"""Topics of ten single articles, and those of LDA; a part of `topic_model.py`."""

from itertools import combinations
from typing import Any

import news
import numpy as np

from topicvec import TopicVec, load_vectors
from topicvec.text import Tokenizer, Vocabulary, bag_of_words, read_documents, stop_words

SEED = 0


def wiki_texts(n_shards: int) -> list[str]:
    shards = sorted((news.DATA / "wiki").glob("*.txt.xz"))[-n_shards:]
    found = read_documents(shards, format="tsv", header=False, id_column=0, text_column=1)
    return [document.text for document in found]


def ten_articles(texts: list[str]) -> list[str]:
    """Ten articles of 300 to 3,000 words, the first near each of ten lengths."""
    chosen = []
    for goal in np.geomspace(300, 3000, 10):
        chosen.append(
            next(t for t in texts if abs(len(t.split()) - goal) < 0.03 * goal and t not in chosen)
        )
    return chosen


class Reference:
    """Which reference articles have which words."""

    def __init__(self, texts: list[str]) -> None:
        vectors = load_vectors()
        vocabulary = Vocabulary(vectors.words, np.arange(len(vectors), 0, -1))
        bag = bag_of_words(map(Tokenizer(), texts), vocabulary)
        self.columns = (bag.counts > 0).astype(np.float32).tocsc()
        self.ids, self.n = vocabulary.ids, len(texts)

    def npmi(self, words: list[str]) -> float:
        ids = [self.ids[word] for word in words if word in self.ids]
        table = self.columns[:, ids]
        joint = (table.T @ table).toarray() / self.n
        values = []
        for i, j in combinations(range(len(ids)), 2):
            if joint[i, j] == 0:
                values.append(-1.0)
            elif joint[i, j] == 1:
                values.append(1.0)
            else:
                values.append(
                    np.log(joint[i, j] / (joint[i, i] * joint[j, j])) / -np.log(joint[i, j])
                )
        return float(np.mean(values)) if values else 0.0


def articles() -> dict[str, Any]:
    texts = wiki_texts(2)
    chosen, reference = ten_articles(texts), Reference(texts)
    rows = []
    for text in chosen:
        row: dict[str, Any] = {"words": len(text.split()), "seeds": []}
        for seed in range(3):
            model = TopicVec(19, stop_words="paper", random_state=seed).fit([text])
            live = [t for t in model.topics_ if t.share > 0.02 and t.index]
            T = model.topic_vectors_[[t.index for t in live]]
            T = T / np.linalg.norm(T, axis=1, keepdims=True)
            cosines = (T @ T.T)[np.triu_indices(len(T), 1)]
            coherence = [reference.npmi([w for w, _ in t.words[:10]]) for t in live]
            row["seeds"].append(
                {
                    "topics over 2%": len(live),
                    "largest cosine": round(float(cosines.max()), 3),
                    "mean NPMI": round(float(np.mean(coherence)), 3),
                    "distinct words": distinct([[w for w, _ in t.words[:10]] for t in live]),
                }
            )
        row.update(peers_on_article(text, reference))
        rows.append(row)
        print(row, flush=True)
    seeds = [seed for row in rows for seed in row["seeds"]]
    return {
        "fewest topics over 2%": min(seed["topics over 2%"] for seed in seeds),
        "largest cosine": max(seed["largest cosine"] for seed in seeds),
        "mean NPMI of TopicVec": round(float(np.mean([s["mean NPMI"] for s in seeds])), 3),
        "mean NPMI of gensim LDA": round(float(np.mean([r["gensim LDA"] for r in rows])), 3),
        "mean NPMI of tomotopy LDA": round(float(np.mean([r["tomotopy LDA"] for r in rows])), 3),
        "distinct words of TopicVec": round(
            float(np.mean([s["distinct words"] for s in seeds])), 3
        ),
        "distinct words of gensim LDA": round(
            float(np.mean([r["gensim LDA, distinct words"] for r in rows])), 3
        ),
        "distinct words of tomotopy LDA": round(
            float(np.mean([r["tomotopy LDA, distinct words"] for r in rows])), 3
        ),
        "articles": rows,
    }


def peers_on_article(text: str, reference: Reference) -> dict[str, float]:
    import tomotopy as tp
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    stop = stop_words("paper")
    tokens = [t for t in Tokenizer()(text) if t not in stop and t in reference.ids]
    ids = Dictionary([tokens])
    lda = LdaModel([ids.doc2bow(tokens)], 20, ids, passes=50, random_state=SEED)
    ours = [[w for w, _ in lda.show_topic(k, 10)] for k in range(20)]
    gibbs = tp.LDAModel(k=20, seed=SEED)
    gibbs.add_doc(tokens)
    gibbs.train(1000, workers=1)
    theirs = [[w for w, _ in gibbs.get_topic_words(k, 10)] for k in range(20)]
    found: dict[str, float] = {}
    for name, topics in (("gensim LDA", ours), ("tomotopy LDA", theirs)):
        found[name] = round(float(np.mean([reference.npmi(words) for words in topics])), 3)
        found[f"{name}, distinct words"] = distinct(topics)
    return found


def distinct(topics: list[list[str]]) -> float:
    """Share of different words among the ten words of all topics."""
    words = [word for topic in topics for word in topic]
    return round(len(set(words)) / len(words), 3)
