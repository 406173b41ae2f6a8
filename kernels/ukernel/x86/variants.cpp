// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/variants.h"

#if RUSHLIGHT_X86_VARIANTS

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <cpuid.h>

#include "kernels/ukernel/chosen.h"

namespace rushlight::ukernel {

namespace {

// What the operating system saves of the registers, XCR0.
uint64_t saved_registers() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

Variant best_of_machine() {
  constexpr unsigned kFma = 1u << 12, kOsxsave = 1u << 27, kAvx = 1u << 28, kF16c = 1u << 29;
  constexpr unsigned kAvx2 = 1u << 5;
  constexpr unsigned kAvx512 = (1u << 16) | (1u << 17) | (1u << 30) | (1u << 31);  // F, DQ, BW, VL
  constexpr uint64_t kYmm = 0x6, kZmm = 0xe6;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return Variant::Native;
  constexpr unsigned kNeeded = kFma | kOsxsave | kAvx | kF16c;
  if ((ecx & kNeeded) != kNeeded || (saved_registers() & kYmm) != kYmm) return Variant::Native;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (ebx & kAvx2) == 0) return Variant::Native;
  const bool wide = (ebx & kAvx512) == kAvx512 && (saved_registers() & kZmm) == kZmm;
  return wide ? Variant::Avx512 : Variant::Avx2;
}

Variant choose() {
  const Variant best = best_of_machine();
  const char* asked = std::getenv("RUSHLIGHT_CPU");
  if (asked == nullptr) return best;
  if (std::strcmp(asked, "native") == 0) return Variant::Native;
  if (std::strcmp(asked, "avx2") == 0 && best == Variant::Avx512) return Variant::Avx2;
  return best;
}

}  // namespace

Variant variant() { return chosen_once<choose>(); }

}  // namespace rushlight::ukernel

#endif
