"""``topicvec relabel`` and ``merge``: topics of a saved model with other names, or joined."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from topicvec.cli import options as opts
from topicvec.cli import render
from topicvec.errors import DataError

if TYPE_CHECKING:
    from topicvec.model import TopicVec

__all__ = ["merge", "relabel"]


def relabel(
    model: opts.ModelFile,
    labels: Annotated[
        list[str], opts.argument("Number and name of a topic.", metavar="NUMBER=NAME...")
    ],
    output: opts.Output,
) -> None:
    """Give topics of a model names of your own; a name of nothing takes one away.

    Example: topicvec relabel corpus.topicvec 3="sea trade" 5= -o corpus.topicvec
    """
    found: dict[int, str | None] = {}
    for label in labels:
        number, sign, name = label.partition("=")
        if not (sign and number.isdecimal()):
            raise DataError(f'a name is given as NUMBER=NAME, 3="sea trade"; found {label!r}')
        found[int(number)] = name or None
    _change(model, output, lambda fitted: fitted.relabel(found))


def merge(
    model: opts.ModelFile,
    groups: Annotated[
        list[str],
        opts.argument("Numbers of topics that become one.", metavar="NUMBER,NUMBER..."),
    ],
    output: opts.Output,
) -> None:
    """Join topics of a model; the others keep their order and get new numbers.

    Example: topicvec merge corpus.topicvec 3,5 7,8,9 -o fewer.topicvec
    """
    numbers = [group.split(",") for group in groups]
    wrong = next((group for group in numbers if not _are_numbers(group)), None)
    if wrong is not None:
        found = ",".join(wrong)
        raise DataError(f"topics to join are given as their numbers, 3,5; found {found!r}")
    joined = [[int(number) for number in group] for group in numbers]
    _change(model, output, lambda fitted: fitted.merge(joined), keeps_topics=False)


def _are_numbers(group: list[str]) -> bool:
    return len(group) > 1 and all(number.isdecimal() for number in group)


def _change(
    path: Path,
    output: Path,
    change: "Callable[[TopicVec], TopicVec]",
    *,
    keeps_topics: bool = True,
) -> None:
    """Change a model, keep what its file has beside it, and list its topics."""
    from topicvec.cli import fitting
    from topicvec.cli.topics import list_topics
    from topicvec.model import bundle

    opts.check_writable(output)
    saved = bundle.read(path)
    if "classifier" in saved.extra and not keeps_topics:
        raise DataError(
            f"{path} is a classifier, which rests on the topics as they are: join those of a "
            "model that topicvec fit wrote"
        )
    changed = change(fitting.load_model(path))
    changed.save(output, extra=saved.extra, arrays=saved.arrays)
    list_topics(changed.fitted_)
    render.note(f"{output}: {changed.n_topics_} topics")
