// SPDX-License-Identifier: BSD-3-Clause
// The functions that the runtime needs from its machine. A port is one source file that defines all of them:
// posix.cpp (Linux), semihosting.cpp (bare metal under a debugger or QEMU), or minimal.cpp (only abort; the
// starting point of a new port).
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/log.h"
#include "runtime/base/span.h"

namespace rushlight::platform {

// Initialises the platform. Call it once before anything else; the runner's main() does, libraries never do.
void init();

// Stops the program. Called when a debug assertion fails.
[[noreturn]] void abort();

// Outputs one log line. `message` ends with a zero byte and has no line break. May be called before init().
void emit_log(LogLevel level, const char* file, int line, const char* message);

// Reads a monotonic clock: nanoseconds since an arbitrary start, or 0 if the machine has no clock.
uint64_t now_ns();

// Returns the number of instructions that this core executed so far (exact under QEMU's -icount), or 0 if
// unknown.
uint64_t instruction_count();

// Returns the peak stack use since reset in bytes, or 0 if unknown.
size_t stack_peak();

// A kind of RAM for arenas. Hosts ignore it.
enum class Bank : uint8_t {
  Large,  // the bank that the board's description names for arenas
  Fast,   // the rest of the bank of static data and stack
};

// Returns `size` bytes, aligned to 16, for an application's arenas. The memory stays claimed until the
// program ends. Bare metal takes it from RAM that the linker script left free, Linux maps pages. Returns an
// empty span if the bank has too few bytes.
Span<uint8_t> claim_memory(size_t size, Bank bank = Bank::Large);

}  // namespace rushlight::platform
