// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

// to[i * stride] = value for i < count.
template <class T>
void fill(T* to, ptrdiff_t stride, ptrdiff_t count, T value) {
  if constexpr (std::is_same_v<T, float>) {
    if (stride == 1) return ukernel::fill_span(to, static_cast<size_t>(count), value);
  }
  for (; count > 0; --count, to += stride) *to = value;
}

}  // namespace rushlight::kernels::board
