// SPDX-License-Identifier: BSD-3-Clause
// Indices into all elements of a tensor in row-major order, for take and put: the layout of the tensor does
// not matter.
#pragma once

#include "kernels/index/index.h"
#include "kernels/walk/row_major.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Calls f(element of `indexed`, element of `other`) for every element of `index`, in row-major order of
// `index` and `other`, which have as many elements. Negative indices count from the end. Errors: InvalidType
// (dtype of index), InvalidArgument (index out of range; the elements before it have been visited). Cost: see
// RowMajorElements.
template <class F>
Error for_each_flat(const Tensor& index, const Tensor& indexed, const Tensor& other, F f) {
  RL_TRY(check_index_dtype(index));
  RowMajorCursor from(index);
  const RowMajorElements elements(indexed);
  const auto size = static_cast<ptrdiff_t>(indexed.numel());
  RowMajorCursor beside(other);
#ifndef __OPTIMIZE_SIZE__
  // Lines need no cursors.
  if (from.is_line() && beside.is_line() && elements.is_row_major()) {
    const char* at = from.get();
    char* to = beside.get();
    const auto step = static_cast<ptrdiff_t>(index.element_size());
    const auto element = static_cast<ptrdiff_t>(other.element_size());
    char* const first = elements.at(0);
    for (size_t n = index.numel(); n > 0; --n, at += step, to += element) {
      int64_t position = read_index(at, index.scalar_type());
      RL_TRY(wrap_index(&position, size));
      f(first + position * element, to);
    }
    return Error::Ok;
  }
#endif
  for (size_t n = index.numel(); n > 0; --n, from.advance(), beside.advance()) {
    // Read once: the checked value is the one that is used.
    int64_t position = read_index(from.get(), index.scalar_type());
    RL_TRY(wrap_index(&position, size));
    f(elements.at(static_cast<size_t>(position)), beside.get());
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
