// SPDX-License-Identifier: BSD-3-Clause
// Where the numbers of one element of a batch are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backs/quantized_convolution.h"
#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels::board {

struct Int8Tensors {
  const int8_t* in;
  const int8_t* weight;
  const int32_t* bias;
  int8_t* out;
};

inline Int8Tensors tensors_at(const QuantizedConvolutionProblem& problem, const ConvolutionGeometry& g,
                              ptrdiff_t n) {
  return {problem.input.const_data_ptr<int8_t>() + n * g.in_batch_stride,
          problem.weight.const_data_ptr<int8_t>(),
          problem.bias ? problem.bias->const_data_ptr<int32_t>() : nullptr,
          problem.out.mutable_data_ptr<int8_t>() + n * g.out_batch_stride};
}

}  // namespace rushlight::kernels::board
