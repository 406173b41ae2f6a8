// SPDX-License-Identifier: BSD-3-Clause
// Feature words of an Arm processor under Linux, as variants.yaml names them. Their bits differ between 32
// and 64 bits.
#pragma once

#include <cstdint>

#include <sys/auxv.h>

namespace rushlight::ukernel {

struct Cpu {
  [[nodiscard]] uint32_t hwcap() const { return static_cast<uint32_t>(getauxval(AT_HWCAP)); }
  [[nodiscard]] uint32_t hwcap2() const { return static_cast<uint32_t>(getauxval(AT_HWCAP2)); }
};

}  // namespace rushlight::ukernel
