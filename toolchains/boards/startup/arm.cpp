// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M startup: vector table, reset, fault handler, and a clock on SysTick. A fault prints one line with
// the fault registers as they are: CFSR as "status", BFAR or MMFAR as "address".
#include "runtime/platform/board.h"
#include "toolchains/boards/startup/startup.h"

extern "C" {
extern uint8_t rushlight_stack_start[], rushlight_stack_end[], rushlight_tls_start[];
void rushlight_reset();
void rushlight_exception();
void rushlight_tick();
// From picolibc; null if no code uses thread-local storage.
__attribute__((weak)) void _set_tls(void* block);
}

namespace rushlight::board {

namespace {

volatile uint32_t& system_register(uintptr_t address) {
  return *reinterpret_cast<volatile uint32_t*>(address);
}
constexpr uintptr_t kSysTickControl = 0xe000e010;
constexpr uintptr_t kSysTickReload = 0xe000e014;
constexpr uintptr_t kSysTickValue = 0xe000e018;
constexpr uintptr_t kInterruptControl = 0xe000ed04;
constexpr uintptr_t kFaultStatusRegister = 0xe000ed28;
constexpr uintptr_t kMemoryFaultAddress = 0xe000ed34;
constexpr uintptr_t kBusFaultAddress = 0xe000ed38;
constexpr uint32_t kTickPending = 1u << 26;
constexpr uint32_t kTickMask = 0xffffff;

volatile uint32_t wraps;

// Clock cycles since prepare_core().
uint64_t ticks() {
  uint32_t before, value, pending;
  do {
    before = wraps;
    value = system_register(kSysTickValue);
    // Wrapped, but the interrupt is still pending: read again, so that the value is from after the wrap.
    pending = system_register(kInterruptControl) & kTickPending;
    if (pending != 0) value = system_register(kSysTickValue);
  } while (before != wraps);
  const uint64_t periods = static_cast<uint64_t>(before) + (pending != 0 ? 1 : 0);
  return (periods << 24) + (kTickMask - value);
}

// Time in units of 1/8 ns, so that the conversions below are shifts: a 64-bit division costs 80 instructions.
uint64_t eighth_ns() {
  static_assert(RUSHLIGHT_TICK_PS % 125 == 0, "board.json: tick_ps is no multiple of 125");
  return ticks() * (RUSHLIGHT_TICK_PS / 125);
}

using Handler = void (*)();
union Vector {
  const void* stack;
  Handler handler;
};

// Exceptions 2 to 14 share one handler; 15 is SysTick. No interrupt is enabled.
__attribute__((section(".vectors"), used)) const Vector vectors[16] = {
    {rushlight_stack_end},
    {.handler = rushlight_reset},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_exception},
    {.handler = rushlight_tick},
};

}  // namespace

void prepare_core() {
  if (_set_tls != nullptr) _set_tls(rushlight_tls_start);
  system_register(kSysTickReload) = kTickMask;
  system_register(kSysTickValue) = 0;
  system_register(kSysTickControl) = 7;  // enabled, with its interrupt, clocked by the core
  // The counter loads its first value one cycle later.
  while (system_register(kSysTickValue) == 0) continue;
}

uint64_t elapsed_ns() { return eighth_ns() / 8; }

uint64_t instructions() {
  // QEMU's -icount advances time by 2^shift ns per instruction.
  constexpr uint64_t kPerInstruction = uint64_t{8} << RUSHLIGHT_ICOUNT_SHIFT;
  return (eighth_ns() + kPerInstruction / 2) / kPerInstruction;
}

}  // namespace rushlight::board

extern "C" {

// GCC assembles ARMv6-M in the older syntax by default.
__attribute__((naked, used)) void rushlight_reset() {
  asm volatile(
      ".syntax unified\n"
#if __ARM_ARCH >= 8
      "ldr r0, =rushlight_stack_start\n"
      "msr msplim, r0\n"
#elif RUSHLIGHT_GUARD_BYTES > 0
      // Without a stack limit register: an inaccessible 4096-byte region of the memory protection unit.
      "ldr r0, =0xe000ed94\n"
      "ldr r1, =rushlight_stack_guard + 0x10\n"  // region 0, valid
      "str r1, [r0, #8]\n"
      "ldr r1, =0x10000017\n"  // execute never, no access, 2^12 bytes, enabled
      "str r1, [r0, #12]\n"
      "movs r1, #5\n"  // enabled; other accesses as without it
      "str r1, [r0]\n"
      "dsb\n"
      "isb\n"
#endif
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
      "ldr r0, =0xe000ed88\n"  // CPACR: coprocessors 10 and 11, floating point and MVE
      "ldr r1, [r0]\n"
      "orr r1, r1, #0xf00000\n"
      "str r1, [r0]\n"
      "dsb\n"
      "isb\n"
#endif
#if __ARM_ARCH == 6
      // ARMv6-M faults on unaligned access. Later cores do so if asked, so they find the same errors when
      // they stand in for it; ARMv6-M ignores the setting.
      "ldr r0, =0xe000ed14\n"
      "ldr r1, [r0]\n"
      "movs r2, #8\n"
      "orrs r1, r2\n"
      "str r1, [r0]\n"
#endif
      "bl rushlight_start\n"  // not b: the target may be out of its range on ARMv6-M
      ".ltorg\n");
}

void rushlight_tick() { rushlight::board::wraps = rushlight::board::wraps + 1; }

// Continues at the far end of the stack, because the near end may have caused the fault.
__attribute__((naked, used)) void rushlight_exception() {
  asm volatile(
#if __ARM_ARCH >= 8
      "movs r0, #0\n"
      "msr msplim, r0\n"
#endif
      "mrs r0, msp\n"
      "ldr r1, =rushlight_stack_start + 512\n"
      "mov sp, r1\n"
      "bl rushlight_report_exception\n"
      ".ltorg\n");
}

// `frame` points to the registers that the core stacked (r0 to r3, r12, lr, pc, xPSR), if the stack was
// valid.
[[noreturn]] __attribute__((used)) void rushlight_report_exception(const uint32_t* frame) {
  using namespace rushlight::board;
  uint32_t number;
  asm volatile("mrs %0, ipsr" : "=r"(number));
  const uint32_t status = system_register(kFaultStatusRegister);
  const auto* frame_bytes = reinterpret_cast<const uint8_t*>(frame);
  const bool stacked = frame_bytes >= rushlight_stack_start && frame_bytes + 32 <= rushlight_stack_end;
  uint32_t address = 0;
  if ((status & (1u << 7)) != 0) address = system_register(kMemoryFaultAddress);
  if ((status & (1u << 15)) != 0) address = system_register(kBusFaultAddress);
  const FaultField fields[] = {{"number", number},
                               {"pc", stacked ? frame[6] : 0},
                               {"lr", stacked ? frame[5] : 0},
                               {"sp", reinterpret_cast<uintptr_t>(frame)},
                               {"status", status},
                               {"address", address}};
  end_with_fault("exception", fields, sizeof fields / sizeof fields[0]);
}

}  // extern "C"
