// SPDX-License-Identifier: BSD-3-Clause
// One pass over the units, a vector at a time, with the functions of generic/vector_math.h.
#include "kernels/ukernel/lstm.h"

#include "kernels/ukernel/generic/blocks.h"
#include "kernels/ukernel/generic/vector_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

void lstm_cell(size_t n, const float* inputs, ptrdiff_t input_stride, const float* states,
               ptrdiff_t state_stride, float* cell, float* hidden) {
  for_each_tile<1>(n, [&](const auto& tile, size_t i) {
    // Contributions of the input and of the previous hidden state; each is loaded once.
    const auto gate = [&](ptrdiff_t g) {
      return tile.read(inputs + g * input_stride + i, 0) + tile.read(states + g * state_stride + i, 0);
    };
    const F32 kept = sigmoid(gate(1)) * tile.read(cell + i, 0);
    // The candidate's product is fused with the kept state where the processor can.
    const F32 next = multiply_add(sigmoid(gate(0)), tanh(gate(2)), kept);
    tile.write(cell + i, 0, next);
    tile.write(hidden + i, 0, sigmoid(gate(3)) * tanh(next));
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
