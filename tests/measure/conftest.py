import contextlib
import warnings

# some compiled packages do not survive an import where warnings are errors
with warnings.catch_warnings(), contextlib.suppress(ImportError):
    warnings.simplefilter("ignore")
    import gensim.models.coherencemodel  # noqa: F401
