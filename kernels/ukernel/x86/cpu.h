// SPDX-License-Identifier: BSD-3-Clause
// What an x86-64 processor says of itself: the words of variants.yaml.
#pragma once

#include <cstdint>

#include <cpuid.h>

namespace rushlight::ukernel {

struct Cpu {
  struct Registers {
    uint32_t eax, ebx, ecx, edx;
  };

  // All zero where there is no such leaf.
  [[nodiscard]] Registers cpuid(uint32_t leaf, uint32_t subleaf) const {
    Registers found{};
    __get_cpuid_count(leaf, subleaf, &found.eax, &found.ebx, &found.ecx, &found.edx);
    return found;
  }

  // The registers that the operating system saves; 0 where the instruction is missing.
  [[nodiscard]] uint32_t xcr0() const {
    constexpr uint32_t kOsxsave = 1u << 27;
    if ((cpuid(1, 0).ecx & kOsxsave) == 0) return 0;
    uint32_t low = 0;
    uint32_t high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
  }
};

}  // namespace rushlight::ukernel
