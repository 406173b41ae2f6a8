// SPDX-License-Identifier: BSD-3-Clause
// Argument checks that kernels share. Each logs what was expected and what came, and returns the Error.
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

// Sizes while a kernel works them out.
struct Shape {
  SizesType sizes[kTensorDimensionLimit];
  size_t dim = 0;

  [[nodiscard]] Span<const SizesType> span() const { return {sizes, dim}; }
  void push(ptrdiff_t size) { sizes[dim++] = static_cast<SizesType>(size); }
  // The tensor's sizes, or all but the last ones.
  [[nodiscard]] static Shape of(const Tensor& tensor, size_t without_last = 0) {
    Shape shape;
    for (size_t d = 0; d + without_last < tensor.sizes().size(); ++d) shape.push(tensor.sizes()[d]);
    return shape;
  }
};

// True if the program holds the tensor, so that what is packed of it at load stays valid.
[[nodiscard]] inline bool is_constant(const Tensor& tensor) {
  return tensor.impl()->storage() == Storage::Constant;
}

// True if the tensor has these sizes. A prepare function sees tensors that no call has resized yet: it may
// rely on `out` only where that has the shape of the result; a dynamic one has its largest shape then.
[[nodiscard]] inline bool has_sizes(const Tensor& tensor, Span<const SizesType> sizes) {
  bool same = tensor.sizes().size() == sizes.size();
  for (size_t i = 0; same && i < sizes.size(); ++i) same = tensor.sizes()[i] == sizes[i];
  return same;
}

// Gives `out` the shape; Error::InvalidArgument naming both shapes when it cannot take it.
Error resize_out(const Tensor& out, Span<const SizesType> sizes);

// PyTorch's broadcast of two shapes; InvalidArgument when they do not fit together.
Error broadcast_shape(Span<const SizesType> a, Span<const SizesType> b, Shape* result);

// Maps a dimension in [-rank, rank) to [0, rank); rank 0 counts as 1, as in PyTorch.
Error normalize_dim(int64_t dim, ptrdiff_t rank, size_t* normalized);

// `dtype`, where a caller asks for one, is the dtype of `out`. InvalidType.
Error check_requested_dtype(std::optional<int64_t> dtype, const Tensor& out);

// InvalidType when `type`, of the argument named, is bool.
Error check_not_bool(ScalarType type, const char* name);

// The factor of add, sub and their like: no floating one for an integer result, no bool one for
// another than bool, none that the result cannot hold. InvalidArgument.
Error check_alpha_kind(const Scalar& alpha, ScalarType compute);  // all but the last
template <TypeSet kTypes>
Error check_alpha(const Scalar& alpha, ScalarType compute) {
  RL_TRY(check_alpha_kind(alpha, compute));
  return check_scalar_range<kTypes>(alpha, compute, "alpha");
}

// InvalidType unless both have the same element type. `what` names the pair in the log.
Error check_same_dtype(const Tensor& a, const Tensor& b, const char* what);

// Whether a result computed in `from` may be stored as `to`: nothing complex into a real type, no float
// into integer, nothing but bool into bool.
[[nodiscard]] bool can_cast(ScalarType from, ScalarType to);
Error check_can_cast(ScalarType from, const Tensor& out);

}  // namespace rushlight::kernels
