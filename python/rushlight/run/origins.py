# SPDX-License-Identifier: BSD-3-Clause
"""Adds to errors of running methods the model's source line of the failed instruction."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from rushlight.errors import InvalidArgument, RushlightError
from rushlight.program import Program, record_beside


@dataclass(frozen=True)
class Origins:
    """The source lines of the instructions in a program file; `program` is the file's content."""

    path: Path
    program: Program

    @contextlib.contextmanager
    def told(self, methods: Collection[str]) -> Iterator[None]:
        """Adds the source line of the failed instruction to errors of the block, if `methods` names only one
        method."""
        try:
            yield
        except RushlightError as error:
            if error.instruction is not None and not error.source and len(methods) == 1:
                with contextlib.suppress(InvalidArgument):  # a damaged record must not hide the error
                    self._tell(error, error.instruction, next(iter(methods)))
            raise

    def _tell(self, error: RushlightError, instruction: int, method: str) -> None:
        record = record_beside(self.path, self.program)
        origin = record.method(method).at(instruction) if record else None
        if origin is not None:
            error.tell_source(str(origin))
