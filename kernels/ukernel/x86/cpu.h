// SPDX-License-Identifier: BSD-3-Clause
// Feature words of an x86-64 processor, as variants.yaml names them: the bits of CPUID for instructions and
// of XCR0 for the registers that the operating system saves. AVX and AVX-512 need both: without the bits in
// XCR0 their instructions fault.
#pragma once

#include <cstdint>

#include <cpuid.h>

namespace rushlight::ukernel {

// Queries the processor at each call. CPUID is slow, above all in virtual machines, where it traps; variant()
// asks once.
struct Cpu {
  struct Registers {
    uint32_t eax, ebx, ecx, edx;
  };

  // The registers of CPUID for a leaf and a subleaf; all zeros if the processor lacks the leaf.
  [[nodiscard]] Registers cpuid(uint32_t leaf, uint32_t subleaf) const {
    Registers found{};
    __get_cpuid_count(leaf, subleaf, &found.eax, &found.ebx, &found.ecx, &found.edx);
    return found;
  }

  // The register states that the operating system saves; 0 if xgetbv is missing (OSXSAVE is not set). In
  // assembler, because the intrinsic needs -mxsave for the whole source.
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
