"""TopicVec: topics as vectors, learned by variational EM whose bound never falls."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topicvec.model.counts import learn_vectors as learn_vectors
    from topicvec.model.fitted import FittedTopics as FittedTopics
    from topicvec.model.reading import Topic as Topic
    from topicvec.model.reading import document_topics as document_topics
    from topicvec.model.reading import read_topics as read_topics
    from topicvec.model.selection import choose_n_topics as choose_n_topics
    from topicvec.model.selection import count_topics as count_topics
    from topicvec.model.state import PaperSolver as PaperSolver
    from topicvec.model.state import Solver as Solver
    from topicvec.model.state import StepInfo as StepInfo
    from topicvec.model.topicvec import TopicVec as TopicVec

_NAMES = {
    "counts": "learn_vectors",
    "fitted": "FittedTopics",
    "reading": "Topic document_topics read_topics",
    "selection": "choose_n_topics count_topics",
    "state": "PaperSolver Solver StepInfo",
    "topicvec": "TopicVec",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    # Imported when first used: one who needs the equations does not wait for the estimator.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
