// SPDX-License-Identifier: BSD-3-Clause
// Enumeration of nonzero elements of any dtype by their bits, without a loop for each dtype. Cost: a loop
// over the bytes of each element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/walk/fibers.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// True if an element is not zero; for floating values the sign bit is ignored, so -0.0 is zero and NaN is
// not. `element` is the size in bytes, at most 8; the bytes are little-endian.
inline bool is_set(const char* at, size_t element, bool floating) {
  uint64_t bits = 0;
  for (size_t i = 0; i < element; ++i) bits = bits << 8 | static_cast<uint8_t>(at[element - 1 - i]);
  // Shifts the sign bit, the highest one of the element, out of the 64 bits.
  return (floating ? bits << (65 - 8 * element) : bits) != 0;
}

// Calls f(position in row-major order) for every nonzero element, in ascending order. A complex element is
// nonzero if one of its parts is.
template <class F>
void for_each_set(const Tensor& self, F f) {
  if (self.numel() == 0) return;
  const View view = at_least_1d(self);
  // A complex element is tested as two floating ones.
  const bool is_pair = is_complex(self.scalar_type());
  const bool floating = is_pair || is_floating(self.scalar_type());
  const size_t element = self.element_size() / (is_pair ? 2 : 1);
  int64_t position = 0;
  const Error error = for_each_fiber({&view, 1}, view.dim - 1, [&](const Fiber* fibers) {
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i, ++position) {
      const char* const at = fibers[0].data + i * fibers[0].stride;
      if (is_set(at, element, floating) || (is_pair && is_set(at + element, element, floating))) f(position);
    }
    return Error::Ok;
  });
  static_cast<void>(error);  // the callback returns no error
}

}  // namespace rushlight::kernels
