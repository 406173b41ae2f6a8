// SPDX-License-Identifier: BSD-3-Clause
// Platform layer for Linux and other POSIX systems, and for WASI, which has POSIX files and clocks.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef __wasi__
#include <sys/mman.h>
#endif

#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"

namespace rushlight::platform {

namespace {

// Reads or writes until `size` bytes are done, the file ends or a call fails; returns the number of bytes
// done. One shared function: inlining both uses makes the program larger.
[[gnu::noinline]] size_t transfer(int file, char* data, size_t size, FileMode mode) {
  size_t done = 0;
  while (done < size) {
    const ssize_t count = mode == FileMode::Read ? ::read(file, data + done, size - done)
                                                 : ::write(file, data + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

void write_bytes(int file, const char* text, size_t size) { static_cast<void>(file_write(file, text, size)); }

void write_all(int file, const char* text) { write_bytes(file, text, std::strlen(text)); }

// Length in bytes of the UTF-8 character at `at`; 1 if the byte starts no valid character.
size_t character_bytes(const unsigned char* at) {
  const size_t count = at[0] < 0xC2 ? 1 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : at[0] < 0xF5 ? 4 : 1;
  for (size_t i = 1; i < count; ++i)
    if ((at[i] & 0xC0) != 0x80) return 1;
  return count;
}

// Returns true if a terminal would interpret the character or show nothing: controls (C0, C1), bidirectional
// marks, zero-width characters, and bytes that are not UTF-8.
bool is_hidden(const unsigned char* at, size_t count) {
  if (count == 1) return (at[0] < 0x20 && at[0] != '\t') || at[0] >= 0x7F;
  const unsigned first = at[0] << 8 | at[1];
  // U+0080 to U+009F, U+00AD (soft hyphen), U+061C (Arabic letter mark).
  if (count == 2) return (at[0] == 0xC2 && at[1] < 0xA0) || first == 0xC2AD || first == 0xD89C;
  // U+200B to U+200F, U+2028 to U+202E; then U+2060 to U+207F, U+FEFF, and U+E0000 to U+E0FFF (tags).
  if (first == 0xE280) return (at[2] >= 0x8B && at[2] <= 0x8F) || (at[2] >= 0xA8 && at[2] <= 0xAE);
  return (first == 0xE281 && at[2] >= 0xA0) || (first == 0xEFBB && at[2] == 0xBF) || first == 0xF3A0;
}

// Writes text with hidden characters escaped as \xNN: messages contain names from files and programs.
void write_shown(int file, const char* text) {
  // Writes spans of plain text at once, so that ordinary messages take one system call.
  const char* plain = text;
  while (*text != 0) {
    const auto* at = reinterpret_cast<const unsigned char*>(text);
    const size_t count = character_bytes(at);
    if (is_hidden(at, count)) {
      write_bytes(file, plain, static_cast<size_t>(text - plain));
      for (size_t i = 0; i < count; ++i) {
        const char* const digits = "0123456789abcdef";
        const char escape[] = {'\\', 'x', digits[at[i] >> 4], digits[at[i] & 15]};
        write_bytes(file, escape, sizeof escape);
      }
      plain = text + count;
    }
    text += count;
  }
  write_bytes(file, plain, static_cast<size_t>(text - plain));
}

}  // namespace

void init() {}

void abort() {
  write_all(STDERR_FILENO, "aborted\n");
  std::abort();
}

void emit_log(LogLevel level, const char*, int, const char* message) {
  constexpr const char* kPrefix[] = {"debug: ", "info: ", "error: "};
  write_all(STDERR_FILENO, kPrefix[static_cast<unsigned>(level)]);
  write_shown(STDERR_FILENO, message);
  write_all(STDERR_FILENO, "\n");
}

uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t instruction_count() { return 0; }

size_t stack_peak() { return 0; }

#ifdef __wasi__
Span<uint8_t> claim_memory(size_t size, Bank) {
  // The size of WebAssembly's pages. New pages are zero and never returned.
  constexpr size_t kPage = 65536;
  constexpr size_t kRefused = ~size_t{0};
  if (size == 0) return {};
  const size_t pages = __builtin_wasm_memory_grow(0, size / kPage + (size % kPage != 0 ? 1 : 0));
  if (pages == kRefused) return {};
  return {reinterpret_cast<uint8_t*>(pages * kPage), size};
}
#else
Span<uint8_t> claim_memory(size_t size, Bank) {
  if (size == 0) return {};
  // Linux gives zeroed pages and commits them when they are first touched.
  void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return {};
  return {static_cast<uint8_t*>(pages), size};
}
#endif

int file_open(const char* path, FileMode mode) {
  return mode == FileMode::Read ? ::open(path, O_RDONLY | O_CLOEXEC)
                                : ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

long file_size(int file) {
  struct stat status{};
  if (::fstat(file, &status) != 0) return -1;
  return static_cast<long>(status.st_size);
}

size_t file_read(int file, void* data, size_t size) {
  return transfer(file, static_cast<char*>(data), size, FileMode::Read);
}

size_t file_write(int file, const void* data, size_t size) {
  return transfer(file, static_cast<char*>(const_cast<void*>(data)), size, FileMode::Write);
}

void file_close(int file) { ::close(file); }

void print_line(const char* text) {
  write_shown(STDOUT_FILENO, text);
  write_all(STDOUT_FILENO, "\n");
}

}  // namespace rushlight::platform
