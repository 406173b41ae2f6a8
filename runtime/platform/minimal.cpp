// SPDX-License-Identifier: BSD-3-Clause
// Platform layer for an unknown machine: no terminal, no files, no clock, no memory to claim. It suffices for
// an application that brings its own arenas and program, and is the starting point of a new port.
#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"

namespace rushlight::platform {

void init() {}

void abort() {
  for (;;) __builtin_trap();
}

void emit_log(LogLevel, const char*, int, const char*) {}

uint64_t now_ns() { return 0; }

uint64_t instruction_count() { return 0; }

size_t stack_peak() { return 0; }

Span<uint8_t> claim_memory(size_t, Bank) { return {}; }

int file_open(const char*, FileMode) { return -1; }

long file_size(int) { return -1; }

size_t file_read(int, void*, size_t) { return 0; }

size_t file_write(int, const void*, size_t) { return 0; }

void file_close(int) {}

void print_line(const char*) {}

}  // namespace rushlight::platform
