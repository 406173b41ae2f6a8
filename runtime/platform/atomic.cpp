// SPDX-License-Identifier: BSD-3-Clause
// Cores that load and store words but cannot change one in a single step (ARMv6-M, RISC-V without the
// extension A): compilers call functions there, which their libraries leave to the system. Such a core is
// alone, so it is enough that no interrupt comes between. Empty elsewhere; an archive gives way to a system
// that brings its own.
#include <cstdint>

#if __GCC_ATOMIC_INT_LOCK_FREE != 2 && (defined(__arm__) || defined(__riscv))

namespace {

class InterruptsOff {
 public:
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

// By these names, which C++ may not define: compilers have them built in.
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
