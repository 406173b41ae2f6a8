// SPDX-License-Identifier: BSD-3-Clause
// From reset to main() and back, the same for every board: memory, arguments, exit status.
#include <cstring>

#include "runtime/platform/semihosting_call.h"
#include "toolchains/boards/startup/startup.h"

int main(int argc, char** argv);

extern "C" {
extern uint8_t rushlight_data_start[], rushlight_data_end[];
extern const uint8_t rushlight_data_source[];
extern uint8_t rushlight_bss_start[], rushlight_bss_end[];
}

namespace rushlight::board {

namespace {

constexpr size_t kMaxCommandLine = 1024;
constexpr int kMaxArguments = 32;

// Splits at spaces, in place; a backslash keeps the character after it.
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
    *to++ = '\0';  // never ahead of `from`: a word and its space take at least as much room
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
  std::memcpy(rushlight_data_start, rushlight_data_source,
              static_cast<size_t>(rushlight_data_end - rushlight_data_start));
  std::memset(rushlight_bss_start, 0, static_cast<size_t>(rushlight_bss_end - rushlight_bss_start));
  board::prepare_core();
  char command_line[board::kMaxCommandLine];  // here, on the stack, they cost no static memory
  char* arguments[board::kMaxArguments + 1] = {};
  if (!semihosting_command_line(command_line, sizeof command_line)) {
    board::end_with_fault("command line too long", nullptr, 0);
  }
  const int count = board::split(command_line, arguments);
  semihosting_exit(main(count, arguments));
}

// What a table of virtual functions points at where a function is pure; the C++ library is not linked.
void __cxa_pure_virtual() { rushlight::board::end_with_fault("pure virtual function called", nullptr, 0); }

}  // extern "C"
