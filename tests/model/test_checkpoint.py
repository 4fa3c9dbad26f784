"""A fit that was broken off goes on to the same bits."""

import numpy as np
import pytest

from topicvec.errors import DataError, FormatError
from topicvec.model.topicvec import TopicVec

pytestmark = pytest.mark.filterwarnings("ignore:not converged")


class KilledError(Exception):
    pass


def kill_after(n_iterations):
    def callback(progress):
        if progress.iteration == n_iterations:
            raise KilledError

    return callback


def model_of(planted, path, **parameters):
    """A model that makes 25 iterations, no more and no fewer."""
    given = {"n_topics": 5, "tol": 0, "max_iter": 25, "random_state": 0, **parameters}
    return TopicVec(vectors=planted.vectors, checkpoint=path, **given)


@pytest.mark.parametrize("n_iterations", [13, 20])
def test_resuming_gives_the_same_bits_as_going_on(planted, tmp_path, n_iterations):
    path = tmp_path / "state.safetensors"
    whole = model_of(planted, None).fit(planted.documents)
    with pytest.raises(KilledError):
        model_of(planted, path, callback=kill_after(n_iterations)).fit(planted.documents)
    heard = []
    resumed = model_of(planted, path, callback=heard.append).fit(planted.documents)
    assert heard[0].iteration in (11, 21)
    assert np.array_equal(resumed.topic_vectors_, whole.topic_vectors_)
    assert np.array_equal(resumed.doc_topic_, whole.doc_topic_)
    assert resumed.bounds_ == whole.bounds_


def test_resuming_classes_gives_the_same_bits(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    whole = model_of(planted, None, n_topics=3).fit(planted.documents, planted.classes)
    with pytest.raises(KilledError):
        model_of(planted, path, n_topics=3, callback=kill_after(12)).fit(
            planted.documents, planted.classes
        )
    resumed = model_of(planted, path, n_topics=3, n_jobs=1).fit(planted.documents, planted.classes)
    assert np.array_equal(resumed.topic_vectors_, whole.topic_vectors_)
    assert resumed.bounds_ == whole.bounds_


def test_a_finished_fit_can_be_given_more_iterations(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    whole = model_of(planted, None).fit(planted.documents)
    model_of(planted, path, max_iter=4).fit(planted.documents)
    more = model_of(planted, path).fit(planted.documents)
    assert np.array_equal(more.topic_vectors_, whole.topic_vectors_)
    again = model_of(planted, path).fit(planted.documents)
    assert again.bounds_ == more.bounds_


def test_a_fit_without_a_seed_goes_on_too(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    with pytest.raises(KilledError):
        model_of(planted, path, random_state=None, callback=kill_after(11)).fit(planted.documents)
    assert model_of(planted, path, random_state=None).fit(planted.documents).n_iter_ > 10


def test_a_checkpoint_of_another_fit_is_refused(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    model_of(planted, path).fit(planted.documents)
    with pytest.raises(DataError, match="other documents, vectors or settings"):
        model_of(planted, path).fit(planted.documents[:-1])
    with pytest.raises(DataError, match="other documents, vectors or settings"):
        model_of(planted, path, max_norm=3).fit(planted.documents)


def test_a_damaged_checkpoint_is_refused(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    model_of(planted, path).fit(planted.documents)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FormatError, match="not a whole checkpoint"):
        model_of(planted, path).fit(planted.documents)


def test_a_missing_folder_is_refused(planted, tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        model_of(planted, tmp_path / "nowhere" / "state").fit(planted.documents)


def test_a_checkpoint_with_another_prior_or_other_fixed_topics_is_refused(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    fixed = planted.vectors.matrix[:1]
    model_of(planted, path, fixed_topics=fixed, max_iter=2).fit(planted.documents)
    for other in ({"fixed_topics": fixed, "alpha": 0.2}, {"fixed_topics": 2 * fixed}):
        with pytest.raises(DataError, match="other documents, vectors or settings"):
            model_of(planted, path, **other).fit(planted.documents)


def test_numbers_of_numpy_are_the_same_settings(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    settings = {"max_norm": 6.0, "n_normalizer_words": 50}
    model_of(planted, path, max_iter=2, **settings).fit(planted.documents)
    same = {"max_norm": np.float32(6), "n_normalizer_words": np.int64(50)}
    heard = []
    model_of(planted, path, max_iter=3, callback=heard.append, **same).fit(planted.documents)
    assert [each.iteration for each in heard] == [3]
