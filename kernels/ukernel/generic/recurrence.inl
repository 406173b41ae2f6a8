// SPDX-License-Identifier: BSD-3-Clause
// The cells of recurrence.h, a vector of units at a time. The including source defines, in its anonymous
// namespace,
//   gate_of(x), gate_of(x, above)   sigmoid, and `above` times sigmoid
//   tanh_of(x)                      tanh
#include <type_traits>

#include "kernels/ukernel/generic/blocks.h"
#include "kernels/ukernel/recurrence.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// One row: the step's arrays from its first unit on.
struct Row {
  const float* inputs;
  const float* states;
  ptrdiff_t input_stride;  // from gate to gate
  ptrdiff_t state_stride;
  const float* bias;
  const float* before;
  float* cell;
  float* hidden;
};

// A vector of units of one row, from unit `first` on; each contribution is loaded once.
template <class Lanes>
struct Units {
  const Row& row;
  const Lanes& tile;
  size_t first;

  RL_INLINE F32 read(const float* from) const { return tile.read(from + first, 0); }
  RL_INLINE void write(float* to, F32 value) const { tile.write(to + first, 0, value); }
  RL_INLINE F32 input(ptrdiff_t gate) const { return read(row.inputs + gate * row.input_stride); }
  RL_INLINE F32 state(ptrdiff_t gate) const { return read(row.states + gate * row.state_stride); }
  RL_INLINE F32 gate(ptrdiff_t gate) const { return input(gate) + state(gate); }
};

template <class Body>
RL_INLINE void for_each_unit(const RecurrentUnits& step, Body body) {
  Row row = {step.inputs, step.states, step.input_gate_stride, step.state_gate_stride, step.bias, step.before,
             step.cell,   step.hidden};
  for (size_t rows = step.rows; rows > 0; --rows) {
    for_each_tile<1>(step.units, [&](const auto& tile, size_t first) __attribute__((always_inline)) {
      body(Units<std::decay_t<decltype(tile)>>{row, tile, first});
    });
    row.inputs += step.input_stride;
    row.states += step.state_stride;
    if (row.before != nullptr) row.before += step.unit_stride;
    if (row.cell != nullptr) row.cell += step.unit_stride;
    row.hidden += step.unit_stride;
  }
}

}  // namespace

void lstm_cell(const RecurrentUnits& step) {
  for_each_unit(step, [](const auto& units) __attribute__((always_inline)) {
    // A quotient, so that compilers have one product to fuse with the sum, the same for every unit.
    const F32 kept = gate_of(units.gate(1), units.read(units.row.cell));
    const F32 next = multiply_add(gate_of(units.gate(0)), tanh_of(units.gate(2)), kept);
    units.write(units.row.cell, next);
    units.write(units.row.hidden, gate_of(units.gate(3)) * tanh_of(next));
  });
}

void gru_cell(const RecurrentUnits& step) {
  for_each_unit(step, [](const auto& units) __attribute__((always_inline)) {
    F32 state = units.state(2);
    if (units.row.bias != nullptr) state += units.read(units.row.bias);
    const F32 candidate = tanh_of(multiply_add(gate_of(units.gate(0)), state, units.input(2)));
    const F32 update = gate_of(units.gate(1));
    units.write(units.row.hidden, multiply_add(update, units.read(units.row.before) - candidate, candidate));
  });
}

void rnn_tanh_cell(const RecurrentUnits& step) {
  for_each_unit(step, [](const auto& units) __attribute__((always_inline)) {
    units.write(units.row.hidden, tanh_of(units.gate(0)));
  });
}

void rnn_relu_cell(const RecurrentUnits& step) {
  for_each_unit(step, [](const auto& units) __attribute__((always_inline)) {
    units.write(units.row.hidden, at_least(units.gate(0), 0.0f));
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
