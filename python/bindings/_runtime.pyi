# SPDX-License-Identifier: BSD-3-Clause
"""Native runtime: programs, methods and the kernels linked into this module.

rushlight.runtime is the public interface. Here dtypes are PyTorch's enum values, and `outputs` selects how
tensors are returned: 0 copies, 1 read-only views, 2 writable views.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from typing_extensions import Buffer

class RuntimeFailure(Exception):
    """`args`: the error's code, its name, the log lines (innermost cause first), the index of the input that
    caused it, the names of all missing operators or backends, the instruction and operator of the call that
    failed, and the source file of the innermost cause; None for those that do not apply."""

class DelegateMemory(TypedDict):
    """In bytes."""

    working: int
    scratch: int
    prepared: int

class Lanes(TypedDict):
    """Describes the calls of a method that execute in parallel: the most at once, the windows of consecutive
    instructions in which they do, the calls in them, the windows that were measured to be faster so, those
    that are still measured, and the planned bytes with lanes and as the program states them."""

    lanes: int
    windows: int
    calls: int
    taken: int
    open: int
    planned_bytes: int
    program_bytes: int

class Memory(TypedDict):
    """In bytes."""

    method_arena: int
    planned: list[int]
    temporary_peak: int
    scratch: int
    prepared: int
    delegates: DelegateMemory

# (dtype, sizes, dim order, dynamism (0: static), is planned, bytes)
Tensor = tuple[int, tuple[int, ...], tuple[int, ...], int, bool, int]

class MethodFacts(TypedDict):
    """Inputs and outputs are (kind, tensor or None), attributes (name, tensor). Sizes are in bytes."""

    name: str
    inputs: list[tuple[str, Tensor | None]]
    outputs: list[tuple[str, Tensor | None]]
    attributes: list[tuple[str, Tensor]]
    operators: list[str]
    backends: list[str]
    planned: list[int]
    arena_32: int
    arena_64: int

class LoweredDelegate(TypedDict):
    """A delegate's graph as a program of plain calls with one method. `inputs` and `outputs` hold, for each
    input and output of that method, the index of the delegate's argument; `constants` holds the program's
    external tensors by name."""

    program: bytes
    constants: dict[str, bytes]
    inputs: list[int]
    outputs: list[int]
    debug_handles: list[int]

class BuildInfo(TypedDict):
    log_level: str
    compiler: str
    assertions: bool
    event_tracing: bool
    variants: list[str]
    variant: str
    sizeof_evalue: int
    sizeof_tensor_impl: int
    sizeof_pointer: int

class Trace:
    """Collects the events of a program's methods, for ETDump files."""

    def __init__(self, debug_buffer_size: int = 0) -> None: ...
    def write(self, path: str, debug_path: str | None = None) -> None: ...
    def lost(self) -> tuple[int, int]: ...

class Execution:
    """One asynchronous execution. Ends before the next instruction after cancel()."""

    def cancel(self) -> None: ...
    def has_begun(self) -> bool: ...

class Method:
    def execute(
        self, inputs: list[Any] | None, outputs: int = 0, execution: Execution | None = None
    ) -> list[Any]: ...
    def submit(self, call: Callable[[Execution, int], None], timeout: float | None) -> Execution: ...
    def set_inputs(self, inputs: list[Any]) -> None: ...
    def run(self) -> None: ...
    def outputs(self, outputs: int = 0) -> list[Any]: ...
    def memory(self) -> Memory: ...
    def lanes(self) -> Lanes: ...

class TextFacts(TypedDict):
    """Properties of a program's language model."""

    begin: int | None
    ends: list[int]
    context: int
    chunk: int
    vocabulary: int
    takes_text: bool
    takes_messages: bool

class TextStatistics(TypedDict):
    """Counts of tokens, and times in nanoseconds (_ns)."""

    prompt_tokens: int
    cached_tokens: int
    evaluated_tokens: int
    generated_tokens: int
    decoded_tokens: int
    first_token_ns: int
    prefill_ns: int
    decode_ns: int

class TextGenerator:
    """`options` of begin() must have all fields of the C++ structures GenerateOptions and SamplerOptions."""

    def encode(self, prompt: str) -> list[int]: ...
    def encode_chat(self, messages: Sequence[tuple[str, str]]) -> list[int]: ...
    def begin(self, prompt: Sequence[int], options: dict[str, Any]) -> None: ...
    def step(self) -> tuple[bytes, int | None, float, int]: ...
    def rewind(self, count: int) -> None: ...
    def tokens(self) -> list[int]: ...
    def facts(self) -> TextFacts: ...
    def statistics(self) -> TextStatistics: ...

class Program:
    def method_names(self) -> list[str]: ...
    def method_facts(self, name: str) -> MethodFacts: ...
    def serve(
        self,
        name: str,
        signature: str,
        first: bool,
        overwrites: bool,
        function: Callable[[list[Any]], list[tuple[int, ...]]],
    ) -> bool: ...
    def served(self) -> dict[str, int]: ...
    def rewritten(self, name: str) -> bytes | None: ...
    def load_method(self, name: str) -> Method: ...
    def load_text_generator(self) -> TextGenerator: ...

class Tokenizer:
    """Raises RuntimeFailure if the vocabulary is invalid. Ids outside of the vocabulary have empty texts."""

    def __init__(self, blob: bytes) -> None: ...
    def encode(self, text: str, parse_special: bool) -> list[int]: ...
    def decode(self, tokens: Sequence[int], skip_special: bool) -> str: ...
    def text(self, token: int) -> bytes: ...
    def is_special(self, token: int) -> bool: ...
    def find(self, text: str | bytes) -> int: ...
    def prefix(self) -> list[int]: ...
    def suffix(self) -> list[int]: ...
    def bos(self) -> int: ...
    def eos(self) -> int: ...
    def __len__(self) -> int: ...

class TokenDecoder:
    """Decodes a stream of tokens; holds back the bytes of an incomplete character."""

    def __init__(self, tokenizer: Tokenizer, skip_special: bool) -> None: ...
    def add(self, token: int) -> str: ...
    def finish(self) -> str: ...

class ChatTemplate:
    def __init__(self, blob: bytes) -> None: ...
    def render(self, messages: Sequence[tuple[str, str]], generation_prompt: bool) -> str: ...
    def encode(
        self, messages: Sequence[tuple[str, str]], generation_prompt: bool, tokenizer: Tokenizer
    ) -> list[int]: ...

class Sampler:
    """sample() needs at least one logit."""

    def __init__(
        self,
        temperature: float,
        top_k: int,
        top_p: float,
        min_p: float,
        repetition_penalty: float,
        repeat_last_n: int,
        seed: int,
    ) -> None: ...
    def sample(self, logits: Any, recent: Sequence[int]) -> int: ...

class LoadOptions:
    """Options of loading. `lanes`: the most calls at once, 0 for one per thread. `call_seconds`: by method,
    the measured seconds of each instruction. `optimize`: rewrite methods when they are loaded."""

    def __init__(
        self,
        trace: Trace | None = None,
        threads: int = 0,
        prepare: bool = True,
        max_instructions: int = 0,
        max_memory: int = 0,
        lanes: int = 0,
        call_seconds: dict[str, list[float]] = ...,
        optimize: bool = True,
    ) -> None: ...

def load_file(
    path: str, data_files: Sequence[str] = (), mode: int = 1, options: LoadOptions = ...
) -> Program: ...
def load_bytes(data: Buffer, data_files: Sequence[str] = (), options: LoadOptions = ...) -> Program: ...
def drain_executions(seconds: float) -> bool: ...
def operator_names() -> list[str]: ...
def operator_dtypes() -> dict[str, list[int]]: ...
def backend_names() -> list[str]: ...
def backend_is_available(name: str) -> bool: ...
def set_seed(seed: int) -> None: ...
def build_info() -> BuildInfo: ...
def lower_xnnpack(payload: Buffer, named_data: dict[str, Buffer], dynamic: bool) -> LoweredDelegate: ...
