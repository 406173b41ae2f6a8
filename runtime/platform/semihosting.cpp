// SPDX-License-Identifier: BSD-3-Clause
// Platform layer for bare metal under QEMU or a debugger: semihosting provides files, terminal and exit; the
// board provides clocks and memory.
#include <cstring>

#include "runtime/platform/board.h"
#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"
#include "runtime/platform/semihosting_call.h"

namespace rushlight::platform {

namespace {

constexpr int kAbortStatus = 134;  // exit status that a shell shows after SIGABRT
constexpr size_t kArenaAlignment = 16;

size_t claimed_bytes[2];  // bytes claimed from each bank

// Arguments of the calls SYS_READ and SYS_WRITE: three words, as Arm's specification lays them out.
struct TransferBlock {
  intptr_t file;
  const void* data;
  size_t size;
};

// Both calls return the number of bytes that were not transferred.
size_t transfer(SemihostingCall call, int file, const void* data, size_t size) {
  const TransferBlock block{file, data, size};
  const auto left = static_cast<size_t>(semihosting_call(call, &block));
  return left <= size ? size - left : 0;
}

// On some boards the banks for arenas and for fast memory are the same. The comparison is hidden from the
// compiler, which otherwise assumes that two symbols have different addresses.
bool banks_are_one() {
  const uint8_t* arena = rushlight_arena_start;
  asm volatile("" : "+r"(arena));
  return arena == rushlight_fast_start;
}

}  // namespace

void init() {}

void abort() {
  semihosting_write("aborted\n");
  semihosting_exit(kAbortStatus);
}

void emit_log(LogLevel level, const char*, int, const char* message) {
  constexpr const char* kPrefix[] = {"debug: ", "info: ", "error: "};
  semihosting_write(kPrefix[static_cast<unsigned>(level)]);
  print_line(message);
}

uint64_t now_ns() { return board::elapsed_ns(); }

uint64_t instruction_count() { return board::instructions(); }

size_t stack_peak() { return board::stack_peak(); }

Span<uint8_t> claim_memory(size_t size, Bank bank) {
  if (banks_are_one()) bank = Bank::Large;
  uint8_t* const start = bank == Bank::Large ? rushlight_arena_start : rushlight_fast_start;
  uint8_t* const end = bank == Bank::Large ? rushlight_arena_end : rushlight_fast_end;
  size_t& claimed = claimed_bytes[static_cast<size_t>(bank)];
  const auto left = static_cast<size_t>(end - start) - claimed;
  if (size > left) return {};
  uint8_t* memory = start + claimed;
  // The next block is aligned again; the last one may take the rest of the bank.
  const size_t rounded = (size + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
  claimed += rounded < left ? rounded : left;
  return {memory, size};
}

int file_open(const char* path, FileMode mode) {
  // Modes of SYS_OPEN, numbered like the strings of fopen(): "rb" and "wb".
  constexpr intptr_t kReadBinary = 1;
  constexpr intptr_t kWriteBinary = 5;
  const struct {
    const char* path;
    intptr_t mode;
    size_t length;
  } block{path, mode == FileMode::Read ? kReadBinary : kWriteBinary, std::strlen(path)};
  return static_cast<int>(semihosting_call(SemihostingCall::Open, &block));
}

long file_size(int file) {
  const intptr_t block = file;
  return static_cast<long>(semihosting_call(SemihostingCall::FileLength, &block));
}

size_t file_read(int file, void* data, size_t size) {
  return transfer(SemihostingCall::Read, file, data, size);
}

size_t file_write(int file, const void* data, size_t size) {
  return transfer(SemihostingCall::Write, file, data, size);
}

void file_close(int file) {
  const intptr_t block = file;
  semihosting_call(SemihostingCall::Close, &block);
}

void print_line(const char* text) {
  semihosting_write(text);
  semihosting_write("\n");
}

}  // namespace rushlight::platform
