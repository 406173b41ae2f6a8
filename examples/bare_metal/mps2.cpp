// SPDX-License-Identifier: BSD-3-Clause
// Arm's MPS2 with a Cortex-M (QEMU: mps2-an385, mps2-an386, mps2-an500): vectors, reset, UART.
#include <cstdint>
#include <cstring>

#include "board.h"

int main();

extern "C" {
extern uint8_t stack_end[], data_start[], data_end[], bss_start[], bss_end[], tls_start[];
extern const uint8_t data_source[];
// Sets the C library's thread pointer; linked only if it has thread-local variables, such as errno.
__attribute__((weak)) void _set_tls(void* block);
}

namespace {

volatile uint32_t& device(uintptr_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }

constexpr uintptr_t kUartData = 0x40004000, kUartState = 0x40004004, kUartControl = 0x40004008;
constexpr uintptr_t kUartBaudDivider = 0x40004010;
constexpr uintptr_t kCoprocessorAccess = 0xe000ed88;

extern "C" void reset() {
  device(kCoprocessorAccess) |= 0xfu << 20;  // the floating-point unit, where there is one
  asm volatile("dsb\n isb");
  std::memcpy(data_start, data_source, static_cast<size_t>(data_end - data_start));
  std::memset(bss_start, 0, static_cast<size_t>(bss_end - bss_start));
  if (_set_tls != nullptr) _set_tls(tls_start);
  device(kUartBaudDivider) = 217;  // 115200 of 25 MHz
  device(kUartControl) = 1;        // transmit
  main();
}

extern "C" void fault() { board::stop(); }

// Exceptions 1 to 15; no interrupt is switched on.
__attribute__((section(".vectors"), used)) const void* const kVectors[16] = {
    stack_end,
    reinterpret_cast<const void*>(reset),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
    reinterpret_cast<const void*>(fault),
};

}  // namespace

namespace board {

void put(char character) {
  while ((device(kUartState) & 1) != 0) {
  }  // full
  device(kUartData) = static_cast<uint8_t>(character);
}

void stop() {
  for (;;) asm volatile("wfi");
}

}  // namespace board
