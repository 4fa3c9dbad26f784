"""How work is spread over threads and processes; knows nothing of topics.

An engine is anything with a ``map`` that keeps the order of its items. Callers cut their work
into pieces that do not depend on the number of workers and add the results in order, so every
engine and every worker count gives the same bits. A mapped function returns its piece and writes
into nothing outside itself, so an engine may copy functions and items to wherever it likes; only
where ``shares_memory`` says that nothing is copied are running fits themselves mapped.

`topicvec.engine.dask`, the engine of a Dask cluster, is imported when it is asked for.
"""

from topicvec.engine.base import Engine, Part, Round, advance, fold, hold, is_connection, near
from topicvec.engine.local import (
    InPlace,
    LocalEngine,
    interrupts_held,
    one_blas_thread,
    resolve_engine,
)

__all__ = [
    "Engine",
    "InPlace",
    "LocalEngine",
    "Part",
    "Round",
    "advance",
    "fold",
    "hold",
    "interrupts_held",
    "is_connection",
    "near",
    "one_blas_thread",
    "resolve_engine",
]
