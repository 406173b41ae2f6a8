// SPDX-License-Identifier: BSD-3-Clause
// Linux and other POSIX systems; and WASI, which has their files and clocks.
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

void write_all(int file, const char* text) {
  size_t left = std::strlen(text);
  while (left > 0) {
    const ssize_t done = ::write(file, text, left);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    text += done;
    left -= static_cast<size_t>(done);
  }
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
  write_all(STDERR_FILENO, message);
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
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file, static_cast<char*>(data) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

size_t file_write(int file, const void* data, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t put = ::write(file, static_cast<const char*>(data) + done, size - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) break;
    done += static_cast<size_t>(put);
  }
  return done;
}

void file_close(int file) { ::close(file); }

void print_line(const char* text) {
  write_all(STDOUT_FILENO, text);
  write_all(STDOUT_FILENO, "\n");
}

}  // namespace rushlight::platform
