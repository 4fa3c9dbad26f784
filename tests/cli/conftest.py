import json

import pytest

from topicvec import WordVectors, datasets, load_vectors
from topicvec.cli.main import call
from topicvec.text import Tokenizer


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="session")
def corpus(folder):
    """The bundled corpus as JSON lines, with ids and classes."""
    path = folder / "corpus.jsonl"
    rows = (
        {"id": document.id, "label": document.label, "text": document.text}
        for document in datasets.sample_corpus()
    )
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def vectors(folder):
    """The embedded vectors, cut to few words and the first dimensions, so that fits are quick."""
    tokenize, known = Tokenizer(), load_vectors()
    texts = [*(document.text for document in datasets.sample_corpus()), datasets.sample_article()]
    words = {word for text in texts for word in tokenize(text)}
    few = known.subset(sorted(word for word in words if word in known))
    path = folder / "few.safetensors"
    WordVectors(few.words, few.matrix[:, :50], few.unigram).save(path)
    return path


@pytest.fixture(scope="session")
def model(folder, corpus, vectors):
    """A model of the corpus, made by the command itself."""
    path = folder / "corpus.topicvec"
    arguments = ["fit", str(corpus), "-o", str(path), "-k", "9", "--vectors", str(vectors), "-q"]
    assert call(arguments) == 0
    return path


@pytest.fixture
def article(tmp_path):
    path = tmp_path / "article.txt"
    path.write_text(datasets.sample_article(), encoding="utf-8")
    return path
