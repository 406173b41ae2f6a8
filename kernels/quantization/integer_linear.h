// SPDX-License-Identifier: BSD-3-Clause
// Quantized linear layers: argument checks and the portable computation, whose bits all backs reproduce.
#pragma once

#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = requantize(input (weight - weight_zero_point)^T + bias); weight is [features, depth]. The bias
// contains the contribution of the input's zero point. Input and `out` have one dtype of kQuantizedElements,
// the weight is int8, and `out` has its shape. The front has proven that `to` does not overflow.
struct IntegerLinear {
  const Tensor& input;
  const Tensor& weight;
  const std::optional<Tensor>& bias;
  const Tensor& out;
  int32_t weight_zero_point;          // exporters only produce 0
  const ukernel::Requantization& to;  // by feature; not set to prepare
};

// Checks ranks, sizes and dtypes (the input's against `types`), and writes the shape of the result: the
// input's with the features as last size. Does not resize `out`. InvalidArgument, InvalidType.
Error plan_linear(const IntegerLinear& linear, TypeSet types, Shape* shape);

// Computes the layer. InvalidType if no selected operator has the dtype.
Error multiply_integers(const IntegerLinear& linear);

}  // namespace rushlight::kernels
