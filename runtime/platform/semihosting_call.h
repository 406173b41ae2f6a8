// SPDX-License-Identifier: BSD-3-Clause
// Arm semihosting (also defined for RISC-V): a trap instruction that a debugger or emulator handles. Startup
// code needs these calls before, or without, a platform layer; semihosting.cpp builds on them.
//
// Reference: Arm, "Semihosting for AArch32 and AArch64"; RISC-V, "Semihosting".
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight {

// Operation numbers of the specification.
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

// Executes one semihosting call. `block` is the call's parameter block, or its single parameter. Returns the
// call's result.
inline __attribute__((noinline)) intptr_t semihosting_call(SemihostingCall call, const void* block) {
#if defined(__arm__)
  register intptr_t result asm("r0") = static_cast<intptr_t>(call);
  register const void* parameter asm("r1") = block;
  asm volatile("bkpt 0xab" : "+r"(result) : "r"(parameter) : "memory");
#elif defined(__riscv)
  register intptr_t result asm("a0") = static_cast<intptr_t>(call);
  register const void* parameter asm("a1") = block;
  // The debugger recognises the trap by its neighbours: three uncompressed instructions within one page.
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

// Writes text that ends with a zero byte to the debugger's console. Usable before the C library is
// initialised.
inline void semihosting_write(const char* text) { semihosting_call(SemihostingCall::WriteText, text); }

// Copies the program's command line to `line`. Returns false if it is longer than `size` - 1 bytes.
inline bool semihosting_command_line(char* line, size_t size) {
  struct {
    char* line;
    size_t size;
  } block{line, size};
  return semihosting_call(SemihostingCall::CommandLine, &block) == 0;
}

// Ends the program with an exit status.
[[noreturn]] inline void semihosting_exit(int status) {
  constexpr intptr_t kApplicationExit = 0x20026;
  const intptr_t block[2] = {kApplicationExit, status};
  for (;;) semihosting_call(SemihostingCall::ExitExtended, block);
}

}  // namespace rushlight
