// SPDX-License-Identifier: BSD-3-Clause
// A linear layer, alone or with an activation behind it.
#pragma once

#include <optional>

#include "kernels/shared/checks.h"
#include "kernels/shared/matmul.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Checks the tensors, and writes the sizes of the result: those of the input, with the features of the weight
// in place of the last one. InvalidArgument, InvalidType.
Error linear_shape(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                   const Tensor& out, Shape* shape);

// Computes into `out`, which has that shape, by products of matrices. InvalidType for a dtype not selected.
Error multiply_linear(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                      const Tensor& out, Error (*by)(const Product& product) = multiply);

}  // namespace rushlight::kernels
