import pytest

from topicvec import TopicVec, datasets, load_vectors
from topicvec.text import Tokenizer


@pytest.fixture(scope="session")
def small_vectors():
    """Vectors of the words of the sample corpus: fits take no time."""
    texts = [document.text for document in datasets.sample_corpus()]
    words = dict.fromkeys(word for text in texts for word in Tokenizer()(text))
    vectors = load_vectors()
    return vectors.subset([word for word in words if word in vectors])


@pytest.fixture(scope="session")
def documents():
    return datasets.sample_corpus()[::3]


@pytest.fixture(scope="session")
def model(documents, small_vectors):
    return TopicVec(n_topics=7, vectors=small_vectors, random_state=0).fit(documents)
