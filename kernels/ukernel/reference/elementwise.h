// SPDX-License-Identifier: BSD-3-Clause
// Loops of kernels/ukernel/elementwise.h around a function of single elements, for tests. A test supplies the
// function and the tolerance, this the broadcasts.
#pragma once

#include <cstddef>

#include "kernels/ukernel/elementwise.h"

namespace rushlight::ukernel::reference {

// Element (row, i) of an operand: its row stride is in bytes and may be 0; `one` repeats the first element.
template <class T>
T element_of(const RowInput& input, size_t row, size_t i) {
  const char* at = static_cast<const char*>(input.data) + static_cast<ptrdiff_t>(row) * input.stride;
  return reinterpret_cast<const T*>(at)[input.one ? 0 : i];
}

// out = f(a, b, c) for operands of types A, B and C. A missing third operand is passed as 0. Each element is
// written before the next ones are read.
template <class Out, class A, class B, class C, class F>
void for_elements(const Rows& rows, F f) {
  for (size_t row = 0; row < rows.count; ++row) {
    Out* out =
        reinterpret_cast<Out*>(static_cast<char*>(rows.out) + static_cast<ptrdiff_t>(row) * rows.stride);
    for (size_t i = 0; i < rows.n; ++i) {
      const C c = rows.in[2].data == nullptr ? C(0) : element_of<C>(rows.in[2], row, i);
      out[i] = static_cast<Out>(f(element_of<A>(rows.in[0], row, i), element_of<B>(rows.in[1], row, i), c));
    }
  }
}

}  // namespace rushlight::ukernel::reference
