# SPDX-License-Identifier: BSD-3-Clause
"""Converts text to tokens and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rushlight.errors import InvalidArgument
from rushlight.runtime.native import call, default_module

if TYPE_CHECKING:
    from rushlight import _runtime


class Tokenizer:
    """Tokens of a language model, from the named data `rushlight.vocabulary` of its program.

        tokenizer = Tokenizer(blob)
        tokenizer.decode(tokenizer.encode("Hello")) == "Hello"

    Equal to Hugging Face's `tokenizers` with the same vocabulary. Can be used by several threads.
    Errors: InvalidExternalData where the blob is damaged.
    """

    def __init__(self, blob: bytes) -> None:
        module = default_module()
        self._native: _runtime.Tokenizer = call(module, module.Tokenizer, bytes(blob))
        self._size = len(self._native)

    def encode(self, text: str, *, add_special: bool = False, parse_special: bool = False) -> list[int]:
        """The tokens of `text`; code points that are no characters become `?`.

        Args:
            add_special: with the tokens that stand around a whole text, such as begin-of-sequence.
            parse_special: special tokens written in the text are those tokens: for prompts of a chat
                template, not for text of users.
        """
        plain = text.encode("utf-8", "replace").decode()
        tokens: list[int] = call(default_module(), self._native.encode, plain, parse_special)
        return [*self._native.prefix(), *tokens, *self._native.suffix()] if add_special else tokens

    def decode(self, tokens: Iterable[int], *, skip_special: bool = True) -> str:
        """The text of `tokens`; bytes that are not valid UTF-8 become U+FFFD. Errors: InvalidArgument for an
        integer that is no token."""
        return self._native.decode([self._checked(token) for token in tokens], skip_special)

    def stream(self, tokens: Iterable[int], *, skip_special: bool = True) -> Iterator[str]:
        """The text of each token, in whole characters: a token may yield an empty text, and the last item is
        the remaining text."""
        decoder = self.decoder(skip_special=skip_special)
        for token in tokens:
            yield decoder.add(self._checked(token))
        yield decoder.finish()

    def decoder(self, *, skip_special: bool = True) -> _runtime.TokenDecoder:
        """Decodes token by token: `add(token)` returns the text that is complete, `finish()` the rest."""
        decoder: _runtime.TokenDecoder = default_module().TokenDecoder(self._native, skip_special)
        return decoder

    def bytes_of(self, token: int) -> bytes:
        """The bytes of a token, possibly part of a character."""
        return self._native.text(self._checked(token))

    def is_special(self, token: int) -> bool:
        return self._native.is_special(self._checked(token))

    def find(self, text: str | bytes) -> int | None:
        """The token of `text`, special tokens included; None if there is none."""
        token = self._native.find(text)
        return None if token < 0 else token

    @property
    def bos(self) -> int | None:
        """The token that begins a text, according to the vocabulary."""
        token = self._native.bos()
        return None if token < 0 else token

    @property
    def eos(self) -> int | None:
        """The token that ends a text."""
        token = self._native.eos()
        return None if token < 0 else token

    @property
    def native(self) -> _runtime.Tokenizer:
        """The native tokenizer, for other native classes."""
        return self._native

    def __len__(self) -> int:
        return self._size

    def _checked(self, token: int) -> int:
        if not 0 <= token < self._size:
            raise InvalidArgument(f"token: expected 0 to {self._size - 1}, got {token}")
        return int(token)
