"""Files to documents, documents to words, words to counts."""

from typing import TYPE_CHECKING

from topicvec.text.bag import Bag, BagReport, bag_of_words
from topicvec.text.document import Document
from topicvec.text.readers import read_documents
from topicvec.text.stopwords import stop_words
from topicvec.text.tokenizer import Tokenizer
from topicvec.text.vocabulary import Vocabulary
from topicvec.text.weights import inverse_document_frequency, weigh

if TYPE_CHECKING:
    from topicvec.text.transformer import BagOfWords

__all__ = [
    "Bag",
    "BagOfWords",
    "BagReport",
    "Document",
    "Tokenizer",
    "Vocabulary",
    "bag_of_words",
    "inverse_document_frequency",
    "read_documents",
    "stop_words",
    "weigh",
]


def __getattr__(name: str) -> object:
    if name == "BagOfWords":  # brings scikit-learn, whose import takes seconds
        from topicvec.text.transformer import BagOfWords

        return BagOfWords
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
