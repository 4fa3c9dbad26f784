import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from topicvec.embed.formats.tensors import dequantize, quantize
from topicvec.errors import DataError

MATRICES = arrays(
    np.float32,
    array_shapes(min_dims=2, max_dims=2, max_side=5),
    elements=st.floats(-(2.0**100), 2.0**100, width=32),
)


@settings(deadline=None)
@given(MATRICES)
def test_each_number_is_off_by_at_most_half_a_step(matrix):
    quantized = quantize(matrix)
    assert quantized.codes.dtype == np.int8
    assert quantized.step.shape == ()
    error = np.abs(dequantize(quantized).astype(float) - matrix)
    assert (error <= quantized.step * 0.5001 + 1e-45).all()
    assert np.abs(quantized.codes.astype(int)).max() <= 127


@settings(deadline=None)
@given(MATRICES)
def test_quantizing_twice_changes_nothing(matrix):
    once = dequantize(quantize(matrix))
    assert (dequantize(quantize(once)) == once).all()


def test_a_matrix_of_zeros_stays_zero():
    assert not dequantize(quantize(np.zeros((2, 3)))).any()


def test_a_step_can_be_chosen():
    quantized = quantize([[1.0, -0.4]], step=0.5)
    assert quantized.codes.tolist() == [[2, -1]]


@pytest.mark.parametrize("step", [0.5, 0, -1, np.nan, np.inf])
def test_a_step_that_would_clip_is_refused_with_the_smallest_that_would_not(step):
    with pytest.raises(DataError, match=r"step must be at least 0\.7874"):
        quantize([[100.0, 1.0]], step=step)


@pytest.mark.parametrize("matrix", [[1.0], [[np.nan]], np.empty((0, 2))])
def test_what_is_no_matrix_of_finite_numbers_is_refused(matrix):
    with pytest.raises(DataError, match="non-empty matrix"):
        quantize(matrix)


def test_in_an_eigenbasis_one_common_step_deflates_better_at_the_same_error():
    rng = np.random.default_rng(0)
    deviations = 1 / np.sqrt(np.arange(1, 101))
    matrix = (rng.normal(size=(2000, 100)) * deviations).astype(np.float32)

    def size_and_error(codes, step):
        size = len(zlib.compress(np.ascontiguousarray(codes.T), 9))
        return size, np.mean((codes * step - matrix) ** 2)

    common_size, common_error = size_and_error(*quantize(matrix))
    # The same error with steps in proportion to each dimension's range.
    ranges = np.abs(matrix).max(axis=0)
    own_steps = ranges * np.sqrt(common_error * 12 / np.mean(ranges**2))
    own_codes = np.rint(matrix / own_steps).astype(np.int8)
    own_size, own_error = size_and_error(own_codes, own_steps)
    assert own_error == pytest.approx(common_error, rel=0.05)
    assert common_size < 0.97 * own_size
    assert common_size < 0.75 * matrix.size
