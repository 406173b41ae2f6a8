# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import pytest
import torch

from rushlight.export.delegate import BackendDetails, NamedDataStore, PreprocessResult, to_backend
from support.graphs import core_aten


def test_equal_blobs_are_stored_once() -> None:
    store = NamedDataStore()
    store.add_named_data("a", b"same")
    store.add_named_data("b", b"same", alignment=16)
    store.add_named_data("c", b"other")
    output = store.get_named_data_store_output()
    assert output.buffers == [b"same", b"other"]
    assert {key: entry.buffer_index for key, entry in output.pte_data.items()} == {"a": 0, "b": 0, "c": 1}
    assert output.pte_data["b"].alignment == 16
    assert output.named_data() == {"a": b"same", "b": b"same", "c": b"other"}


def test_a_key_is_added_again_with_the_same_data_only() -> None:
    store = NamedDataStore()
    store.add_named_data("a", b"one", alignment=4)
    store.add_named_data("a", b"one", alignment=6)
    assert store.get_named_data_store_output().pte_data["a"].alignment == 12
    with pytest.raises(ValueError, match="'a': expected the 3 bytes stored before, got 5 others"):
        store.add_named_data("a", b"three")
    with pytest.raises(ValueError, match=r"'a': expected the \d+ bytes stored before"):
        store.add_named_data("a", b"three", external_tag="file")


def test_an_alignment_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="'a': expected an alignment of at least 1, got 0"):
        NamedDataStore().add_named_data("a", b"", alignment=0)


def test_a_tensor_is_stored_as_its_elements_lie() -> None:
    store = NamedDataStore()
    tensor = torch.arange(6, dtype=torch.int16).view(2, 3)
    store.add_named_data("rows", tensor)
    store.add_named_data("columns", tensor.t())
    store.add_named_data("every other", tensor[:, ::2])
    store.add_named_data("half", torch.ones(2, dtype=torch.bfloat16))
    named = store.get_named_data_store_output().named_data()
    assert named["rows"] == named["columns"] == tensor.numpy().tobytes()
    assert named["every other"] == tensor.numpy()[:, ::2].tobytes()
    assert named["half"] == b"\x80\x3f" * 2


def test_stores_merge_and_external_data_keeps_its_file() -> None:
    first, second = NamedDataStore(), NamedDataStore()
    first.add_named_data("a", b"same")
    second.add_named_data("b", b"same")
    second.add_named_data("w", b"weights", external_tag="weights")
    first.merge_named_data_store(second.get_named_data_store_output())
    output = first.get_named_data_store_output()
    assert output.buffers == [b"same", b"weights"]
    assert list(output.external_data) == ["weights"] and list(output.external_data["weights"]) == ["w"]
    assert output.named_data() == {"a": b"same", "b": b"same"}


def test_a_lowered_module_has_its_blobs_by_name() -> None:
    class Storing(BackendDetails):
        @staticmethod
        def preprocess(edge_program, compile_specs):
            store = NamedDataStore()
            store.add_named_data("key", b"blob")
            return PreprocessResult(b"", data_store_output=store.get_named_data_store_output())

    lowered = to_backend("Storing", core_aten(lambda x: x.sin(), [torch.ones(2)]), [])
    assert lowered.named_data == {"key": b"blob"}
