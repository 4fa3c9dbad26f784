import pytest

from topicvec import TopicVec, WordVectors, load_vectors
from topicvec.datasets import sample_corpus
from topicvec.text import Tokenizer


@pytest.fixture(scope="session")
def documents():
    return sample_corpus()


@pytest.fixture(scope="session")
def vectors(documents):
    """The embedded vectors, cut to few words and the first dimensions, so that fits are quick."""
    tokenize, known = Tokenizer(), load_vectors()
    words = {word for document in documents for word in tokenize(document.text)}
    few = known.subset(sorted(word for word in words if word in known))
    return WordVectors(few.words, few.matrix[:, :100], few.unigram)


@pytest.fixture(scope="session")
def model(documents, vectors):
    return TopicVec(11, vectors, random_state=0).fit(documents)
