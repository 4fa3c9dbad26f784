import numpy as np

from topicvec_bench import gibbs
from topicvec_bench.sampling import Assignment, infer_topics, sweep
from topicvec_bench.tokens import Tokens

N_WORDS, N_TOPICS = 7, 4


def make(seed=0, lengths=(5, 0, 9, 1)):
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tokens = Tokens(rng.integers(N_WORDS, size=starts[-1], dtype=np.int32), starts)
    table = rng.dirichlet(np.ones(N_WORDS), size=N_TOPICS).T.copy()
    return tokens, table, Assignment.random(tokens, N_WORDS, N_TOPICS, rng), rng


def test_the_compiled_mixture_sweep_is_its_twin():
    for share in (0.0, 0.6):
        tokens, table, assignment, rng = make()
        twin = Assignment(*(array.copy() for array in assignment))
        for _ in range(20):
            rest = (table, share, 0.1, 0.01, rng.random(len(tokens.words)))
            gibbs.mixture_sweep(*tokens, *assignment, *rest)
            gibbs.mixture_sweep_reference(*tokens, *twin, *rest)
            for one, other in zip(assignment, twin, strict=True):
                np.testing.assert_array_equal(one, other)
        assert assignment.latent.any() == (share > 0)


def test_the_compiled_inference_is_its_twin():
    tokens, table, _, rng = make()
    arguments = (*tokens, table, 0.1, rng.random((9, 12)), 4)
    found = gibbs.infer_counts(*arguments)
    np.testing.assert_array_equal(found, gibbs.infer_counts_reference(*arguments))
    np.testing.assert_allclose(found.sum(1), tokens.lengths)


def test_counts_stay_those_of_the_assignment():
    tokens, table, assignment, rng = make()
    for _ in range(5):
        sweep(tokens, assignment, 0.1, 0.01, rng, table, 0.5)
    both = assignment.word_topic + assignment.latent_counts(tokens)
    expected = np.zeros_like(both)
    np.add.at(expected, (tokens.words, assignment.topics), 1)
    np.testing.assert_array_equal(both, expected)
    np.testing.assert_array_equal(assignment.topic_total, assignment.word_topic.sum(0))


def test_sampled_proportions_are_those_of_the_posterior():
    # One document of two tokens and two topics: the four cases can be summed by hand.
    table = np.array([[0.9, 0.2], [0.3, 0.5]])
    alpha = 0.7
    joint = np.array(
        [[table[0, a] * table[1, b] * alpha * (alpha + (a == b)) for b in (0, 1)] for a in (0, 1)]
    )
    joint /= joint.sum()
    expected = joint[0].sum() + joint[:, 0].sum()
    tokens = Tokens(np.array([0, 1], np.int32), np.array([0, 2]))
    found = infer_topics(tokens, table, alpha, seed=1, n_sweeps=40_000, n_burn=10)
    assert abs(found[0, 0] - expected) < 0.02


def test_a_document_is_inferred_alike_whatever_is_beside_it():
    tokens, table, _, _ = make()
    together = infer_topics(tokens, table, 0.1, seed=3)
    for d in range(tokens.n_documents):
        words = tokens.words[tokens.starts[d] : tokens.starts[d + 1]]
        alone = infer_topics(Tokens(words, np.array([0, len(words)])), table, 0.1, seed=3)
        np.testing.assert_array_equal(alone[0], together[d])
