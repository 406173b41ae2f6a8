// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/variants.h"

#if RUSHLIGHT_ARM_VARIANTS

#include <cstdlib>
#include <cstring>

#include <sys/auxv.h>

#include "kernels/ukernel/chosen.h"

namespace rushlight::ukernel {

namespace {

Variant choose() {
  // What Linux says of the processor; NEON's multiply-adds came with VFPv4.
  constexpr unsigned long kNeon = 1ul << 12, kVfp4 = 1ul << 16;
  if ((~getauxval(AT_HWCAP) & (kNeon | kVfp4)) != 0) return Variant::Native;
  const char* asked = std::getenv("RUSHLIGHT_CPU");
  return asked != nullptr && std::strcmp(asked, "native") == 0 ? Variant::Native : Variant::Neon;
}

}  // namespace

Variant variant() { return chosen_once<choose>(); }

}  // namespace rushlight::ukernel

#endif
