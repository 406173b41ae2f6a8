// SPDX-License-Identifier: BSD-3-Clause
// The recurrence of one recurrent layer in one direction: LSTM (Hochreiter and Schmidhuber, 1997), GRU (Cho
// et al., 2014, with the reset gate after the product, as in cuDNN and PyTorch) and plain layers (Elman,
// 1990). The caller has multiplied the inputs by their weight, for all steps at once, and added the biases. A
// step computes, with s = hidden weight^T:
//
//   LSTM    [i f g o] = gates + s      cell = sigmoid(f) cell + sigmoid(i) tanh(g)
//                                      hidden = sigmoid(o) tanh(cell)
//   GRU     r, z = sigmoid(gates + s)  n = tanh(gates + r (s + bias))
//                                      hidden = n + z (hidden - n)
//   plain                              hidden = tanh(gates + s), or its ReLU
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/matmul/accumulator.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The arguments of a layer. All tensors have one dtype, in any layout. Results of no steps are copies of the
// initial state.
struct Recurrence {
  const Tensor& gates;        // [steps, batch, gates * units]
  const Tensor& hidden;       // [batch, units], before the first step
  const Tensor* cell;         // [batch, units]; LSTM only, else null
  const Tensor& weight;       // [gates * units, units], for the hidden state
  const Tensor* bias;         // [units], of the candidate n; GRU only, else null
  bool reverse;               // from the last step to the first
  const Tensor& output;       // [steps, batch, units], the hidden states
  const Tensor& last_hidden;  // [batch, units]
  const Tensor* last_cell;    // [batch, units]; LSTM only, else null
};

// From the tensors' shapes, see plan_recurrence().
struct RecurrenceSizes {
  size_t steps = 0;
  size_t batch = 0;
  size_t gates = 0;  // of a unit
  size_t units = 0;

  // The step that iteration i computes.
  [[nodiscard]] size_t step(size_t i, bool reverse) const { return reverse ? steps - 1 - i : i; }
};

// Checks that all tensors have one dtype and the shapes above for `gates` gates a unit, and resizes the
// results. Errors: InvalidArgument, InvalidType. The operator checks the dtype itself.
Error plan_recurrence(const Recurrence& layer, size_t gates, RecurrenceSizes* sizes);

// 1 / (1 + exp(-x)); a very negative x gives exp = inf and the result 0.
template <class A>
A logistic(A x) {
  return A(1) / (A(1) + std::exp(-x));
}

// The cells compute one unit in the accumulator type A, from the gates' contributions of the step's input and
// of the hidden state. `cell` is the LSTM's, `hidden` the state before the step. `bias` is the GRU's.
template <class A>
struct UnitState {
  A cell;
  A hidden;
  A bias;
};

struct LstmUnit {
  static constexpr size_t kGates = 4;
  // tanh() takes the cell before it is rounded to the tensors' dtype.
  template <class A>
  static void advance(const A* inputs, const A* states, UnitState<A>& unit) {
    const auto gate = [&](size_t g) { return inputs[g] + states[g]; };
    unit.cell = logistic(gate(1)) * unit.cell + logistic(gate(0)) * std::tanh(gate(2));
    unit.hidden = logistic(gate(3)) * std::tanh(unit.cell);
  }
};

struct GruUnit {
  static constexpr size_t kGates = 3;
  template <class A>
  static void advance(const A* inputs, const A* states, UnitState<A>& unit) {
    const A reset = logistic(inputs[0] + states[0]);
    const A update = logistic(inputs[1] + states[1]);
    const A candidate = std::tanh(inputs[2] + reset * (states[2] + unit.bias));
    unit.hidden = candidate + update * (unit.hidden - candidate);
  }
};

struct TanhUnit {
  static constexpr size_t kGates = 1;
  template <class A>
  static void advance(const A* inputs, const A* states, UnitState<A>& unit) {
    unit.hidden = std::tanh(inputs[0] + states[0]);
  }
};

struct ReluUnit {
  static constexpr size_t kGates = 1;
  // NaN is not below zero and stays.
  template <class A>
  static void advance(const A* inputs, const A* states, UnitState<A>& unit) {
    const A sum = inputs[0] + states[0];
    unit.hidden = sum < A(0) ? A(0) : sum;
  }
};

// Unit::advance for elements of T.
template <class T>
using Advance = void (*)(const Accumulator<T>* inputs, const Accumulator<T>* states,
                         UnitState<Accumulator<T>>& unit);

namespace internal {

inline constexpr size_t kMostGates = LstmUnit::kGates;

// Element access to a matrix, or to matrix `first` of a tensor of rank 3, in any layout. Refers to the
// tensor's data; elements of a const tensor must only be read.
template <class T>
class StateMatrix {
 public:
  explicit StateMatrix(const Tensor& tensor, size_t first = 0)
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

// Dot product of row b of one matrix and row j of another, in blocks of 32: adding short partial sums keeps
// the rounding error of long rows small.
template <class T>
Accumulator<T> state_product(const StateMatrix<T>& a, size_t b, const StateMatrix<T>& weight, size_t j,
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

template <class T>
void copy_matrix(const StateMatrix<T>& from, const StateMatrix<T>& to, const RecurrenceSizes& sizes) {
  for (size_t b = 0; b < sizes.batch; ++b) {
    for (size_t j = 0; j < sizes.units; ++j) to(b, j) = from(b, j);
  }
}

// One step for the whole batch: reads `before`, updates the cell in place and writes `after`, which must not
// be `before`. Cost: gates * units^2 multiply-adds for each element of the batch.
template <class T>
void recurrence_step(const Recurrence& layer, const RecurrenceSizes& sizes, Advance<T> advance, size_t step,
                     const StateMatrix<T>& before, const StateMatrix<T>& after) {
  using A = Accumulator<T>;
  const StateMatrix<T> gates(layer.gates, step), weight(layer.weight);
  const size_t n = sizes.units;
  for (size_t b = 0; b < sizes.batch; ++b) {
    for (size_t j = 0; j < n; ++j) {
      A inputs[kMostGates];
      A states[kMostGates];
      for (size_t g = 0; g < sizes.gates; ++g) {
        inputs[g] = widen(gates(b, g * n + j));
        states[g] = state_product(before, b, weight, g * n + j, n);
      }
      UnitState<A> unit = {0, widen(before(b, j)), 0};
      if (layer.bias != nullptr) unit.bias = widen(layer.bias->const_data_ptr<T>()[j]);
      if (layer.last_cell != nullptr) unit.cell = widen(StateMatrix<T>(*layer.last_cell)(b, j));
      advance(inputs, states, unit);
      if (layer.last_cell != nullptr) StateMatrix<T> (*layer.last_cell)(b, j) = narrow<T>(unit.cell);
      after(b, j) = narrow<T>(unit.hidden);
    }
  }
}

}  // namespace internal

// The portable computation, for any layout. 16-bit cells and hidden states are rounded once each step. The
// state of a step is read from `output`, so there is no other buffer. Preconditions: plan_recurrence()
// succeeded for T and the gates of `advance`.
template <class T>
void run_recurrence(const Recurrence& layer, const RecurrenceSizes& sizes, Advance<T> advance) {
  using internal::StateMatrix;
  // `last_cell` is the state that each step updates; the hidden state moves from step to step of `output`.
  if (layer.cell != nullptr) {
    internal::copy_matrix(StateMatrix<T>(*layer.cell), StateMatrix<T>(*layer.last_cell), sizes);
  }
  StateMatrix<T> before(layer.hidden);
  for (size_t i = 0; i < sizes.steps; ++i) {
    const size_t t = sizes.step(i, layer.reverse);
    const StateMatrix<T> after(layer.output, t);
    internal::recurrence_step<T>(layer, sizes, advance, t, before, after);
    before = after;
  }
  internal::copy_matrix(before, StateMatrix<T>(layer.last_hidden), sizes);
}

}  // namespace rushlight::kernels
