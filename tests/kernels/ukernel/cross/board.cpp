// SPDX-License-Identifier: BSD-3-Clause
// Support for the C library on bare metal: terminal output and exit. Its heap is the board's arena.
#include <cstdio>

#include "runtime/platform/semihosting_call.h"

namespace {

constexpr int kAbortStatus = 134;

int put(char c, FILE*) {
  const char text[2] = {c, '\0'};
  rushlight::semihosting_write(text);
  return 0;
}
FILE terminal = FDEV_SETUP_STREAM(put, nullptr, nullptr, _FDEV_SETUP_WRITE);

}  // namespace

FILE* const stdout = &terminal;

extern "C" [[noreturn]] void abort() { rushlight::semihosting_exit(kAbortStatus); }
