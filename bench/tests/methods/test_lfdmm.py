import numpy as np

from topicvec_bench import gibbs
from topicvec_bench.lfdmm import LFDMM, Clusters
from topicvec_bench.tokens import Tokens

N_WORDS, N_TOPICS = 7, 4


def make(lengths=(5, 0, 40, 1, 9)):
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tokens = Tokens(rng.integers(N_WORDS, size=starts[-1], dtype=np.int32), starts)
    table = rng.dirichlet(np.ones(N_WORDS), size=N_TOPICS).T.copy()
    return tokens, table, Clusters.random(tokens, N_WORDS, N_TOPICS, rng), rng


def test_the_compiled_document_sweep_is_its_twin():
    for share in (0.0, 0.6):
        tokens, table, state, rng = make()
        twin = Clusters(*(array.copy() for array in state))
        seen = set()
        for _ in range(20):
            draws = rng.random(tokens.n_documents), rng.random(len(tokens.words))
            rest = (table, share, 0.1, 0.5, *draws)
            gibbs.document_sweep(*tokens, *state, *rest)
            gibbs.document_sweep_reference(*tokens, *twin, *rest)
            for one, other in zip(state, twin, strict=True):
                np.testing.assert_array_equal(one, other)
            seen.add(tuple(state.clusters))
        assert len(seen) > 1
        assert state.latent.any() == (share > 0)


def test_counts_stay_those_of_the_clusters():
    tokens, table, state, rng = make()
    for _ in range(5):
        state.sweep(tokens, 0.1, 0.01, rng, table, 0.5)
    both = state.word_topic + state.assignment(tokens).latent_counts(tokens)
    expected = np.zeros_like(both)
    np.add.at(expected, (tokens.words, np.repeat(state.clusters, tokens.lengths)), 1)
    np.testing.assert_array_equal(both, expected)
    np.testing.assert_array_equal(state.cluster_total, np.bincount(state.clusters, minlength=4))


def test_clusters_are_drawn_from_the_posterior_of_the_mixture():
    # Two documents, two topics: they are together or apart, and both can be summed by hand.
    tokens = Tokens(np.array([0, 0, 1, 0, 1], np.int32), np.array([0, 3, 5]))
    alpha, beta = 0.7, 0.4
    rng = np.random.default_rng(0)
    state = Clusters.random(tokens, 2, 2, rng)
    together = 0
    for _ in range(20_000):
        state.sweep(tokens, alpha, beta, rng)
        together += state.clusters[0] == state.clusters[1]

    def marginal(zeros, ones):  # of counts in one topic, up to what is the same in both cases
        rising = [np.prod(beta + np.arange(n)) for n in (zeros, ones)]
        return np.prod(rising) / np.prod(2 * beta + np.arange(zeros + ones))

    same = (alpha + 1) * marginal(3, 2)
    apart = alpha * marginal(2, 1) * marginal(1, 1)
    np.testing.assert_allclose(together / 20_000, same / (same + apart), atol=0.015)


def test_planted_groups_are_found_and_documents_are_sure_of_theirs(planted):
    model = LFDMM(n_topics=3, vectors=planted.vectors, n_initial=30, n_iter=10)
    features = model.fit(planted.documents).transform(planted.new_documents)
    np.testing.assert_allclose(features.sum(1), 1)
    assert features.max(1).min() > 0.99  # documents of 25 words: nearly one-hot
    own = np.array([planted.group(word) for word in model.words_])
    groups = np.array([model.topic_word_[:, own == group].sum(1) for group in range(3)]).argmax(0)
    np.testing.assert_array_equal(groups[features.argmax(1)], planted.new_labels)


def test_a_document_without_known_words_has_the_shares_of_the_topics(planted):
    model = LFDMM(n_topics=3, vectors=planted.vectors, n_initial=5, n_iter=1)
    model.fit(planted.documents)
    np.testing.assert_allclose(model.transform([["unknown"]])[0], model.topic_share_)


def test_word_vectors_lend_probability_to_a_rare_word(planted):
    documents = [*planted.documents, [*["g0w1", "g0w2", "g0w3"] * 5, "g0new"]]
    params = {"n_topics": 3, "vectors": planted.vectors, "n_initial": 30, "n_iter": 10}
    shares = []
    for share in (0.0, 0.6):
        model = LFDMM(share=share, **params).fit(documents)
        topic = model.transform([["g0w1", "g0w2", "g0w3"]]).argmax()
        shares.append(model.topic_word_[topic, model.words_.index("g0new")])
    assert shares[1] > 2 * shares[0]


def test_the_same_seed_gives_the_same_bits_and_another_one_others(planted):
    first, second, other = (
        LFDMM(n_topics=3, vectors=planted.vectors, n_initial=5, n_iter=2, random_state=seed)
        .fit(planted.documents)
        .topic_word_.tobytes()
        for seed in (0, 0, 1)
    )
    assert first == second != other
