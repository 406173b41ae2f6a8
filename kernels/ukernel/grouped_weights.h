// SPDX-License-Identifier: BSD-3-Clause
// Weights of linear layers as integers of 8 or 4 bits whose groups along the depth have scales, as they come
// to be packed: what the families dynamic_gemm and mixed_gemm have in common.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::ukernel {

// The depth is groups * group; where that is 0, there is one group of nothing. Packed numbers are of 4 bits,
// and a group is even then, unless there is only one.
struct GroupedForm {
  size_t groups = 1;
  size_t group = 0;
  bool is_packed = false;
};

// number[j][k], by rows of j: int8, or uint8 with two numbers from -8 to 7 in a byte, counted from 0, the
// first in the lower half. scale[j][g] is scales[j * scale_stride + g].
struct GroupedWeights {
  GroupedForm form;
  const void* data = nullptr;
  ptrdiff_t stride = 0;  // bytes from row to row
  const float* scales = nullptr;
  ptrdiff_t scale_stride = 0;

  [[nodiscard]] size_t depth() const { return form.groups * form.group; }
  [[nodiscard]] int32_t number(size_t j, size_t k) const {
    const auto* row = static_cast<const uint8_t*>(data) + static_cast<ptrdiff_t>(j) * stride;
    return form.is_packed ? (row[k / 2] >> (k % 2 * 4) & 15) - 8 : static_cast<int8_t>(row[k]);
  }
  [[nodiscard]] float scale(size_t j, size_t g) const {
    return scales[static_cast<ptrdiff_t>(j) * scale_stride + static_cast<ptrdiff_t>(g)];
  }
  // Those of the rows from `first` on.
  [[nodiscard]] GroupedWeights from(size_t first) const {
    GroupedWeights weights = *this;
    weights.data = static_cast<const char*>(data) + static_cast<ptrdiff_t>(first) * stride;
    weights.scales = scales + static_cast<ptrdiff_t>(first) * scale_stride;
    return weights;
  }
};

}  // namespace rushlight::ukernel
