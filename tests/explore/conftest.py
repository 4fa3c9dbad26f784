import pytest

from topicvec import TopicVec, datasets
from topicvec.explore import Collection
from topicvec.text import Document

ODD = {
    "script": '<script>alert("x")</script><img src=x onerror=alert(1)> & music on the sea',
    "emoji": "🎻 music 👩‍🚀 planets and 🌧️ rain",
    "arabic": "الموسيقى والمطر music in the middle وكواكب",
    "unknown": "qqqzzz wwwvvv",
    "empty": "",
    "surrogate": "half a pair \ud83c of music",
    "long": "The orchestra played music. Rain fell on the sea. " * 20_000,
}


@pytest.fixture(scope="session")
def model():
    return TopicVec(n_topics=8, random_state=0).fit(datasets.sample_corpus())


@pytest.fixture(scope="session")
def odd():
    """Places of the documents that are hard to show."""
    start = len(datasets.sample_corpus())
    return {name: start + i for i, name in enumerate(ODD)}


@pytest.fixture(scope="session")
def collection(model):
    odd_ones = [Document(name, text) for name, text in ODD.items()]
    return Collection.build(model, [*datasets.sample_corpus(), *odd_ones], "Test <b>corpus</b>")
