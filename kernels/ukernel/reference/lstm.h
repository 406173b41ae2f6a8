// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/lstm.h in double, for tests. Nothing is rounded to float32, so that the tests'
// 2e-6 is the error of the whole step in a variant.
#pragma once

#include <cmath>
#include <cstddef>

namespace rushlight::ukernel::reference {

// Overflows to 1 / inf = 0 for very negative x, which is the right limit.
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Computes the cell state after the step and the hidden state of n units, [n] doubles each; `cell` is not
// changed. Gate g of unit i is inputs[g * input_stride + i] + states[g * state_stride + i], in the order
// input, forget, candidate, output.
inline void lstm_cell(size_t n, const float* inputs, ptrdiff_t input_stride, const float* states,
                      ptrdiff_t state_stride, const float* cell, double* next, double* hidden) {
  for (size_t i = 0; i < n; ++i) {
    const auto gate = [&](ptrdiff_t g) {
      return static_cast<double>(inputs[g * input_stride + static_cast<ptrdiff_t>(i)]) +
             static_cast<double>(states[g * state_stride + static_cast<ptrdiff_t>(i)]);
    };
    next[i] = sigmoid(gate(1)) * static_cast<double>(cell[i]) + sigmoid(gate(0)) * std::tanh(gate(2));
    hidden[i] = sigmoid(gate(3)) * std::tanh(next[i]);
  }
}

}  // namespace rushlight::ukernel::reference
