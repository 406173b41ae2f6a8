// SPDX-License-Identifier: BSD-3-Clause
// The bits of a float, and the float of bits.
#pragma once

#include <cstdint>

#include <torch/headeronly/macros/Macros.h>
#include <torch/headeronly/util/bit_cast.h>

namespace torch::headeronly::detail {
inline float fp32_from_bits(uint32_t bits) { return bit_cast<float>(bits); }
inline uint32_t fp32_to_bits(float value) { return bit_cast<uint32_t>(value); }
}  // namespace torch::headeronly::detail

namespace c10::detail {
using torch::headeronly::detail::fp32_from_bits;
using torch::headeronly::detail::fp32_to_bits;
}  // namespace c10::detail
