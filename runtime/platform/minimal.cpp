// SPDX-License-Identifier: BSD-3-Clause
// A machine of which nothing is known: no terminal, no files, no clock, no memory to give away. The start
// for a port of one's own, and enough for an application that brings its arenas and its program.
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
