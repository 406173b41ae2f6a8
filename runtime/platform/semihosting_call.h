// SPDX-License-Identifier: BSD-3-Clause
// Arm's semihosting, which RISC-V took over: a trap that a debugger or an emulator answers. Startup code
// needs the few calls here before and without a platform layer; semihosting.cpp builds the rest on them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight {

enum class SemihostingCall : intptr_t {
  Open = 0x01,
  Close = 0x02,
  WriteText = 0x04,
  Write = 0x05,
  Read = 0x06,
  FileLength = 0x0c,
  CommandLine = 0x15,
  ExitExtended = 0x20,
};

// `block` is the call's parameter block, or what the call takes in its place.
inline __attribute__((noinline)) intptr_t semihosting_call(SemihostingCall call, const void* block) {
#if defined(__arm__)
  register intptr_t result asm("r0") = static_cast<intptr_t>(call);
  register const void* parameter asm("r1") = block;
  asm volatile("bkpt 0xab" : "+r"(result) : "r"(parameter) : "memory");
#elif defined(__riscv)
  register intptr_t result asm("a0") = static_cast<intptr_t>(call);
  register const void* parameter asm("a1") = block;
  // The trap is known by its neighbours: three uncompressed instructions in one page.
  asm volatile(
      ".option push\n"
      ".option norvc\n"
      ".balign 16\n"
      "slli zero, zero, 0x1f\n"
      "ebreak\n"
      "srai zero, zero, 7\n"
      ".option pop"
      : "+r"(result)
      : "r"(parameter)
      : "memory");
#else
#error "no semihosting call is known for this architecture"
#endif
  return result;
}

inline void semihosting_write(const char* text) { semihosting_call(SemihostingCall::WriteText, text); }

// The words that the program was started with, in one line; false if there are more than `size` - 1 bytes.
inline bool semihosting_command_line(char* line, size_t size) {
  struct {
    char* line;
    size_t size;
  } block{line, size};
  return semihosting_call(SemihostingCall::CommandLine, &block) == 0;
}

[[noreturn]] inline void semihosting_exit(int status) {
  constexpr intptr_t kApplicationExit = 0x20026;
  const intptr_t block[2] = {kApplicationExit, status};
  for (;;) semihosting_call(SemihostingCall::ExitExtended, block);
}

}  // namespace rushlight
