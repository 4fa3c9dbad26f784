"""A description of any tokenizer that stays the same from run to run."""

import dataclasses
import hashlib
import re
from collections.abc import Callable
from functools import partial
from types import CodeType, ModuleType
from typing import Any

__all__ = ["describe_tokenizer"]

PLAIN = (str, bytes, int, float, complex, bool, type(None), re.Pattern)


def describe_tokenizer(tokenizer: Callable[..., Any]) -> str:
    """Say in one line which tokenizer this is, without memory addresses.

    Functions are known by module and name, lambdas and local functions also by their code,
    dataclasses by their fields, other objects by their type only.

    Examples
    --------
    >>> from topicvec.text import Tokenizer
    >>> describe_tokenizer(str.split), describe_tokenizer(Tokenizer())
    ('str.split', "topicvec.text.tokenizer.Tokenizer(rules='default')")
    """
    if isinstance(tokenizer, partial):
        named = [f"{name}={_describe(tokenizer.keywords[name])}" for name in tokenizer.keywords]
        parts = [describe_tokenizer(tokenizer.func), *map(_describe, tokenizer.args), *named]
        return f"partial({', '.join(parts)})"
    if not hasattr(tokenizer, "__qualname__"):
        return _describe_object(tokenizer)
    owner = getattr(tokenizer, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):  # a method of some object
        return f"{_describe(owner)}.{tokenizer.__name__}"
    code = getattr(tokenizer, "__code__", None)
    local = "<" in tokenizer.__qualname__ and code is not None
    return _name(tokenizer) + (f" {_digest(tokenizer)}" if local else "")


def _describe(value: Any) -> str:
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, CodeType):
        return _describe_code(value)
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_describe, value))})"
    if isinstance(value, set | frozenset):  # in an order of its own in each process
        return f"{{{', '.join(sorted(map(_describe, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_describe(k)}: {_describe(v)}' for k, v in value.items())}}}"
    return describe_tokenizer(value) if callable(value) else _describe_object(value)


def _describe_object(value: Any) -> str:
    name = _name(type(value))
    if not dataclasses.is_dataclass(value):
        return name
    names = [field.name for field in dataclasses.fields(value)]
    return f"{name}({', '.join(f'{n}={_describe(getattr(value, n))}' for n in names)})"


def _name(thing: Any) -> str:
    module = getattr(thing, "__module__", None)
    return f"{module}.{thing.__qualname__}" if module else str(thing.__qualname__)


def _digest(function: Any) -> str:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    cells = [cell for cell in cells if cell is not function]  # a function may call itself
    known = (function.__code__, cells, function.__defaults__, function.__kwdefaults__)
    return hashlib.blake2b(_describe(known).encode(), digest_size=8).hexdigest()


def _describe_code(code: CodeType) -> str:
    # Names too: text.split() and text.lower() have the same bytes and constants.
    return f"{code.co_code.hex()} {_describe(code.co_consts)} {code.co_names}"
