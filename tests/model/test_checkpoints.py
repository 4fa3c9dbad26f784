"""A fit that was broken off goes on to the same bits."""

import numpy as np
import pytest

from topicvec.engine import InPlace
from topicvec.errors import DataError, FormatError
from topicvec.model.state import Solver
from topicvec.model.topicvec import TopicVec

pytestmark = pytest.mark.filterwarnings("ignore:not converged")


class KilledError(Exception):
    pass


def kill_after(n_iterations):
    def callback(progress):
        if progress.iteration == n_iterations:
            raise KilledError

    return callback


def fit(planted, path, documents=None, y=None, callback=None, **parameters):
    """Fit a model that makes 25 iterations, no more and no fewer."""
    given = {"n_topics": 4, "tol": 0, "max_iter": 25, "random_state": 0, **parameters}
    given["share"] = "corpus" if y is None else "class"
    model = TopicVec(vectors=planted.vectors, **given)
    documents = planted.documents if documents is None else documents
    return model.fit(documents, y, callback=callback, checkpoint=path)


@pytest.mark.parametrize("n_iterations", [13, 20])
def test_resuming_gives_the_same_bits_as_going_on(planted, tmp_path, n_iterations):
    path = tmp_path / "state.safetensors"
    whole = fit(planted, None)
    with pytest.raises(KilledError):
        fit(planted, path, callback=kill_after(n_iterations))
    heard = []
    resumed = fit(planted, path, callback=heard.append)
    assert heard[0].iteration in (11, 21)
    assert np.array_equal(resumed.topic_vectors_, whole.topic_vectors_)
    assert np.array_equal(resumed.doc_topic_, whole.doc_topic_)
    assert resumed.bounds_ == whole.bounds_


def test_resuming_classes_gives_the_same_bits(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    whole = fit(planted, None, n_topics=2, y=planted.classes)
    with pytest.raises(KilledError):
        fit(planted, path, n_topics=2, callback=kill_after(12), y=planted.classes)
    resumed = fit(planted, path, n_topics=2, n_jobs=1, y=planted.classes)
    assert np.array_equal(resumed.topic_vectors_, whole.topic_vectors_)
    assert resumed.bounds_ == whole.bounds_


def test_classes_that_had_not_begun_start_as_they_would_have(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    whole = fit(planted, None, n_topics=2, y=planted.classes)

    class Stopped(InPlace):
        def map(self, function, items):
            for number, item in enumerate(items):
                if number == 2 and hasattr(item, "gi_frame"):  # the third class
                    raise KeyboardInterrupt
                yield function(item)

    with pytest.warns(RuntimeWarning, match="interrupted after 5 iterations"):
        fit(planted, path, n_topics=2, y=planted.classes, n_jobs=Stopped())
    resumed = fit(planted, path, n_topics=2, y=planted.classes)
    assert np.array_equal(resumed.topic_vectors_, whole.topic_vectors_)
    assert resumed.bounds_ == whole.bounds_


def test_a_finished_fit_can_be_given_more_iterations(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    whole = fit(planted, None)
    fit(planted, path, max_iter=4)
    more = fit(planted, path)
    assert np.array_equal(more.topic_vectors_, whole.topic_vectors_)
    again = fit(planted, path)
    assert again.bounds_ == more.bounds_


def test_a_fit_without_a_seed_goes_on_too(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    with pytest.raises(KilledError):
        fit(planted, path, random_state=None, callback=kill_after(11))
    assert fit(planted, path, random_state=None).n_iter_ > 10


def test_a_checkpoint_of_another_fit_is_refused(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    fit(planted, path)
    with pytest.raises(DataError, match="other documents, vectors or settings"):
        fit(planted, path, documents=planted.documents[:-1])
    with pytest.raises(DataError, match="other documents, vectors or settings"):
        fit(planted, path, max_norm=3)


def test_a_damaged_checkpoint_is_refused(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    fit(planted, path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FormatError, match="not a whole checkpoint"):
        fit(planted, path)


def test_a_missing_folder_is_refused(planted, tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        fit(planted, tmp_path / "nowhere" / "state")


def test_a_checkpoint_with_another_prior_or_other_fixed_topics_is_refused(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    fixed = planted.vectors.matrix[:1]
    fit(planted, path, fixed_topics=fixed, max_iter=2)
    for other in ({"fixed_topics": fixed, "alpha": 0.3}, {"fixed_topics": 2 * fixed}):
        with pytest.raises(DataError, match="other documents, vectors or settings"):
            fit(planted, path, **other)


def test_numbers_of_numpy_are_the_same_settings(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    settings = {"max_norm": 6.0, "solver": Solver(n_normalizer_words=50)}
    fit(planted, path, max_iter=2, **settings)
    same = {"max_norm": np.float32(6), "solver": Solver(n_normalizer_words=np.int64(50))}
    heard = []
    fit(planted, path, max_iter=3, callback=heard.append, **same)
    assert [each.iteration for each in heard] == [3]


def test_a_checkpoint_whose_checksum_has_lost_its_name_is_refused(planted, tmp_path):
    path = tmp_path / "state.safetensors"
    fit(planted, path)
    whole = path.read_bytes()
    for damage in (b'"chacksum"', b'"Checksum"'):
        assert b'"checksum"' in whole
        path.write_bytes(whole.replace(b'"checksum"', damage))
        with pytest.raises(FormatError):
            fit(planted, path)
