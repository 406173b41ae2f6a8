// SPDX-License-Identifier: BSD-3-Clause
// Functions and symbols that the semihosting port needs from its board. toolchains/boards/startup/ defines
// them for the boards that rushlight supports.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::board {

// Nanoseconds since reset, by the board's clock.
uint64_t elapsed_ns();

// Instructions executed since reset; exact under QEMU's -icount.
uint64_t instructions();

// Peak stack use since reset, in bytes. The startup code fills the stack with a pattern; bytes that differ
// from it were used.
size_t stack_peak();

}  // namespace rushlight::board

// Symbols of the linker script. The arena bank excludes data that was linked into it; the fast bank is the
// part of its memory that static data and the stack leave free.
extern "C" {
extern uint8_t rushlight_arena_start[];
extern uint8_t rushlight_arena_end[];
extern uint8_t rushlight_fast_start[];
extern uint8_t rushlight_fast_end[];
}
