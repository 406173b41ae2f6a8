// SPDX-License-Identifier: BSD-3-Clause
// Quantized linear layers without packing or scratch memory: each row times the weights as stored. For
// boards, where a packed copy of the weights does not fit in memory, and for int16 on the host.
#pragma once

#include <optional>

#include "kernels/backs/quantized_linear.h"
#include "kernels/int8/numbers.h"
#include "kernels/int8/weight_blocks.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

// Computes the layer for input [..., depth] and weight [features, depth] in any dim order. Declines if the
// weight has a zero point, if the elements of a row are not adjacent, or if weights that have to be copied
// first exceed the stack buffer (kMostElements). Rows whose leading dimensions merge are one microkernel
// call; weights with depth stride 1 are not copied.
template <class Numbers>
[[nodiscard]] [[gnu::always_inline]] inline std::optional<Error> multiply_in_place(
    const QuantizedLinearProblem& problem) {
  using Element = typename Numbers::Element;
  constexpr ptrdiff_t kSize = sizeof(Element);
  if (problem.weight_zero_point != 0) return std::nullopt;
  const Tensor& weight = problem.weight;
  // The loops run over the leading dimensions: a span of them becomes the rows of one product.
  const size_t last = problem.input.sizes().size() - 1;
  // The microkernels have strides from row to row only.
  if (problem.input.strides()[last] != 1 || problem.out.strides()[last] != 1) return std::nullopt;
  const Int8Weights weights{weight.const_data_ptr<int8_t>(), weight.strides()[0], weight.strides()[1],
                            static_cast<size_t>(weight.size(0)), static_cast<size_t>(weight.size(1))};
  const auto* bias = problem.bias ? problem.bias->const_data_ptr<typename Numbers::Sum>() : nullptr;
  View source = View::of(problem.input), target = View::of(problem.out);
  const PairedLoops loops(target.select(last, 0), source.select(last, 0));
  // For each block of columns all rows are multiplied, so a copied block is used for the whole input.
  const bool done =
      for_each_block(weights, [&](size_t first, size_t columns, const int8_t* right, ptrdiff_t right_stride) {
        typename Numbers::Product product;
        product.columns = columns;
        product.depth = weights.depth;
        product.right = right;
        product.right_stride = right_stride;
        product.bias = bias == nullptr ? nullptr : bias + first;
        product.to = columns_from(problem.to, first);
        loops.for_each_span([&](char* to, const char* from, const auto& rows) {
          product.rows = static_cast<size_t>(rows.size);
          product.left = reinterpret_cast<const Element*>(from);
          product.left_stride = rows.source / kSize;
          product.out = reinterpret_cast<Element*>(to) + first;
          product.out_stride = rows.target / kSize;
          Numbers::multiply(product);
        });
      });
  if (!done) return std::nullopt;
  return Error::Ok;
}

}  // namespace rushlight::kernels
