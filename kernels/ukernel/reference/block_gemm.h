// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/block_gemm.h, element by element, for tests: bit-exact, since volatile
// variables prevent fused multiply-adds. Reads the packed panel by BlockPanel, and the row before its
// quantization: each element of the result quantizes its row again.
#pragma once

#include <cmath>
#include <cstring>

#include "kernels/ukernel/block_gemm.h"
#include "kernels/ukernel/reference/half_gemm.h"

namespace rushlight::ukernel::reference {

// The scale or minimum of a feature: element `feature` of the arrays in a group's header, at any alignment.
inline float block_real(const BlockForm& form, const uint8_t* from, size_t feature) {
  if (form.is_single) {
    float value;
    std::memcpy(&value, from + feature * sizeof(value), sizeof(value));
    return value;
  }
  uint16_t half;
  std::memcpy(&half, from + feature * sizeof(half), sizeof(half));
  return half_to_float(half);
}

// One block of a row: elements begin to begin + block_depth(), with zeros past the depth. A block that is not
// finite has NaN as scale and zeros as q: products become NaN by the scale alone. A block below kBlockLeast
// has zeros only.
struct QuantizedBlock {
  float scale = 0;
  int32_t q[32] = {};
  int32_t sum = 0;

  QuantizedBlock(const BlockForm& form, const float* row, size_t begin) {
    float most = 0;
    bool is_finite = true;
    const size_t end = begin + form.block_depth() < form.depth ? begin + form.block_depth() : form.depth;
    for (size_t k = begin; k < end; ++k) {
      is_finite = is_finite && std::isfinite(row[k]);
      most = std::fmax(most, std::fabs(row[k]));
    }
    if (!is_finite) scale = std::nanf("");
    if (!is_finite || most < kBlockLeast) return;
    // Two float32 quotients: the scale is not computed from the inverse.
    const auto limit = static_cast<float>(form.most());
    volatile float inverse = limit / most;
    scale = most / limit;
    for (size_t k = begin; k < end; ++k) {
      volatile float scaled = row[k] * inverse;
      sum += q[k - begin] = static_cast<int32_t>(std::nearbyint(scaled));
    }
  }
};

// One element of the result, without bias and residual. Order: blocks along the depth; in a block first the
// product, then the minimum.
inline float multiply_blocks(const BlockForm& form, const void* panel, size_t feature, const float* row) {
  const BlockPanel weights{form, static_cast<const uint8_t*>(panel)};
  volatile float total = 0;  // rounds each step
  for (size_t begin = 0; begin < form.groups() * form.group; begin += form.block_depth()) {
    const QuantizedBlock block(form, row, begin);
    int32_t sum = 0;
    // Elements past the depth are 0 in the row, so that the panel's padding does not matter.
    for (size_t k = 0; k < form.block_depth(); ++k) {
      const int32_t number = weights.number(feature, begin + k);
      sum += (form.has_minimum ? number : number - form.zero()) * block.q[k];
    }
    const size_t g = begin / form.group;
    volatile float scale = block_real(form, weights.scales(g), feature) * block.scale;
    volatile float part = static_cast<float>(sum) * scale;
    total = total + part;
    if (form.has_minimum) {
      volatile float row_sum = static_cast<float>(block.sum) * block.scale;
      volatile float rest = row_sum * block_real(form, weights.minimums(g), feature);
      total = total + rest;
    }
  }
  return total;
}

}  // namespace rushlight::ukernel::reference
