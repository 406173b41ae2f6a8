// SPDX-License-Identifier: BSD-3-Clause
// Argument checks that kernels share. Each check logs the expected and the actual value if it fails, and
// returns the Error.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/checks/scalar_range.h"
#include "runtime/base/error.h"
#include "runtime/base/log.h"
#include "runtime/base/span.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Error::MemoryAllocationFailed, for a call without the scratch memory that its kernel stated at load.
Error out_of_scratch();

// A shape under construction, without heap memory: at most kTensorDimensionLimit sizes.
struct Shape {
  SizesType sizes[kTensorDimensionLimit];
  size_t dim = 0;

  [[nodiscard]] Span<const SizesType> span() const { return {sizes, dim}; }
  void push(ptrdiff_t size) { sizes[dim++] = static_cast<SizesType>(size); }
  // The tensor's sizes, or all but the last `without_last`.
  [[nodiscard]] static Shape of(const Tensor& tensor, size_t without_last = 0) {
    Shape shape;
    for (size_t d = 0; d + without_last < tensor.sizes().size(); ++d) shape.push(tensor.sizes()[d]);
    return shape;
  }
};

// True if the tensor's data is part of the program, so that weights packed from it at load stay valid.
[[nodiscard]] inline bool is_constant(const Tensor& tensor) {
  return tensor.impl()->storage() == Storage::Constant;
}

// True if the tensor has these sizes. A prepare function sees tensors that no call has resized yet: it may
// use `out` only if it has the shape of the result; a dynamic tensor has its largest shape at that time.
[[nodiscard]] inline bool has_sizes(const Tensor& tensor, Span<const SizesType> sizes) {
  bool same = tensor.sizes().size() == sizes.size();
  for (size_t i = 0; same && i < sizes.size(); ++i) same = tensor.sizes()[i] == sizes[i];
  return same;
}

// Resizes `out` to a shape within its capacity; recomputes its strides. InvalidArgument, naming both shapes,
// if `out` cannot have this shape.
Error resize_out(const Tensor& out, Span<const SizesType> sizes);

// PyTorch's broadcast of two shapes: from the last dimension on, equal sizes or one of them 1; missing
// dimensions count as 1. `result` may be the memory of `a`. InvalidArgument if they do not broadcast.
Error broadcast_shape(Span<const SizesType> a, Span<const SizesType> b, Shape* result);

// Maps a dimension in [-rank, rank) to [0, rank); rank 0 counts as 1, as in PyTorch. InvalidArgument for
// others.
Error normalize_dim(int64_t dim, ptrdiff_t rank, size_t* normalized);

// InvalidType unless `dtype`, the number of a ScalarType, is absent or the dtype of `out`.
Error check_requested_dtype(std::optional<int64_t> dtype, const Tensor& out);

// InvalidType if `type`, the dtype of argument `name`, is bool.
Error check_not_bool(ScalarType type, const char* name);

// Checks the alpha of add, sub and similar operators: an integer result takes no floating alpha, only a bool
// result takes a bool one, and the result's dtype must be able to hold it. InvalidArgument.
Error check_alpha_kind(const Scalar& alpha, ScalarType compute);  // all checks but the last
template <TypeSet kTypes>
Error check_alpha(const Scalar& alpha, ScalarType compute) {
  RL_TRY(check_alpha_kind(alpha, compute));
  return check_scalar_range<kTypes>(alpha, compute, "alpha");
}

// InvalidType unless both have the same dtype. `what` names the pair in the log.
Error check_same_dtype(const Tensor& a, const Tensor& b, const char* what);

// True if a result computed in `from` may be stored as `to`: not complex as real, not floating as integer,
// and only bool as bool (PyTorch's can_cast).
[[nodiscard]] bool can_cast(ScalarType from, ScalarType to);
// InvalidType if `out` cannot store a result of dtype `from`.
Error check_can_cast(ScalarType from, const Tensor& out);

}  // namespace rushlight::kernels
