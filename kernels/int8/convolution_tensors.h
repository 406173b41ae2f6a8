// SPDX-License-Identifier: BSD-3-Clause
// Pointers to the data of one element of the batch, typed by the element class (Int8Elements, Int16Elements).
// Strides are in the ConvolutionGeometry.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backs/quantized_convolution.h"
#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels::in_place {

// Users offset `in`, `weight`, `bias` and `out` to the first channel of a group or block. The weight is int8
// for both element classes, and the bias has the accumulator's type.
template <class Numbers>
struct Tensors {
  const typename Numbers::Element* in;
  const int8_t* weight;
  const typename Numbers::Sum* bias;
  typename Numbers::Element* out;
};

// The pointers of batch element n, before any group offset; bias is null if absent. The weight and the bias
// do not depend on n.
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
