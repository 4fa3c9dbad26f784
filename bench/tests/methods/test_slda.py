import numpy as np
import pytest
from scipy.special import softmax

from topicvec.errors import DataError
from topicvec_bench.sampling import Assignment
from topicvec_bench.slda import SLDA, fit_classes, slda_sweep, slda_sweep_reference
from topicvec_bench.tokens import Tokens


def test_the_compiled_sweep_is_its_twin():
    rng = np.random.default_rng(0)
    starts = np.array([0, 4, 4, 5, 20])
    tokens = Tokens(rng.integers(6, size=20, dtype=np.int32), starts)
    labels = np.array([0, 1, 2, 1])
    topics, _, *counts = Assignment.random(tokens, 6, 4, rng)
    twin = [array.copy() for array in (topics, *counts)]
    for _ in range(20):
        rest = (rng.normal(scale=5, size=(3, 4)), 0.1, 0.01, rng.random(20))
        slda_sweep(*tokens, labels, topics, *counts, *rest)
        slda_sweep_reference(*tokens, labels, *twin, *rest)
        for one, other in zip((topics, *counts), twin, strict=True):
            np.testing.assert_array_equal(one, other)


def test_coefficients_are_a_minimum_of_the_regularised_loss():
    rng = np.random.default_rng(0)
    shares, labels = rng.dirichlet(np.ones(4), size=50), rng.integers(3, size=50)
    found = fit_classes(shares, labels, np.zeros((3, 4)), l2=0.5)
    gradient = (softmax(shares @ found.T, axis=1) - np.eye(3)[labels]).T @ shares + 0.5 * found
    np.testing.assert_allclose(gradient, 0, atol=1e-3)


def themes_and_classes(rng, n_documents):
    """Most words tell one of four themes; the class shows in few words and not in the theme."""
    documents, classes = [], []
    for number in range(n_documents):
        theme, label = rng.integers(4), number % 2
        words = [f"theme{theme}-{rng.integers(6)}" for _ in range(6)]
        documents.append([*words, *(f"class{label}-{rng.integers(40)}" for _ in range(2))])
        classes.append(("no", "yes")[label])
    return documents, classes


def test_classes_bend_topics_towards_what_tells_them_apart():
    rng = np.random.default_rng(0)
    documents, classes = themes_and_classes(rng, 200)
    new, truth = themes_and_classes(rng, 100)
    plain, supervised = (
        SLDA(n_topics=6, l2=l2, n_initial=50, n_iter=100).fit(documents, classes).predict(new)
        for l2 in (1e6, 0.01)  # with all coefficients at zero it is plain LDA
    )
    assert np.mean(plain == truth) < 0.75
    assert np.mean(supervised == truth) > 0.9


@pytest.mark.parametrize("y", [None, [0, 1]])
def test_classes_are_needed_for_every_document(planted, y):
    with pytest.raises(DataError, match="expected a class for each of the 60 documents"):
        SLDA(n_topics=3).fit(planted.documents, y)
