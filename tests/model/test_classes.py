"""Topics of classes, and masks."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from topicvec.engine import LocalEngine
from topicvec.errors import DataError, OutOfVocabularyWarning
from topicvec.model.topicvec import TopicVec


def quick(*args, **params):
    """A model with a coarse tolerance."""
    return TopicVec(*args, **{"tol": 1e-3, **params})


def by_classes(*args, **params):
    """The same with topics for each class."""
    return quick(*args, share="class", **params)


@pytest.fixture(scope="module")
def by_class(planted):
    return by_classes(3, planted.vectors, random_state=0, n_jobs=2).fit(
        planted.documents, planted.classes
    )


def test_each_class_has_its_topics_and_all_share_the_null_topic(planted, by_class):
    assert by_class.topic_vectors_.shape[0] == 4 * 4 - 3
    expected = (None, *(f"class {block}" for block in range(4) for _ in range(3)))
    assert by_class.fitted_.classes == expected
    assert by_class.classes_.tolist() == sorted(set(planted.classes))
    assert by_class.transform(planted.texts).shape == (60, 13)


def test_documents_are_drawn_to_the_topics_of_their_class(planted, by_class):
    main = by_class.transform(planted.documents).argmax(axis=1)
    assert [by_class.fitted_.classes[topic] for topic in main] == planted.classes


def test_training_proportions_stay_within_the_class(planted, by_class):
    assert by_class.doc_topic_.sum(axis=1) == pytest.approx(1)
    for name, row in zip(planted.classes, by_class.doc_topic_, strict=True):
        used = {by_class.fitted_.classes[topic] for topic in np.flatnonzero(row)}
        assert used == {None, name}


def test_representative_documents_are_rows_of_the_corpus(planted, by_class):
    for name, best in zip(by_class.fitted_.classes, by_class.fitted_.representative, strict=True):
        for row, share in best[:3]:
            assert name in (None, planted.classes[row])
            assert 0 <= share <= 1


def test_classes_give_the_same_bits_for_any_number_of_workers(planted, by_class):
    for n_jobs in (1, 4):
        other = by_classes(3, planted.vectors, random_state=0, n_jobs=n_jobs).fit(
            planted.documents, planted.classes
        )
        assert np.array_equal(other.topic_vectors_, by_class.topic_vectors_)
        assert np.array_equal(other.doc_topic_, by_class.doc_topic_)
        assert other.bounds_ == by_class.bounds_


def test_a_class_has_the_same_topics_alone(planted, by_class):
    own = np.random.default_rng(0).spawn(4)[2]
    documents = [planted.documents[row] for row in np.flatnonzero(planted.blocks == 2)]
    alone = quick(3, planted.vectors, random_state=own).fit(documents)
    rows = [name == "class 2" for name in by_class.fitted_.classes]
    assert by_class.topic_vectors_[rows] == pytest.approx(alone.topic_vectors_[1:], abs=1e-4)


def test_the_bound_of_all_classes_never_falls(by_class):
    assert np.diff(by_class.bounds_).min() > -1e-7
    assert by_class.n_iter_ == len(by_class.bounds_)


def test_a_class_with_one_document_has_topics(planted):
    classes = ["only"] + ["rest"] * 59
    model = by_classes(2, planted.vectors, random_state=0).fit(planted.documents, classes)
    assert model.fitted_.classes == (None, "only", "only", "rest", "rest")


def test_a_class_with_few_words_gets_fewer_topics(planted):
    documents = [["aaxy", "aaxy"], *planted.documents]
    classes = ["tiny"] + ["rest"] * 60
    with pytest.warns(UserWarning, match="class 'tiny' has 1 distinct word, so it gets one topic"):
        model = by_classes(3, planted.vectors, random_state=0).fit(documents, classes)
    assert model.fitted_.classes.count("tiny") == 1


def test_a_class_without_known_words_gets_no_topic(planted):
    documents = [["unheard"], *planted.documents]
    model = by_classes(2, planted.vectors, random_state=0)
    with (
        pytest.warns(OutOfVocabularyWarning, match="1 of 61 documents"),
        pytest.warns(UserWarning, match="class 'mute' has 0 distinct words"),
    ):
        model.fit(documents, ["mute"] + ["rest"] * 60)
    assert "mute" not in model.fitted_.classes
    assert model.doc_topic_[0] == pytest.approx([1 / 3] * 3)


def test_classes_change_nothing_unless_topics_of_classes_are_asked_for(planted):
    with_classes = quick(4, planted.vectors, random_state=0)
    without = quick(4, planted.vectors, random_state=0)
    with_classes.fit(planted.documents, planted.classes)
    without.fit(planted.documents)
    assert np.array_equal(with_classes.topic_vectors_, without.topic_vectors_)


def test_ctrl_c_keeps_the_classes_so_far(planted):
    def interrupt(progress):
        raise KeyboardInterrupt

    model = by_classes(2, planted.vectors, random_state=0, n_jobs=1)
    with pytest.warns(RuntimeWarning, match="interrupted after"):
        model.fit(planted.documents, planted.classes, callback=interrupt)
    assert model.transform(planted.documents).shape == (60, 9)


def test_callbacks_are_told_the_class(planted):
    heard = []
    by_classes(2, planted.vectors, random_state=0).fit(
        planted.documents, planted.classes, callback=heard.append
    )
    assert {each.group for each in heard} == set(planted.classes)


def mask_of(planted):
    """Topics 1 and 2 for documents of blocks 0 and 1, topics 2 to 4 for the rest."""
    mask = np.zeros((60, 5), bool)
    mask[planted.blocks < 2, 1:3] = True
    mask[planted.blocks >= 2, 2:] = True
    return mask


def test_a_mask_says_which_documents_use_which_topics(planted):
    mask = mask_of(planted)
    model = quick(4, planted.vectors, random_state=0).fit(
        planted.documents, planted.classes, mask=mask
    )
    used = model.doc_topic_ > 0
    assert used[:, 0].all()
    assert np.array_equal(used[:, 1:], mask[:, 1:])
    assert model.doc_topic_.sum(axis=1) == pytest.approx(1)


BAD = {
    "y too short": ({"y": ["a"]}, {}, r"y must have a class for each of the 60 documents"),
    "no y": ({}, {"share": "class"}, "share='class' needs y"),
    "mask": ({"mask": np.ones((60, 4), bool)}, {}, r"mask must be bool with shape \(60, 5\)"),
    "guided": (
        {"y": ["a"] * 60},
        {"share": "class", "seed_words": [["aaxy"]]},
        "need one set of topics",
    ),
    "automatic": ({"y": ["a"] * 60}, {"share": "auto"}, "share must be"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_together_is_refused(planted, case):
    arguments, parameters, message = BAD[case]
    with pytest.raises(DataError, match=message):
        quick(4, planted.vectors, **parameters).fit(planted.documents, **arguments)


def test_a_fit_forgets_the_classes_of_an_earlier_one(planted):
    model = by_classes(2, planted.vectors, random_state=0).fit(planted.documents, planted.classes)
    model.set_params(share="corpus").fit(planted.documents)
    assert not hasattr(model, "classes_")
    assert model.topic_vectors_.shape[0] == 3


class Stopped(LocalEngine):
    """An engine whose user presses Ctrl-C after so many of the first runs."""

    def __init__(self, n_jobs, after=2):
        super().__init__(n_jobs)
        self.after, self.pressed = after, False

    def map(self, function, items):
        of_runs = isinstance(items, list) and items and hasattr(items[0], "gi_frame")
        for number, item in enumerate(items):
            if of_runs and number == self.after and not self.pressed:
                self.pressed = True
                raise KeyboardInterrupt
            yield function(item)


def test_ctrl_c_in_the_first_round_leaves_a_model_that_can_be_saved(planted, tmp_path):
    model = by_classes(2, planted.vectors, random_state=0, n_jobs=Stopped(1))
    with pytest.warns(RuntimeWarning, match="interrupted after 5 iterations"):
        model.fit(planted.documents, planted.classes)
    model.set_params(n_jobs=1)
    assert np.isfinite(model.bounds_).all()
    assert np.isfinite(model.topic_residuals_).all()
    model.save(tmp_path / "model")
    assert TopicVec.load(tmp_path / "model").bounds_ == model.bounds_


@pytest.mark.parametrize("arguments", [{"share": "corpus"}, {}])
def test_the_length_of_y_is_checked_even_if_it_is_not_used(planted, arguments):
    mask = None if arguments else np.ones((60, 5), bool)
    with pytest.raises(DataError, match="for each of the 60 documents; found 2"):
        quick(4, planted.vectors, **arguments).fit(planted.documents, ["a", "b"], mask=mask)


def test_a_loaded_model_still_knows_its_classes(by_class, tmp_path):
    by_class.save(tmp_path / "model.topicvec")
    loaded = TopicVec.load(tmp_path / "model.topicvec")
    assert loaded.classes_.tolist() == by_class.classes_.tolist()


def test_a_list_of_alpha_says_how_many_topics_a_class_has(planted):
    model = quick(
        "auto", planted.vectors, alpha=[0.2, 0.1, 0.1], share="class", random_state=0, max_iter=5
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(planted.documents, planted.classes)
    assert [model.fitted_.classes.count(name) for name in model.classes_] == [2] * 4
