// SPDX-License-Identifier: BSD-3-Clause
// Quantized recurrent layers with contiguous rows; weights are read as stored, and a step multiplies one row
// at a time.
#pragma once

#include <optional>

#include "kernels/backs/quantized_recurrent.h"
#include "kernels/ukernel/int8_product.h"

namespace rushlight::kernels {

// Runs the layer for LstmCell or GruCell. Declines tensors whose rows are not contiguous: the microkernel
// reads rows of input, hidden state and both weights. The output counts too, because a step's output is the
// next step's hidden state. Precondition: plan_recurrent() filled sizes and numbers. Needs 1 KiB of stack for
// sums and no scratch memory.
template <class Cell>
[[nodiscard]] std::optional<Error> run_recurrent_in_place(const QuantizedRecurrentProblem& problem) {
  const IntegerRecurrent& layer = problem.layer;
  const auto is_adjacent = [](const Tensor& tensor) {
    const size_t last = tensor.sizes().size() - 1;
    return tensor.sizes()[last] <= 1 || tensor.strides()[last] == 1;
  };
  if (!is_adjacent(layer.input) || !is_adjacent(layer.hidden) || !is_adjacent(layer.weight) ||
      !is_adjacent(layer.hidden_weight) || !is_adjacent(layer.output)) {
    return std::nullopt;
  }
  run_recurrent<Cell>(layer, problem.sizes, problem.numbers,
                      [](const int8_t* left, ptrdiff_t, const RecurrentMatrix<int8_t>& weight, size_t row,
                         size_t depth, size_t count, int32_t* sums) {
                        ukernel::multiply_int8_row({count, depth, left, weight.at(row, 0), weight.row, sums});
                      });
  return Error::Ok;
}

}  // namespace rushlight::kernels
