// SPDX-License-Identifier: BSD-3-Clause
// One step of long short-term memory, once its products are known.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// For n units with four gates each, input, forget, candidate and output. A gate is the sum of what the step's
// input and the hidden state before it have given; the numbers of gate g begin at g * stride.
//
//   gate(g)[i] = inputs[g * input_stride + i] + states[g * state_stride + i]
//   cell[i] = sigmoid(gate(1)[i]) * cell[i] + sigmoid(gate(0)[i]) * tanh(gate(2)[i])
//   hidden[i] = sigmoid(gate(3)[i]) * tanh(cell[i])
//
// The functions are those of vector_math.h. Any alignment; nothing else is read or written, and the arrays do
// not overlap. A unit's results depend on its own numbers alone.
RL_UKERNEL(void, lstm_cell,
           (size_t n, const float* inputs, ptrdiff_t input_stride, const float* states,
            ptrdiff_t state_stride, float* cell, float* hidden),
           (n, inputs, input_stride, states, state_stride, cell, hidden))

}  // namespace rushlight::ukernel
