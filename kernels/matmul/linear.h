// SPDX-License-Identifier: BSD-3-Clause
// A linear layer, alone or with an activation behind it.
#pragma once

#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/matmul/matmul.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = input weight^T + bias
struct LinearProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  const Tensor& out;

  // The tensors have one dtype: linear_shape() checks that.
  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// Checks the tensors, and writes the sizes of the result: those of the input, with the features of the weight
// in place of the last one. InvalidArgument, InvalidType (dtypes that differ or are not in `types`).
Error linear_shape(const LinearProblem& problem, TypeSet types, Shape* shape);

// Computes into `out`, which has that shape, by products of matrices. InvalidType for a dtype not selected.
Error multiply_linear(const LinearProblem& problem, Error (*by)(const Product& product) = multiply);

}  // namespace rushlight::kernels
