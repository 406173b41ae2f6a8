# SPDX-License-Identifier: BSD-3-Clause
import struct

import ml_dtypes
import numpy as np
import pytest

from rushlight.errors import TargetCrashed
from rushlight.run.case_stream import RunnerOutcome, decode_outcome, decode_response, encode_request


def _response(*values):
    """The stream that a runner would write for one call with these encoded values."""
    head = struct.pack("<4s3I", b"RLIO", 1, 0, 0) + struct.pack("<8Q", *range(1, 9))
    call = struct.pack("<4I2Q", 0, len(values), 4321, 0, 1000, 2000)
    return head + call + b"".join(values)


def _encoded(value, order=None):
    """The value as a request holds it: requests and responses share their form."""
    return encode_request([("m", [value], [order])])[16 + 16 + 16 :]


@pytest.mark.parametrize(
    "dtype", ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool"]
)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (1, 2, 3, 4), (0, 2)])
def test_arrays_survive_the_round_trip(dtype, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    report, (call,) = decode_response(_response(_encoded(array)), [[None]])
    assert (report.program_bytes, report.load_ns) == (1, 6)
    assert (call.instructions, call.ns, call.stack_bytes) == (1000, 2000, 4321)
    assert call.outputs[0].dtype == array.dtype
    np.testing.assert_array_equal(call.outputs[0], array)


def test_bfloat16_and_other_dim_orders_survive_the_round_trip():
    array = np.arange(24).reshape(1, 2, 3, 4).astype(ml_dtypes.bfloat16)
    channels_last = (0, 2, 3, 1)
    encoded = _encoded(array, channels_last)
    _, (call,) = decode_response(_response(encoded), [[channels_last]])
    np.testing.assert_array_equal(call.outputs[0], array)
    assert array.transpose(channels_last).tobytes() in encoded


@pytest.mark.parametrize("value", [None, True, False, 0, -(2**63), 2**63 - 1, 1.5])
def test_numbers_survive_the_round_trip(value):
    _, (call,) = decode_response(_response(_encoded(value)), [[None]])
    assert call.outputs == [value] and type(call.outputs[0]) is type(value)


@pytest.mark.parametrize("length", [0, 10, 60, 100, 130])
def test_a_short_response_is_a_crash_of_the_target(length):
    whole = _response(_encoded(np.zeros(8, np.float32)))
    with pytest.raises(TargetCrashed):
        decode_response(whole[:length], [[None]])


def test_a_response_with_other_outputs_is_a_crash_of_the_target():
    with pytest.raises(TargetCrashed, match="expected 1 outputs, got 0"):
        decode_response(_response(), [[None]])


def test_an_outcome_has_the_code_the_loss_and_the_records() -> None:
    data = struct.pack("<4s7I", b"RLOC", 0x12, 3, 4, 1, 2, 0xEBA31340, 7 << 6)
    assert decode_outcome(data) == RunnerOutcome(0x12, 3, 4, True, (0xEBA31340, 7 << 6))
    assert decode_outcome(struct.pack("<4s5I", b"RLOC", 0, 0, 0, 0, 0)) == RunnerOutcome(0)
    cut = [data[:length] for length in range(len(data))]
    assert {decode_outcome(part) for part in [*cut, data + bytes(4), b"RLIO" + data[4:]]} == {None}
