// SPDX-License-Identifier: BSD-3-Clause
// One LSTM step after its matrix products: gates, cell state and hidden state in float32.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Computes n units with four gates: input, forget, candidate and output. A gate is the sum of its
// contributions from the step's input and from the previous hidden state; the values of gate g begin at g *
// stride (in floats).
//
//   gate(g)[i] = inputs[g * input_stride + i] + states[g * state_stride + i]
//   cell[i] = sigmoid(gate(1)[i]) * cell[i] + sigmoid(gate(0)[i]) * tanh(gate(2)[i])
//   hidden[i] = sigmoid(gate(3)[i]) * tanh(cell[i])
//
// The functions and their errors are as in vector_math.h. Alignment of float; the arrays do not overlap. A
// unit's results depend only on its own elements.
RL_UKERNEL(void, lstm_cell,
           (size_t n, const float* inputs, ptrdiff_t input_stride, const float* states,
            ptrdiff_t state_stride, float* cell, float* hidden),
           (n, inputs, input_stride, states, state_stride, cell, hidden))

}  // namespace rushlight::ukernel
