// SPDX-License-Identifier: BSD-3-Clause
// Packs panels with scalars: copies of rows, transposes and gathers.
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#ifndef RL_OWN_COPIES
void copy_panel(float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride, size_t rows) {
  for (; rows > 0; --rows, to += to_stride, from += from_stride) {
    float numbers[kPanelColumns];
#pragma GCC unroll 8
    for (size_t j = 0; j < kPanelColumns; ++j) numbers[j] = from[j];
#pragma GCC unroll 8
    for (size_t j = 0; j < kPanelColumns; ++j) to[j] = numbers[j];
  }
}

void pack_panel(float* to, const float* from, ptrdiff_t from_stride, ptrdiff_t depth_stride, size_t columns,
                size_t depth) {
  size_t j = 0;
  for (; j + 2 <= columns; j += 2, from += 2 * from_stride) {
    const float* first = from;
    const float* second = from + from_stride;
    float* at = to + j;
    size_t k = depth;
    if (depth_stride == 1) {
      for (; k >= 4; k -= 4, at += 4 * kPanelColumns, first += 4, second += 4) {
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; ++i) {
          const float a = first[i], b = second[i];
          at[i * kPanelColumns] = a;
          at[i * kPanelColumns + 1] = b;
        }
      }
    }
    for (; k > 0; --k, at += kPanelColumns, first += depth_stride, second += depth_stride) {
      const float a = *first, b = *second;
      at[0] = a;
      at[1] = b;
    }
  }
  for (; j < kPanelColumns; ++j, from += from_stride) {
    const float* at = from;
    for (size_t k = 0; k < depth; ++k, at += depth_stride) to[k * kPanelColumns + j] = j < columns ? *at : 0;
  }
}
#endif

void gather_panel(float* to, ptrdiff_t to_stride, const PanelWindows& windows,
                  const PanelPosition& position) {
  for (size_t j = 0; j < kPanelColumns; ++j) {
    const auto row = static_cast<uint32_t>(windows.row[j] + position.row);
    const auto column = static_cast<uint32_t>(windows.column[j] + position.column);
    float* at = to + j;
    if (row >= position.height || column >= position.width) {
      for (size_t i = position.channels; i > 0; --i, at += to_stride) *at = 0;
    } else {
      const float* from = position.from + windows.offset[j];
      for (size_t i = position.channels; i > 0; --i, at += to_stride, from += position.channel_stride)
        *at = *from;
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
