"""A million short documents stream from file to counts; only the counts take memory."""

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from topicvec.text import Vocabulary

MEGABYTE = 2**20

SCRIPT = """
import sys
from topicvec.text import Tokenizer, Vocabulary, bag_of_words, read_documents

def peak():  # unlike ru_maxrss it starts anew with each program
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))

path, vocabulary = sys.argv[1], Vocabulary.load(sys.argv[2])
tokenize = Tokenizer()
before = peak()
documents = read_documents(path, format="lines")
tokens = (tokenize(document.text) for document in documents)
counts = bag_of_words(tokens, vocabulary, max_unknown=10_000).counts
print(peak() - before, counts.shape[0], counts.data.sum())
print(counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes)
"""


def spelled(number):
    """Write a number in letters, as a word of its own."""
    return str(number).translate(str.maketrans("0123456789", "abcdefghij"))


WORDS = [f"word{spelled(number)}" for number in range(1000)]


def lines():
    """Yield endless short documents: four known words and one seen only once."""
    for number in range(10**9):
        a, b, c = WORDS[number % 997], WORDS[number % 991], WORDS[number % 983]
        yield f"{a}, {b}: {c} {a}; once{spelled(number)}\n"


def peak_and_matrix(folder, n_documents):
    """Stream a corpus in a process of its own; return its peak memory and that of the counts."""
    corpus, vocabulary = folder / "corpus.txt", folder / "vocabulary.tsv"
    with corpus.open("w") as stream:
        stream.writelines(islice(lines(), n_documents))
    Vocabulary(WORDS, [1] * len(WORDS)).save(vocabulary)
    command = [sys.executable, "-c", SCRIPT, str(corpus), str(vocabulary)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    peak, rows, tokens, matrix = map(int, output.split())
    assert (rows, tokens) == (n_documents, 4 * n_documents)
    return peak, matrix


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads peak memory from Linux")
def test_peak_memory_grows_with_the_count_matrix_and_nothing_else(tmp_path):
    small, small_matrix = peak_and_matrix(tmp_path, 100_000)
    large, large_matrix = peak_and_matrix(tmp_path, 1_000_000)
    growth, matrix = large - small, large_matrix - small_matrix
    # Half the matrix more is room for growing arrays; the tokens alone would be ten times it.
    assert growth < 1.5 * matrix + 8 * MEGABYTE, (small, large, small_matrix, large_matrix)
