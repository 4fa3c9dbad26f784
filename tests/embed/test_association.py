import numpy as np
import pytest
from psdvec_twins import counted, literal_log_ratios, literal_weights

from topicvec.embed.association import associate, keep_rates, measure_margins
from topicvec.engine import LocalEngine
from topicvec.errors import DataError


def dense(association, name, off):
    out = np.full((association.n, association.n), off)
    rows = np.repeat(np.arange(association.n), np.diff(association.indptr))
    out[rows, association.indices] = getattr(association, name)
    return out


def symmetric(matrix):
    return (matrix + matrix.T) / 2


@pytest.mark.parametrize("direction", ["left", "right", "both"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"smoothing": 0.1, "unseen_weight": 1.0},
        {"unseen_weight": 0.1, "context_power": 0.75},
        {"smoothing": 0.0, "floor": 0.0, "unseen_weight": 0.5},
        {"saturated": 0.2},
        {"subsample": 0.01},
    ],
)
@pytest.mark.parametrize("n", [25, None])
def test_the_sparse_form_is_the_literal_one(direction, options, n):
    counts = counted(window=4, direction=direction, weighting="flat")
    n = n or counts.n_words
    options = {"smoothing": 0.02, "saturated": 0.05, **options}
    margins = measure_margins(counts, n_core=n, **options)
    association = associate(counts, margins, n, LocalEngine(1))
    keep = keep_rates(counts.unigram_counts, options.get("subsample"))
    x = counts.counts.toarray() / counts.unit * np.outer(keep, keep)
    power, floor = options.get("context_power", 1.0), options.get("floor", -np.inf)
    G = literal_log_ratios(x, options["smoothing"], power, floor)[:n, :n]
    W = literal_weights(x[:n, :n], options["saturated"], options.get("unseen_weight", 0.0))
    np.fill_diagonal(W, 0.0)
    w0, g0 = association.unseen_weight, association.unseen_target
    close = {"rtol": 2e-5, "atol": 2e-6}
    np.testing.assert_allclose(dense(association, "weights", w0), symmetric(W), **close)
    np.testing.assert_allclose(dense(association, "weighted", w0 * g0), symmetric(W * G), **close)
    np.testing.assert_allclose(dense(association, "target", g0), symmetric(G), **close)


def test_unseen_pairs_have_the_log_of_the_smoothing():
    assert measure_margins(counted(), smoothing=0.02).unseen_target == np.log(0.02)


def test_unigram_probabilities_are_normalised_once_over_all_words():
    counts = counted(direction="left")
    whole, part = measure_margins(counts), measure_margins(counts, n_core=10)
    np.testing.assert_array_equal(whole.unigram, part.unigram)
    assert whole.unigram.sum() == pytest.approx(1)


def test_the_cut_is_a_true_quantile():
    # The original halves the root of x_00, "the the", and divides by zero where that is zero.
    counts = counted(window=3, weighting="flat")
    values = counts.counts.data
    cut = measure_margins(counts, saturated=0.1).cut
    assert np.mean(values >= cut) == pytest.approx(0.1, abs=0.05)
    assert np.mean(values > cut) <= 0.1
    tiny = counted([["a", "b"]], window=1)
    assert tiny.counts[0, 0] == 0
    assert measure_margins(tiny).cut == 1.0


def test_thinned_counts_are_those_of_the_kept_shares():
    counts = counted(window=3, weighting="flat", direction="left")
    margins = measure_margins(counts, subsample=0.01)
    keep = keep_rates(counts.unigram_counts, 0.01)
    thinned = counts.counts.toarray() * np.outer(keep, keep)
    np.testing.assert_allclose(margins.row_totals, thinned.sum(axis=1))
    assert keep.min() < 0.5


def test_importance_grows_with_frequency_and_is_one_in_the_mean_of_the_core():
    importance = measure_margins(counted(), n_core=20, frequency_power=0.2).importance
    assert importance[:20].mean() == pytest.approx(1)
    assert importance[0] > importance[-1]


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_any_number_of_workers_gives_the_same_bits(n_jobs, monkeypatch):
    monkeypatch.setattr("topicvec.embed.association.ROWS", 7)
    counts = counted(direction="left")
    margins = measure_margins(counts)
    one = associate(counts, margins, 40, LocalEngine(1))
    several = associate(counts, margins, 40, LocalEngine(n_jobs))
    np.testing.assert_array_equal(one.weighted, several.weighted)
    np.testing.assert_array_equal(one.indices, several.indices)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": -0.1}, "smoothing"),
        ({"smoothing": 1.0}, "smoothing"),
        ({"smoothing": 0.0}, "floor"),
        ({"saturated": 0.0}, "saturated"),
        ({"unseen_weight": 1.5}, "unseen_weight"),
        ({"subsample": 0.0}, "subsample"),
    ],
)
def test_bad_options_are_refused_by_name(options, message):
    with pytest.raises(DataError, match=message):
        measure_margins(counted(), **options)


def test_counts_without_any_pair_are_refused():
    with pytest.raises(DataError, match="near each other"):
        measure_margins(counted([["a"], ["b"]]))


def test_a_word_without_neighbours_has_the_importance_of_the_rarest_with_some():
    counts = counted([["a", "b"] * 5 + ["d"], ["c", "c"], ["e"]], window=1)
    importance = measure_margins(counts, frequency_power=0.2).importance
    lonely, rarest = counts.words.index("e"), counts.words.index("d")
    assert importance[lonely] == importance[rarest] > 0
