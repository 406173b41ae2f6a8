// SPDX-License-Identifier: BSD-3-Clause
// From reset to main() and back, for every board: initialises memory, passes arguments, returns the exit
// status.
#include <cstring>

#include "runtime/platform/board.h"
#include "runtime/platform/semihosting_call.h"
#include "toolchains/boards/startup/startup.h"

int main(int argc, char** argv);

extern "C" {
extern uint8_t rushlight_data_start[], rushlight_data_end[];
extern const uint8_t rushlight_data_source[];
extern uint8_t rushlight_bss_start[], rushlight_bss_end[];
extern uint32_t rushlight_stack_start[], rushlight_stack_end[];
}

namespace rushlight::board {

namespace {

constexpr size_t kMaxCommandLine = 1024;
constexpr int kMaxArguments = 32;
constexpr uint32_t kUnusedStack = 0x7ac35e91;

// Fills the stack below the caller's frame with a pattern. Inlined, because it would overwrite its own frame.
inline __attribute__((always_inline)) void paint_stack() {
  uintptr_t top;
#if defined(__arm__)
  asm volatile("mov %0, sp" : "=r"(top));
#else
  asm volatile("mv %0, sp" : "=r"(top));
#endif
  // Volatile keeps the compiler from replacing the loop by a call.
  for (volatile uint32_t* word = rushlight_stack_start; reinterpret_cast<uintptr_t>(word) < top; ++word) {
    *word = kUnusedStack;
  }
}

// Splits at spaces, in place; a backslash escapes the next character.
int split(char* command_line, char** arguments) {
  int count = 0;
  const char* from = command_line;
  char* to = command_line;
  while (*from != '\0') {
    if (count == kMaxArguments) end_with_fault("too many arguments", nullptr, 0);
    arguments[count++] = to;
    for (; *from != '\0' && *from != ' '; ++from) {
      if (*from == '\\' && from[1] != '\0') ++from;
      *to++ = *from;
    }
    if (*from == ' ') ++from;
    *to++ = '\0';  // never ahead of `from`: a word and its space take at least as many bytes
  }
  return count;
}

void write_hex(uintptr_t value) {
  char text[2 * sizeof value + 3] = "0x";
  for (size_t i = 0; i < 2 * sizeof value; ++i) {
    text[2 + i] = "0123456789abcdef"[(value >> (4 * (2 * sizeof value - 1 - i))) & 15];
  }
  semihosting_write(text);
}

}  // namespace

size_t stack_peak() {
  const volatile uint32_t* word = rushlight_stack_start;
  while (word != rushlight_stack_end && *word == kUnusedStack) ++word;
  return static_cast<size_t>(rushlight_stack_end - word) * sizeof *word;
}

void end_with_fault(const char* what, const FaultField* fields, size_t count) {
  semihosting_write("fault: ");
  semihosting_write(what);
  for (size_t i = 0; i < count; ++i) {
    semihosting_write(", ");
    semihosting_write(fields[i].name);
    semihosting_write(" ");
    write_hex(fields[i].value);
  }
  semihosting_write("\n");
  semihosting_exit(kFaultStatus);
}

}  // namespace rushlight::board

extern "C" {

void rushlight_start() {
  using namespace rushlight;
  board::paint_stack();
  std::memcpy(rushlight_data_start, rushlight_data_source,
              static_cast<size_t>(rushlight_data_end - rushlight_data_start));
  std::memset(rushlight_bss_start, 0, static_cast<size_t>(rushlight_bss_end - rushlight_bss_start));
  board::prepare_core();
  char command_line[board::kMaxCommandLine];  // on the stack, so they use no static memory
  char* arguments[board::kMaxArguments + 1] = {};
  if (!semihosting_command_line(command_line, sizeof command_line)) {
    board::end_with_fault("command line too long", nullptr, 0);
  }
  const int count = board::split(command_line, arguments);
  semihosting_exit(main(count, arguments));
}

// The entry of pure virtual functions in vtables; defined here because the C++ library is not linked.
void __cxa_pure_virtual() { rushlight::board::end_with_fault("pure virtual function called", nullptr, 0); }

}  // extern "C"
