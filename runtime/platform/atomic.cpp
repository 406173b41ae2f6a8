// SPDX-License-Identifier: BSD-3-Clause
// Atomic read-modify-write functions for cores that lack the instructions (ARMv6-M, RISC-V without extension
// A). Compilers emit calls to library functions there, which toolchains leave to the system to define. Such a
// core is single, so disabling interrupts around the update suffices. Empty on other targets; as a member of
// an archive it yields to a system that defines its own.
#include <cstdint>

#if __GCC_ATOMIC_INT_LOCK_FREE != 2 && (defined(__arm__) || defined(__riscv))

namespace {

// Disables interrupts for the lifetime of the object and then restores the previous state.
class InterruptsOff {
 public:
  // primask on Arm; bit 3 of mstatus (MIE) on RISC-V, read and cleared in one instruction.
  InterruptsOff() {
#ifdef __arm__
    asm volatile("mrs %0, primask\n cpsid i" : "=r"(before_) : : "memory");
#else
    asm volatile(".option push\n.option arch, +zicsr\ncsrrci %0, mstatus, 8\n.option pop"
                 : "=r"(before_)
                 :
                 : "memory");
#endif
  }
  ~InterruptsOff() {
#ifdef __arm__
    asm volatile("msr primask, %0" : : "r"(before_) : "memory");
#else
    asm volatile(".option push\n.option arch, +zicsr\ncsrs mstatus, %0\n.option pop"
                 :
                 : "r"(before_ & 8)
                 : "memory");
#endif
  }

 private:
  uint32_t before_;
};

}  // namespace

extern "C" {

// Defined by asm labels: C++ code may not define these names, because they are compiler built-ins.
uint32_t rushlight_fetch_add(volatile void* word, uint32_t value, int) asm("__atomic_fetch_add_4");
uint32_t rushlight_exchange(volatile void* word, uint32_t value, int) asm("__atomic_exchange_4");
bool rushlight_compare_exchange(volatile void* word, void* expected, uint32_t value, bool, int,
                                int) asm("__atomic_compare_exchange_4");

uint32_t rushlight_fetch_add(volatile void* word, uint32_t value, int) {
  const InterruptsOff off;
  auto& at = *static_cast<volatile uint32_t*>(word);
  const uint32_t before = at;
  at = before + value;
  return before;
}

uint32_t rushlight_exchange(volatile void* word, uint32_t value, int) {
  const InterruptsOff off;
  auto& at = *static_cast<volatile uint32_t*>(word);
  const uint32_t before = at;
  at = value;
  return before;
}

bool rushlight_compare_exchange(volatile void* word, void* expected, uint32_t value, bool, int, int) {
  const InterruptsOff off;
  auto& at = *static_cast<volatile uint32_t*>(word);
  auto& known = *static_cast<uint32_t*>(expected);
  const uint32_t before = at;
  const bool same = before == known;
  if (same) {
    at = value;
  } else {
    known = before;
  }
  return same;
}

}  // extern "C"

#endif
