// SPDX-License-Identifier: BSD-3-Clause
// QEMU's RISC-V machine `virt`: reset, a 16550 UART.
#include <cstdint>
#include <cstring>

#include "board.h"

int main();

extern "C" {
extern uint8_t bss_start[], bss_end[];

// QEMU loads executables into RAM: .data needs no copy.
void start() {
  std::memset(bss_start, 0, static_cast<size_t>(bss_end - bss_start));
  main();
}
}

asm(R"(
  .section .vectors, "ax"
  .global reset
reset:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, stack_end
  la tp, tls_start
  la t0, fault
  .option push
  .option arch, +zicsr
  csrw mtvec, t0
  li t0, 0x2200  # floating point and vectors on, where there are any
  csrs mstatus, t0
  .option pop
  j start

  .balign 4
fault:
  wfi
  j fault
  .text
)");

namespace board {

namespace {

volatile uint8_t& uart(uintptr_t offset) { return *reinterpret_cast<volatile uint8_t*>(0x10000000 + offset); }

}  // namespace

void put(char character) {
  while ((uart(5) & 0x20) == 0) {
  }  // the last one is still there
  uart(0) = static_cast<uint8_t>(character);
}

void stop() {
  for (;;) asm volatile("wfi");
}

}  // namespace board
