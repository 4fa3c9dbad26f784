"""A fit as moves of a bar."""

from types import SimpleNamespace

from topicvec.model.progress import Watch


def test_classes_are_counted_when_there_are_several():
    said = []
    watch = Watch(lambda *move: said.append(move[-1]), 1e-3)
    for group, bound in (("a", -6.0), ("b", -8.0), ("c", -4.0)):
        watch(
            SimpleNamespace(iteration=1, bound=bound, change=float("inf"), max_iter=9, group=group)
        )
    assert said == ["bound -6.0000", "of 2 classes, bound -7.0000", "of 3 classes, bound -6.0000"]
