// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/quantized_linear.h"

#include "kernels/board/int8_blocks.h"
#include "kernels/quantization/requantization.h"
#include "kernels/ukernel/int8_product.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels::board {

std::optional<Error> quantized_linear(KernelContext&, const QuantizedLinearProblem& problem) {
  if (problem.weight_zero_point != 0) return std::nullopt;
  const Tensor& weight = problem.weight;
  const size_t last = problem.input.sizes().size() - 1;
  if (problem.input.strides()[last] != 1 || problem.out.strides()[last] != 1) return std::nullopt;
  const Int8Weights weights{weight.const_data_ptr<int8_t>(), weight.strides()[0], weight.strides()[1],
                            static_cast<size_t>(weight.size(0)), static_cast<size_t>(weight.size(1))};
  const auto* bias = problem.bias ? problem.bias->const_data_ptr<int32_t>() : nullptr;
  View source = View::of(problem.input), target = View::of(problem.out);
  const PairedLoops loops(target.select(last, 0), source.select(last, 0));
  const bool done =
      for_each_block(weights, [&](size_t first, size_t columns, const int8_t* right, ptrdiff_t right_stride) {
        ukernel::Int8Product product;
        product.columns = columns;
        product.depth = weights.depth;
        product.right = right;
        product.right_stride = right_stride;
        product.bias = bias == nullptr ? nullptr : bias + first;
        product.to = columns_from(problem.to, first);
        loops.for_each_run([&](char* to, const char* from, const auto& rows) {
          product.rows = static_cast<size_t>(rows.size);
          product.left = reinterpret_cast<const int8_t*>(from);
          product.left_stride = rows.source;
          product.out = reinterpret_cast<int8_t*>(to) + first;
          product.out_stride = rows.target;
          ukernel::multiply_int8(product);
        });
      });
  if (!done) return std::nullopt;
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
