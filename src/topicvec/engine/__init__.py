"""How work is spread over threads and processes; knows nothing of topics.

An engine is anything with a ``map`` that keeps the order of its items. Callers cut their work
into pieces that do not depend on the number of workers and add the results in order, so every
engine and every worker count gives the same bits.
"""

from topicvec.engine.base import Engine
from topicvec.engine.local import InPlace, LocalEngine, resolve_engine

__all__ = ["Engine", "InPlace", "LocalEngine", "resolve_engine"]
