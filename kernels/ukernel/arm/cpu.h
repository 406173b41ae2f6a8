// SPDX-License-Identifier: BSD-3-Clause
// Feature words of an Arm processor under Linux, as variants.yaml names them: AT_HWCAP and AT_HWCAP2 of the
// auxiliary vector, which the kernel passes to each process. On 32 bits, user space cannot read the ID
// registers that hold this. The meaning of a bit differs between 32 and 64 bits, so that each row lists its
// own.
#pragma once

#include <cstdint>

#include <sys/auxv.h>

namespace rushlight::ukernel {

struct Cpu {
  // Unsigned long has 64 bits on arm64, of which the table uses the lower 32.
  [[nodiscard]] uint32_t hwcap() const { return static_cast<uint32_t>(getauxval(AT_HWCAP)); }
  [[nodiscard]] uint32_t hwcap2() const { return static_cast<uint32_t>(getauxval(AT_HWCAP2)); }
};

}  // namespace rushlight::ukernel
