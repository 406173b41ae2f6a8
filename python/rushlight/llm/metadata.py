# SPDX-License-Identifier: BSD-3-Clause
"""Methods that return facts about a language model, under the names that ExecuTorch's runners look up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rushlight.program.model import Kind, Method, Value


@dataclass(frozen=True)
class SpecialTokens:
    """The token that begins a text, if the model has one, and the tokens that end one."""

    bos: int | None = None
    eos: tuple[int, ...] = ()


def metadata_methods(
    tokens: SpecialTokens, *, vocabulary: int, layers: int, context: int, max_seq: int, custom_sdpa: bool
) -> list[Method]:
    """The methods, each without inputs."""
    made: dict[str, Sequence[int | bool]] = {
        "get_eos_ids": [*tokens.eos],
        "get_max_seq_len": [max_seq],
        "get_max_context_len": [context],
        "get_vocab_size": [vocabulary],
        "get_n_layers": [layers],
        "use_kv_cache": [True],
        "use_sdpa_with_kv_cache": [custom_sdpa],
        "enable_dynamic_shape": [True],
    }
    if tokens.bos is not None:
        made["get_bos_id"] = [tokens.bos]
    return [_constants(name, values) for name, values in made.items() if values]


def _constants(name: str, numbers: Sequence[int | bool]) -> Method:
    values = tuple(Value(Kind.BOOL if isinstance(number, bool) else Kind.INT, number) for number in numbers)
    return Method(name, values, (), tuple(range(len(values))), ((),), (), (), (0,))
