"""Make the table that says how much the words of the embedded vectors tell.

    python scripts/telling_words.py WIKI

WIKI is a folder of ``title<TAB>text`` lines, as for ``default_vectors.py``. About ten minutes.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np

from topicvec.embed import load_vectors
from topicvec.embed.telling import CERTAIN, FILLER, TYPICAL, residual_idf, write_telling
from topicvec.text import Tokenizer, read_documents

FILE = Path(__file__).resolve().parents[1] / "src/topicvec/embed/data/telling.safetensors"


def main(folder: str) -> None:
    ids, tokenize = load_vectors().ids, Tokenizer()
    tokens, documents, lengths = np.zeros(len(ids)), np.zeros(len(ids)), []
    shards = sorted(Path(folder).glob("*.txt.xz"))
    found = read_documents(shards, format="tsv", header=False, id_column=0, text_column=1)
    for article in found:
        counts = Counter(tokenize(article.text))
        lengths.append(counts.total())
        rows = np.array([ids[word] for word in counts if word in ids], int)
        documents[rows] += 1
        tokens[rows] += [n for word, n in counts.items() if word in ids]
    values = residual_idf(tokens, documents, np.maximum(lengths, 1.0))
    values = (tokens * values + CERTAIN * TYPICAL) / (tokens + CERTAIN)
    about = {"corpus": load_vectors().metadata["corpus"], "n_documents": str(len(lengths))}
    write_telling(FILE, values, about | {"command": "python scripts/telling_words.py WIKI"})
    print(f"{FILE.name}: {np.count_nonzero(values < FILLER):,} of {len(ids):,} words tell nothing")


if __name__ == "__main__":
    main(sys.argv[1])
