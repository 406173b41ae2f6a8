// SPDX-License-Identifier: BSD-3-Clause
// RISC-V startup in machine mode: reset, traps, and the core's counters.
#include "runtime/platform/board.h"
#include "toolchains/boards/startup/startup.h"

// Execution starts at the beginning of the core's memory. A locked PMP entry denies access to the guard below
// the stack in machine mode too; without it, an overflow would overwrite code. Traps are reported from the
// far end of the stack, because the near end may have caused them.
asm(R"(
  .section .vectors, "ax"
  .option push
  .option arch, +zicsr
  .globl rushlight_reset
rushlight_reset:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, rushlight_stack_end
  la tp, rushlight_tls_start
  la t0, rushlight_trap
  csrw mtvec, t0
  la t0, rushlight_stack_guard
  srli t0, t0, 2
  ori t0, t0, 0x1ff
  csrw pmpaddr0, t0
  li t0, 0x98
  csrw pmpcfg0, t0
)"
#ifdef __riscv_flen
    R"(
  li t0, 0x2000
  csrs mstatus, t0
  csrw fcsr, zero
)"
#endif
#ifdef __riscv_vector
    R"(
  li t0, 0x200
  csrs mstatus, t0
)"
#endif
    R"(
  j rushlight_start

  .balign 4
rushlight_trap:
  mv a0, sp
  la sp, rushlight_stack_start + 512
  csrr a1, mcause
  csrr a2, mepc
  csrr a3, mtval
  j rushlight_report_trap
  .option pop
  .text
)");

namespace rushlight::board {

// A macro, because the counter's name is part of the instruction.
#if __riscv_xlen == 32
#define RUSHLIGHT_READ_COUNTER(name, result)                                       \
  do {                                                                             \
    uint32_t high, low, again;                                                     \
    do {                                                                           \
      asm volatile(                                                                \
          ".option push\n.option arch, +zicsr\n"                                   \
          "csrr %0, " name "h\ncsrr %1, " name "\ncsrr %2, " name "h\n.option pop" \
          : "=&r"(high), "=&r"(low), "=&r"(again));                                \
    } while (high != again);                                                       \
    result = (static_cast<uint64_t>(high) << 32) | low;                            \
  } while (false)
#else
#define RUSHLIGHT_READ_COUNTER(name, result) \
  asm volatile(".option push\n.option arch, +zicsr\ncsrr %0, " name "\n.option pop" : "=r"(result))
#endif

void prepare_core() {}

uint64_t elapsed_ns() {
  uint64_t ticks;
  RUSHLIGHT_READ_COUNTER("time", ticks);
  return ticks * (RUSHLIGHT_TICK_PS / 1000);
}

uint64_t instructions() {
  uint64_t count;
  RUSHLIGHT_READ_COUNTER("instret", count);
  return count;
}

}  // namespace rushlight::board

extern "C" {

[[noreturn]] __attribute__((used)) void rushlight_report_trap(uintptr_t sp, uintptr_t cause, uintptr_t pc,
                                                              uintptr_t address) {
  using rushlight::board::FaultField;
  const FaultField fields[] = {{"cause", cause}, {"pc", pc}, {"sp", sp}, {"address", address}};
  rushlight::board::end_with_fault("trap", fields, sizeof fields / sizeof fields[0]);
}

}  // extern "C"
