// SPDX-License-Identifier: BSD-3-Clause
// IEEE 754 binary16 under ExecuTorch's names; the type is c10's.
#pragma once

#include <c10/util/Half.h>

namespace executorch::runtime::etensor {
using c10::Half;
// Conversions of the bits, for code that handles them as integers.
namespace internal {
using c10::detail::fp16_ieee_from_fp32_value;
using c10::detail::fp16_ieee_to_fp32_bits;
using c10::detail::fp16_ieee_to_fp32_value;
using c10::detail::fp32_from_bits;
using c10::detail::fp32_to_bits;
}  // namespace internal
}  // namespace executorch::runtime::etensor

namespace torch::executor {
using ::executorch::runtime::etensor::Half;
}
