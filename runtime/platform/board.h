// SPDX-License-Identifier: BSD-3-Clause
// What the semihosting port asks of the board it was linked for. toolchains/boards/startup/ has it for the
// boards that rushlight knows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::board {

// Since reset, on the board's own clock.
uint64_t elapsed_ns();

// Instructions since reset, exact under QEMU's -icount.
uint64_t instructions();

// Bytes of the stack that were in use at some time since reset. The startup code fills the stack with a
// pattern; what has lost it was used.
size_t stack_peak();

}  // namespace rushlight::board

// From the linker script: the bank for arenas, less what was linked into it, and what static data and the
// stack leave of theirs.
extern "C" {
extern uint8_t rushlight_arena_start[];
extern uint8_t rushlight_arena_end[];
extern uint8_t rushlight_fast_start[];
extern uint8_t rushlight_fast_end[];
}
