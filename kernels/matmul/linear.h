// SPDX-License-Identifier: BSD-3-Clause
// Linear layers: argument checks and the portable computation, a matrix product with the transposed weight.
#pragma once

#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/matmul/matmul.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = input weight^T + bias. input [..., depth], weight [features, depth] or [depth], bias [features] or
// one element. A weight of rank 1 has no bias and gives a result without the last dimension. Does not own the
// tensors.
struct LinearProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  const Tensor& out;

  // linear_shape() has checked that all tensors have this dtype.
  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// Checks the tensors and writes the shape of the result: the input's with its last size replaced by the
// weight's features. Does not resize `out`. InvalidArgument, InvalidType (dtypes differ or are not in
// `types`).
Error linear_shape(const LinearProblem& problem, TypeSet types, Shape* shape);

// Computes into `out`, which has that shape, as matrix products: one if the leading dimensions merge into
// rows with constant strides in input and output, otherwise one for each span of them. InvalidType if the
// dtype is not selected; errors of `by`, which multiplies one product.
Error multiply_linear(const LinearProblem& problem, Error (*by)(const Product& product) = multiply);

}  // namespace rushlight::kernels
