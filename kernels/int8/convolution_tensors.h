// SPDX-License-Identifier: BSD-3-Clause
// Pointers to the data of one element of the batch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backs/quantized_convolution.h"
#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels::in_place {

template <class Numbers>
struct Tensors {
  const typename Numbers::Element* in;
  const int8_t* weight;
  const typename Numbers::Sum* bias;
  typename Numbers::Element* out;
};

// The pointers of batch element n; bias is null if absent.
template <class Numbers>
Tensors<Numbers> tensors_at(const QuantizedConvolutionProblem& problem, const ConvolutionGeometry& g,
                            ptrdiff_t n) {
  using Element = typename Numbers::Element;
  return {problem.input.const_data_ptr<Element>() + n * g.in_batch_stride,
          problem.weight.const_data_ptr<int8_t>(),
          problem.bias ? problem.bias->const_data_ptr<typename Numbers::Sum>() : nullptr,
          problem.out.mutable_data_ptr<Element>() + n * g.out_batch_stride};
}

}  // namespace rushlight::kernels::in_place
