// SPDX-License-Identifier: BSD-3-Clause
// Long short-term memory (Hochreiter and Schmidhuber, 1997): the recurrence of one layer in one direction.
// The caller has multiplied the inputs by their weight, for all steps at once, and added both biases. For
// gates i, f, g, o of a step:
//
//   [i f g o] = gates + hidden weight^T
//   cell      = sigmoid(f) * cell + sigmoid(i) * tanh(g)
//   hidden    = sigmoid(o) * tanh(cell)
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/matmul/accumulator.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The arguments of a layer. All tensors have one dtype, in any layout. Results of no steps are copies of the
// initial state.
struct Lstm {
  const Tensor& gates;        // [steps, batch, 4 units]: input, forget, candidate, output gates
  const Tensor& hidden;       // [batch, units], before the first step
  const Tensor& cell;         // [batch, units]
  const Tensor& weight;       // [4 units, units], for the hidden state
  bool reverse;               // from the last step to the first
  const Tensor& output;       // [steps, batch, units], the hidden states
  const Tensor& last_hidden;  // [batch, units]
  const Tensor& last_cell;    // [batch, units]
};

// From the tensors' shapes, see plan_lstm().
struct LstmSizes {
  size_t steps = 0;
  size_t batch = 0;
  size_t units = 0;

  // The step that iteration i computes.
  [[nodiscard]] size_t step(size_t i, bool reverse) const { return reverse ? steps - 1 - i : i; }
};

// Checks that all tensors have one dtype and the shapes above, and resizes the results. Errors:
// InvalidArgument, InvalidType. The operator checks the dtype itself.
Error plan_lstm(const Lstm& lstm, LstmSizes* sizes);

namespace internal {

// Element access to a matrix, or to matrix `first` of a tensor of rank 3, in any layout. Refers to the
// tensor's data; elements of a const tensor must only be read.
template <class T>
class LstmMatrix {
 public:
  explicit LstmMatrix(const Tensor& tensor, size_t first = 0)
      : data_(tensor.mutable_data_ptr<T>()),
        row_(tensor.strides()[tensor.sizes().size() - 2]),
        column_(tensor.strides()[tensor.sizes().size() - 1]) {
    if (tensor.sizes().size() == 3) data_ += static_cast<ptrdiff_t>(first) * tensor.strides()[0];
  }

  [[nodiscard]] T& operator()(size_t i, size_t j) const {
    return data_[static_cast<ptrdiff_t>(i) * row_ + static_cast<ptrdiff_t>(j) * column_];
  }

 private:
  T* data_;
  ptrdiff_t row_;
  ptrdiff_t column_;
};

// 1 / (1 + exp(-x)); a very negative x gives exp = inf and the result 0.
template <class A>
A logistic(A x) {
  return A(1) / (A(1) + std::exp(-x));
}

// Dot product of row b of one matrix and row j of another, in blocks of 32: adding short partial sums keeps
// the rounding error of long rows small.
template <class T>
Accumulator<T> lstm_product(const LstmMatrix<T>& a, size_t b, const LstmMatrix<T>& weight, size_t j,
                            size_t n) {
  constexpr size_t kBlock = 32;
  Accumulator<T> total = 0;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    Accumulator<T> sum = 0;
    for (size_t k = begin; k < n && k < begin + kBlock; ++k) sum += widen(a(b, k)) * widen(weight(j, k));
    total += sum;
  }
  return total;
}

// One step for the whole batch: reads `before`, updates `cell` in place and writes `hidden`, which must not
// be `before`. tanh() takes the cell before it is rounded to T. Cost: 4 * units^2 multiply-adds for each
// element of the batch.
template <class T>
void lstm_step(const LstmMatrix<T>& gates, const LstmMatrix<T>& before, const LstmMatrix<T>& weight,
               const LstmMatrix<T>& cell, const LstmMatrix<T>& hidden, const LstmSizes& sizes) {
  using A = Accumulator<T>;
  const size_t n = sizes.units;
  for (size_t b = 0; b < sizes.batch; ++b) {
    for (size_t j = 0; j < n; ++j) {
      const auto gate = [&](size_t g) -> A {
        return widen(gates(b, g * n + j)) + lstm_product(before, b, weight, g * n + j, n);
      };
      // The order of the gates is that of torch.nn.LSTM: input, forget, candidate, output.
      const A kept = logistic(gate(1)) * widen(cell(b, j)) + logistic(gate(0)) * std::tanh(gate(2));
      cell(b, j) = narrow<T>(kept);
      hidden(b, j) = narrow<T>(logistic(gate(3)) * std::tanh(kept));
    }
  }
}

}  // namespace internal

// The portable computation, for any layout. 16-bit cells and hidden states are rounded once each step. The
// state of a step is read from `output`, so there is no other buffer. Precondition: plan_lstm() succeeded for
// T.
template <class T>
void run_lstm(const Lstm& lstm, const LstmSizes& sizes) {
  using internal::LstmMatrix;
  const auto copy = [&](const LstmMatrix<T>& from, const Tensor& to) {
    const LstmMatrix<T> copied(to);
    for (size_t b = 0; b < sizes.batch; ++b) {
      for (size_t j = 0; j < sizes.units; ++j) copied(b, j) = from(b, j);
    }
  };
  // `last_cell` is the state that each step updates; the hidden state moves from step to step of `output`.
  copy(LstmMatrix<T>(lstm.cell), lstm.last_cell);
  LstmMatrix<T> before(lstm.hidden);
  for (size_t i = 0; i < sizes.steps; ++i) {
    const size_t t = sizes.step(i, lstm.reverse);
    const LstmMatrix<T> after(lstm.output, t);
    internal::lstm_step(LstmMatrix<T>(lstm.gates, t), before, LstmMatrix<T>(lstm.weight),
                        LstmMatrix<T>(lstm.last_cell), after, sizes);
    before = after;
  }
  copy(before, lstm.last_hidden);
}

}  // namespace rushlight::kernels
