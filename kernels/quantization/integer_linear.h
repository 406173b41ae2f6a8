// SPDX-License-Identifier: BSD-3-Clause
// Linear layers of integers: what fronts check, and the products where no back computes them.
#pragma once

#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = quantized(input (weight - weight_zero_point)^T + bias); weight is [features, depth]. Input and `out`
// have one dtype of kQuantizedNumbers, the weight is int8, and `out` has its shape; what `to` says was
// proven.
struct IntegerLinear {
  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  const Tensor& out;
  int32_t weight_zero_point;          // no exporter makes one but 0
  const ukernel::Requantization& to;  // by features; not set to prepare
};

// Checks ranks, sizes and dtypes, the input's to be one of `types`, and writes the shape of the result.
// InvalidArgument, InvalidType.
Error plan_linear(const IntegerLinear& linear, TypeSet types, Shape* shape);

// InvalidType for a dtype that no selected operator has.
Error multiply_integers(const IntegerLinear& linear);

}  // namespace rushlight::kernels
