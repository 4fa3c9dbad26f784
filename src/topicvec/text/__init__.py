"""Files to documents, documents to words, words to counts."""

from topicvec.text.bag import Bag, BagReport, bag_of_words
from topicvec.text.document import Document
from topicvec.text.phrases import Phrases, find_phrases
from topicvec.text.prepared import PreparedCorpus, prepare
from topicvec.text.readers import read_documents
from topicvec.text.stopwords import corpus_stop_words, stop_words
from topicvec.text.tokenizer import Tokenizer, TokenSpan
from topicvec.text.transformer import BagOfWords, inverse_document_frequency, weigh
from topicvec.text.vocabulary import Vocabulary

__all__ = [
    "Bag",
    "BagOfWords",
    "BagReport",
    "Document",
    "Phrases",
    "PreparedCorpus",
    "TokenSpan",
    "Tokenizer",
    "Vocabulary",
    "bag_of_words",
    "corpus_stop_words",
    "find_phrases",
    "inverse_document_frequency",
    "prepare",
    "read_documents",
    "stop_words",
    "weigh",
]
