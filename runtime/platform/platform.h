// SPDX-License-Identifier: BSD-3-Clause
// What the runtime asks of the machine it runs on. A port is one file that defines all of these:
// posix.cpp (Linux), semihosting.cpp (bare metal under a debugger or QEMU), minimal.cpp (nothing but
// abort; a start for a port of one's own).
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/log.h"
#include "runtime/base/span.h"

namespace rushlight::platform {

// Once, before anything else. main() of the runner does it; libraries never do.
void init();

[[noreturn]] void abort();

// `message` ends with a zero byte and has no line break. May be called before init().
void emit_log(LogLevel level, const char* file, int line, const char* message);

// A clock that only moves forward, in nanoseconds since an arbitrary start; 0 where there is none.
uint64_t now_ns();

// Instructions executed by this core so far, exact under QEMU's -icount; 0 where it cannot be had.
uint64_t instruction_count();

// The most bytes of stack that were in use so far, from reset on; 0 where it cannot be told.
size_t stack_peak();

// A board's memory for arenas; elsewhere all memory is alike.
enum class Bank : uint8_t {
  Large,  // the bank its description names for arenas
  Fast,   // what static data and the stack leave of theirs
};

// `size` bytes, aligned to 16, that nobody else uses and nobody gives back: an application's arenas.
// Bare metal takes them from the RAM that the linker script left free, Linux from the kernel. Empty
// when there is not so much.
Span<uint8_t> claim_memory(size_t size, Bank bank = Bank::Large);

}  // namespace rushlight::platform
