// SPDX-License-Identifier: BSD-3-Clause
// A step of recurrent layers after its matrix products: gates, cells and hidden states in float32.
#pragma once

#include <cstddef>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// Units of `rows` batch elements. A gate is the sum of its contributions from the step's input and from the
// previous hidden state; the values of gate g begin at g * gate_stride. Strides are in floats.
struct RecurrentUnits {
  size_t rows = 1;
  size_t units = 0;
  const float* inputs = nullptr;
  ptrdiff_t input_gate_stride = 0;
  ptrdiff_t input_stride = 0;  // from row to row
  const float* states = nullptr;
  ptrdiff_t state_gate_stride = 0;
  ptrdiff_t state_stride = 0;     // from row to row
  const float* bias = nullptr;    // [units], GRU only; null: zeros
  const float* before = nullptr;  // hidden states before the step, GRU only
  float* cell = nullptr;          // LSTM only, updated in place
  float* hidden = nullptr;
  ptrdiff_t unit_stride = 0;  // of before, cell and hidden, from row to row
};

// gate(g) = inputs of g + states of g:
//
//   lstm_cell      cell = sigmoid(gate(1)) cell + sigmoid(gate(0)) tanh(gate(2))
//                  hidden = sigmoid(gate(3)) tanh(cell)
//   gru_cell       candidate = tanh(inputs of 2 + sigmoid(gate(0)) (states of 2 + bias))
//                  hidden = candidate + sigmoid(gate(1)) (before - candidate)
//   rnn_tanh_cell  hidden = tanh(gate(0))
//   rnn_relu_cell  hidden = max(gate(0), 0); NaN passes
//
// Errors of sigmoid and tanh are at most 4 ulp, as in vector_math.h, but a sigmoid below e^-87 is e^-87 (or 0
// where subnormals are flushed). Alignment of float; hidden overlaps no operand. A unit's results depend only
// on its own elements.
RL_UKERNEL(void, lstm_cell, (const RecurrentUnits& step), (step))
RL_UKERNEL(void, gru_cell, (const RecurrentUnits& step), (step))
RL_UKERNEL(void, rnn_tanh_cell, (const RecurrentUnits& step), (step))
RL_UKERNEL(void, rnn_relu_cell, (const RecurrentUnits& step), (step))

}  // namespace rushlight::ukernel
