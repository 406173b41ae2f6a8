// SPDX-License-Identifier: BSD-3-Clause
// Enumeration of nonzero elements of any dtype by their bits, with a loop for each width instead of each
// dtype.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/walk/fibers.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Writes 1 for each of n elements that is not zero, 0 for others. For floating values the sign bit is
// ignored, so -0.0 is zero and NaN is not. A complex element is nonzero if one of its parts is. `stride` in
// bytes.
void find_set(const char* source, ptrdiff_t stride, ScalarType type, size_t n, uint8_t* set);

// Calls f(position in row-major order) for every nonzero element, in ascending order.
template <class F>
void for_each_set(const Tensor& self, F f) {
  if (self.numel() == 0) return;
  const View view = at_least_1d(self);
  int64_t position = 0;
  const Error error = for_each_fiber({&view, 1}, view.dim - 1, [&](const Fiber* fibers) {
    constexpr ptrdiff_t kLength = 128;
    uint8_t set[kLength];
    uint8_t found[kLength];
    for (ptrdiff_t first = 0; first < fibers[0].size; first += kLength) {
      const ptrdiff_t n = fibers[0].size - first < kLength ? fibers[0].size - first : kLength;
      find_set(fibers[0].data + first * fibers[0].stride, fibers[0].stride, view.type, static_cast<size_t>(n),
               set);
      // Without a branch, which would be mispredicted: the entry is overwritten unless the element is set.
      size_t count = 0;
      for (ptrdiff_t i = 0; i < n; ++i) {
        found[count] = static_cast<uint8_t>(i);
        count += set[i];
      }
      for (size_t i = 0; i < count; ++i) f(position + found[i]);
      position += n;
    }
    return Error::Ok;
  });
  static_cast<void>(error);  // the callback returns no error
}

// The number of nonzero elements.
size_t count_set(const Tensor& self);

}  // namespace rushlight::kernels
