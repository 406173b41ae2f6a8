// SPDX-License-Identifier: BSD-3-Clause
// From an optimized kernel to the portable one of the same name, for dtypes that it does not compute in:
//
//   constexpr TypeSet kTypes = selected_types("aten::_softmax.out");
//   if (!all_of(kTypes, self, out)) RL_FALL_BACK("aten::_softmax.out", softmax_out, context, self, dim, out);
//
// A build for one dtype that the optimized kernel has does not compile the portable one. With all tensors of
// one such dtype an optimized kernel therefore takes every call itself.
#pragma once

#include <string_view>

#include "kernels/shared/checks.h"
#include "kernels/shared/selection.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Whether this build has the portable kernel, too.
static constexpr bool falls_back(std::string_view name) {
  for (const std::string_view each : kFallsBack) {
    if (each == name) return true;
  }
  return false;
}

// Whether the tensors are of one dtype, which is in the set.
template <class... Others>
[[nodiscard]] inline bool all_of(TypeSet types, const Tensor& first, const Others&... others) {
  const ScalarType type = first.scalar_type();
  return contains(types, type) && ((others.scalar_type() == type) && ...);
}

// Whether the tensor has these sizes. A prepare function sees tensors that no call has resized: it goes by `out`
// only where that has the shape of the result. For dynamic ones this is the largest.
[[nodiscard]] inline bool has_sizes(const Tensor& tensor, Span<const SizesType> sizes) {
  bool same = tensor.sizes().size() == sizes.size();
  for (size_t i = 0; same && i < sizes.size(); ++i) same = tensor.sizes()[i] == sizes[i];
  return same;
}

// Whether the program holds the tensor, so that what is made of it once stays right.
[[nodiscard]] inline bool is_constant(const Tensor& tensor) {
  return tensor.impl()->storage() == Storage::Constant;
}

}  // namespace rushlight::kernels

// Declare the portable kernel in rushlight::kernels before. Returns from the caller.
#define RL_FALL_BACK(name, kernel, context, first, ...)                 \
  do {                                                                  \
    if constexpr (::rushlight::kernels::falls_back(name)) {             \
      return ::rushlight::kernels::kernel(context, first, __VA_ARGS__); \
    } else {                                                            \
      return ::rushlight::unsupported_type((first).scalar_type());      \
    }                                                                   \
  } while (false)
