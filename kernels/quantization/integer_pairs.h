// SPDX-License-Identifier: BSD-3-Clause
// Portable elementwise operators of two quantized tensors, which broadcast. The functions of sums and
// products come from kernels/ukernel, so that portable code and backs share their definition.
#pragma once

#include "kernels/checks/checks.h"
#include "kernels/walk/broadcast.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// `function` is passed by value: stores to `out` are bytes, which may alias anything that a reference names,
// so the compiler would reload it for every element.
template <class T, class F>
void compute_pair_row(const F function, char* const* at, const BroadcastAxis& axis) {
  constexpr ptrdiff_t kSize = sizeof(T);
  auto* out = reinterpret_cast<T*>(at[0]);
  const auto* a = reinterpret_cast<const T*>(at[1]);
  const auto* b = reinterpret_cast<const T*>(at[2]);
  // Contiguous operands: a loop that compilers vectorize.
  if (axis.strides[0] == kSize && axis.strides[1] == kSize && axis.strides[2] == kSize) {
    for (size_t i = 0; i < axis.size; ++i) out[i] = static_cast<T>(function(a[i], b[i]));
    return;
  }
  // Any strides, also 0 for a broadcast operand.
  for (size_t i = 0; i < axis.size; ++i) {
    *out = static_cast<T>(function(*a, *b));
    out += axis.strides[0] / kSize;
    a += axis.strides[1] / kSize;
    b += axis.strides[2] / kSize;
  }
}

// out[i] = function(a[i], b[i]); `out` has the broadcast shape. The function returns a value in the range of
// T.
template <class T, class F>
void compute_pairs_as(const F& function, const Tensor& a, const Tensor& b, const Tensor& out) {
  const Tensor* const operands[] = {&out, &a, &b};
  for_each_row(operands,
               [&](char* const* at, const BroadcastAxis& axis) { compute_pair_row<T>(function, at, axis); });
}

// InvalidType unless `types` contains the common dtype of all three tensors.
inline Error check_pair(TypeSet types, const Tensor& self, const Tensor& other, const Tensor& out) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(self, other, "self and other"));
  return check_same_dtype(self, out, "self and out");
}

// Resizes `out` to the broadcast shape. InvalidArgument.
inline Error resize_to_pair(const Tensor& self, const Tensor& other, const Tensor& out) {
  Shape shape;
  RL_TRY(broadcast_shape(self.sizes(), other.sizes(), &shape));
  return resize_out(out, shape.span());
}

// Dispatches compute_pairs_as() by dtype. InvalidType if kTypes does not contain it. Precondition:
// check_pair().
template <TypeSet kTypes, class F>
Error compute_pairs(const F& function, const Tensor& self, const Tensor& other, const Tensor& out) {
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    compute_pairs_as<typename decltype(type)::Element>(function, self, other, out);
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
