# SPDX-License-Identifier: BSD-3-Clause
import json
import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from rushlight.errors import InvalidArgument
from rushlight.run.cases import (
    BY_DTYPE,
    DTYPE_TOLERANCES,
    Call,
    Case,
    Tolerance,
    bundled_case,
    compare,
    load_case,
    load_npz,
    save_case,
)

INTEROP = Path(__file__).parents[2] / "interop"


def _write_case(folder, array, dtype, tolerance=1e-3):
    np.savez(folder / "tensors.npz", x=array)
    described = {"key": "x", "dtype": dtype, "shape": list(array.shape)}
    case = {
        "name": "one",
        "tolerance": tolerance,
        "methods": {"forward": [{"inputs": [described, {"value": 3}], "outputs": [described]}]},
    }
    (folder / "case.json").write_text(json.dumps(case))
    return folder / "case.json"


def test_a_case_gives_arrays_and_numbers_in_order(tmp_path):
    case = load_case(_write_case(tmp_path, np.arange(6, dtype=np.float32).reshape(2, 3), "float32"))
    (call,) = case.calls
    assert call.method == "forward"
    assert call.inputs[0].shape == (2, 3) and call.inputs[1] == 3
    np.testing.assert_array_equal(call.expected[0], call.inputs[0])


def test_bfloat16_is_read_from_its_bits(tmp_path):
    values = np.array([1.0, -2.5], dtype=ml_dtypes.bfloat16)
    case = load_case(_write_case(tmp_path, values.view(np.uint16), "bfloat16"))
    np.testing.assert_array_equal(case.calls[0].inputs[0], values)


def test_a_saved_case_is_read_back(tmp_path):
    values = [np.arange(6, dtype=np.int16).reshape(2, 3), np.array([1.5, -2], ml_dtypes.bfloat16), 7, None]
    calls = [Call("forward", values, values[:2]), Call("other", [], [2.5]), Call("forward", [3], [True])]
    save_case(tmp_path / "case.json", Case("saved", 0.25, calls), labels=["a", "b", "c"])

    case = load_case(tmp_path / "case.json")
    assert (case.name, case.tolerance) == ("saved", 0.25)
    assert json.loads((tmp_path / "case.json").read_text())["labels"] == ["a", "b", "c"]
    first, second, third = sorted(case.calls, key=lambda call: (call.method, len(call.inputs)), reverse=True)
    assert (first.method, first.inputs, first.expected) == ("other", [], [2.5])
    assert second.inputs[2:] == [7, None] and (third.inputs, third.expected) == ([3], [True])
    for got, want in zip([*second.inputs[:2], *second.expected], 2 * values[:2], strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_a_case_is_not_saved_without_what_is_expected_of_it(tmp_path):
    with pytest.raises(InvalidArgument, match="call 0 of 'forward': expected outputs"):
        save_case(tmp_path / "case.json", Case("x", 0.0, [Call("forward", [1], None)]))
    with pytest.raises(InvalidArgument, match="expected a number as tolerance"):
        save_case(tmp_path / "case.json", Case("x", BY_DTYPE, [Call("forward", [1], [1])]))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tolerance": 1, "methods": 3}', '{"tolerance": 1, "methods": {}}']
)
def test_a_file_that_is_no_case_is_refused_by_name(tmp_path, text):
    path = _write_case(tmp_path, np.zeros(1, np.float32), "float32")
    path.write_text(text)
    with pytest.raises(InvalidArgument, match=r"case\.json"):
        load_case(path)


def test_a_method_without_calls_is_refused(tmp_path):
    with pytest.raises(InvalidArgument, match="expected calls to method 'decode', got none"):
        load_case(_write_case(tmp_path, np.zeros(1, np.float32), "float32"), "decode")


def test_inputs_of_an_npz_keep_their_order(tmp_path):
    np.savez(tmp_path / "in.npz", b=np.zeros(2), a=np.ones(3))
    (call,) = load_npz(tmp_path / "in.npz", "forward").calls
    assert [value.size for value in call.inputs] == [2, 3] and call.expected is None
    with pytest.raises(InvalidArgument, match=r"none\.npz"):
        load_npz(tmp_path / "none.npz", "forward")


def _f32(*values):
    return np.array(values, dtype=np.float32)


@pytest.mark.parametrize(
    ("got", "want", "reason"),
    [
        ([_f32(1, 2)], [_f32(1, 2)], ""),
        ([_f32(1, 2.0009)], [_f32(1, 2)], ""),  # 1e-3 * 2 + 1e-3 * 2 is allowed
        ([_f32(1, 2.01)], [_f32(1, 2)], "expected 2"),
        ([_f32(np.nan, np.inf)], [_f32(np.nan, np.inf)], ""),
        ([_f32(np.nan)], [_f32(1)], "NaN"),
        ([_f32(np.inf)], [_f32(-np.inf)], "NaN or infinity"),
        ([_f32(1)], [_f32(1), _f32(1)], "2 outputs expected"),
        ([_f32(1)], [_f32(1, 1)], "shape"),
        ([np.array([1.0])], [_f32(1)], "dtype"),
        ([np.array([1, 3])], [np.array([1, 2])], "1 of 2 elements"),
        ([np.array([True])], [np.array([False])], "1 of 1 elements"),
        ([7], [7], ""),
        ([np.array(7)], [7], ""),
        ([8], [7], "expected 7"),
        ([None], [None], ""),
        ([None], [_f32(1)], "got None"),
        ([_f32()], [_f32()], ""),
    ],
)
def test_outputs_pass_only_within_the_rule(got, want, reason):
    comparison = compare(got, want, 1e-3)
    assert comparison.passed == (reason == "")
    assert reason in comparison.reason


def test_a_tolerance_is_absolute_plus_relative_to_each_element():
    want = [np.float32([0, 100])]
    assert compare([np.float32([0.01, 100])], want, Tolerance(0, 0.02)).passed
    assert not compare([np.float32([0.01, 100])], want, Tolerance(0.1, 0)).passed
    assert compare([np.float32([0, 101])], want, Tolerance(0.02, 0)).passed
    # A number allows small elements what the largest may differ by.
    assert compare([np.float32([0.01, 100])], want, 1e-3).passed


@pytest.mark.parametrize(
    ("dtype", "off", "passes"),
    [
        ("float32", 3e-5, True),  # 1e-5 of the largest element
        ("float32", 7e-5, False),
        ("float16", 3e-3, True),
        ("float16", 1.2e-2, False),
        ("float64", 3e-7, True),
        ("float64", 1e-6, False),
        ("bfloat16", 0.03, True),
        ("bfloat16", 0.15, False),
        ("complex64", 3e-5j, True),
        ("complex64", 7e-5j, False),
    ],
)
def test_without_a_tolerance_the_dtype_and_the_largest_element_decide(dtype, off, passes):
    want = np.array([1, 4]).astype(dtype)
    assert compare([(want + np.array([off, 0])).astype(dtype)], [want], BY_DTYPE).passed == passes


def test_whole_numbers_are_exact_however_large():
    assert not compare([10_000_001], [10_000_000], BY_DTYPE).passed
    assert compare([np.array(10_000_000)], [10_000_000], BY_DTYPE).passed


def test_the_runner_has_the_same_tolerances():
    source = (Path(__file__).parents[3] / "runtime" / "bundled" / "bundled_method.cpp").read_text()
    names = {"Half": "float16", "BFloat16": "bfloat16", "Float": "float32", "Double": "float64"}
    rows = re.findall(r"\{ScalarType::(\w+), ([\d.e-]+), ([\d.e-]+)\},", source)
    assert {names[name]: (float(a), float(b)) for name, a, b in rows} == DTYPE_TOLERANCES


def test_a_case_names_its_data_files():
    case = load_case(INTEROP / "external_ptd" / "case.json")
    assert case.data_files == (INTEROP / "external_ptd" / "weights.ptd",)


def test_the_cases_of_a_bundled_program_run_on_methods_of_their_own():
    case = bundled_case(INTEROP / "bundled" / "model.bpte")
    assert case.fresh_methods and len(case.calls) == 3
    assert case.calls[0].inputs[0].shape == (4, 16) and case.calls[0].expected[0].shape == (4, 8)
    with pytest.raises(InvalidArgument, match="expected cases of 'backward', got none"):
        bundled_case(INTEROP / "bundled" / "model.bpte", "backward")
