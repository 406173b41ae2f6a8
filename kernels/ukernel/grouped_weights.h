// SPDX-License-Identifier: BSD-3-Clause
// Unpacked weights of linear layers: integers of 8 or 4 bits with a scale for each group along the depth. The
// input of pack_dynamic (dynamic_gemm.h) and pack_mixed (mixed_gemm.h), which read each element once. The
// weight of column j at depth k is scale[j][k / group] * number[j][k]; there are no zero points.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::ukernel {

// The depth is groups * group; a depth of 0 is one group of 0 elements. With is_packed, elements have 4 bits,
// and `group` is even unless there is only one group.
struct GroupedForm {
  size_t groups = 1;
  size_t group = 0;
  bool is_packed = false;
};

// number[j][k] in rows j: int8, or uint8 with two elements of -8 to 7 in a byte, stored plus 8, the first in
// the lower half. scale[j][g] is scales[j * scale_stride + g]. Does not own the arrays.
//
//   int8      row j = number[j][0], number[j][1], ...                              depth bytes
//   4 bits    row j = (number[j][0] + 8) | (number[j][1] + 8) << 4, ...            (depth + 1) / 2 bytes
//
// A scale_stride of 0 gives all rows the same scales.
struct GroupedWeights {
  GroupedForm form;
  const void* data = nullptr;
  ptrdiff_t stride = 0;  // in bytes from row to row
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
  // Returns a view of the rows from `first` on. Precondition: at most as many rows as there are.
  [[nodiscard]] GroupedWeights from(size_t first) const {
    GroupedWeights weights = *this;
    weights.data = static_cast<const char*>(data) + static_cast<ptrdiff_t>(first) * stride;
    weights.scales = scales + static_cast<ptrdiff_t>(first) * scale_stride;
    return weights;
  }
};

}  // namespace rushlight::ukernel
