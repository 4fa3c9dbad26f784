"""Warnings point at the line of the one who uses the package, however deep they come from."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from topicvec import BagOfWords, TopicClassifier, TopicVec, WordVectors, load_vectors

VECTORS = WordVectors(["cat", "dog", "car", "bus"], np.eye(4)[[0, 0, 1, 1]], [1, 1, 1, 1])
TEXTS = ["cat dog cat", "bus car bus", "unheard"]


def quick(**params):
    return TopicVec(2, VECTORS, random_state=0, **params)


def fitted():
    return quick().fit(TEXTS[:2])


def glove(folder):
    path = folder / "glove.txt"
    path.write_text("cat 1 0\ndog 0 1\n")
    return path


CASES = {
    "fit": lambda _: quick().fit(TEXTS),
    "not converged": lambda _: quick(max_iter=1).fit(TEXTS[:2]),
    "classes": lambda _: quick().set_params(share="class").fit(TEXTS, ["a", "b", "a"]),
    "partial_fit": lambda _: quick().partial_fit(TEXTS),
    "transform": lambda _: fitted().transform(["unheard"]),
    "seeds": lambda _: quick(seed_words=[["cat", "unheard"]]).fit(TEXTS[:2]),
    "few to learn alpha": lambda _: quick(alpha="learn").fit(TEXTS[:2]),
    "bag": lambda _: BagOfWords().fit(["cat"]).transform(["dog"]),
    "vectors": lambda folder: load_vectors(glove(folder)),
    "pipeline": lambda _: make_pipeline(quick(), LogisticRegression()).fit(TEXTS, ["a", "b", "a"]),
    "classifier": lambda _: TopicClassifier(quick()).fit(TEXTS, ["a", "b", "a"]),
}


@pytest.mark.parametrize("case", CASES)
def test_warnings_point_at_the_users_line(case, tmp_path):
    with warnings.catch_warnings(record=True, action="always") as caught:
        CASES[case](tmp_path)
    ours = [each for each in caught if "sklearn/utils" not in each.filename]
    assert ours
    assert {each.filename for each in ours} == {__file__}
