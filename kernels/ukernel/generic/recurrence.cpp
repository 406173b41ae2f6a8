// SPDX-License-Identifier: BSD-3-Clause
// One pass over the units of each row, a vector at a time, with the functions of generic/vector_math.h.
#include "kernels/ukernel/recurrence.h"

#include "kernels/ukernel/generic/blocks.h"
#include "kernels/ukernel/generic/vector_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// A vector of units of one row; each contribution is loaded once.
struct Units {
  const RecurrentUnits& step;
  const Tile<1>& tile;
  ptrdiff_t row;
  size_t first;

  RL_INLINE F32 input(ptrdiff_t gate) const {
    return tile.read(step.inputs + row * step.input_stride + gate * step.input_gate_stride + first, 0);
  }
  RL_INLINE F32 state(ptrdiff_t gate) const {
    return tile.read(step.states + row * step.state_stride + gate * step.state_gate_stride + first, 0);
  }
  RL_INLINE F32 gate(ptrdiff_t gate) const { return input(gate) + state(gate); }
  // An element of `before`, `cell` or `hidden`.
  RL_INLINE F32 read(const float* from) const { return tile.read(from + row * step.unit_stride + first, 0); }
  RL_INLINE void write(float* to, F32 value) const {
    tile.write(to + row * step.unit_stride + first, 0, value);
  }
};

template <class Body>
RL_INLINE void for_each_unit(const RecurrentUnits& step, Body body) {
  for (size_t row = 0; row < step.rows; ++row) {
    for_each_tile<1>(step.units, [&](const auto& tile, size_t first) __attribute__((always_inline)) {
      body(Units{step, tile, static_cast<ptrdiff_t>(row), first});
    });
  }
}

}  // namespace

void lstm_cell(const RecurrentUnits& step) {
  for_each_unit(step, [&](const Units& units) __attribute__((always_inline)) {
    const F32 kept = sigmoid(units.gate(1)) * units.read(step.cell);
    // The candidate's product is fused with the kept state where the processor can.
    const F32 next = multiply_add(sigmoid(units.gate(0)), tanh(units.gate(2)), kept);
    units.write(step.cell, next);
    units.write(step.hidden, sigmoid(units.gate(3)) * tanh(next));
  });
}

void gru_cell(const RecurrentUnits& step) {
  for_each_unit(step, [&](const Units& units) __attribute__((always_inline)) {
    F32 state = units.state(2);
    if (step.bias != nullptr) state += units.tile.read(step.bias + units.first, 0);
    const F32 candidate = tanh(multiply_add(sigmoid(units.gate(0)), state, units.input(2)));
    const F32 update = sigmoid(units.gate(1));
    units.write(step.hidden, multiply_add(update, units.read(step.before) - candidate, candidate));
  });
}

void rnn_tanh_cell(const RecurrentUnits& step) {
  for_each_unit(step, [&](const Units& units)
                          __attribute__((always_inline)) { units.write(step.hidden, tanh(units.gate(0))); });
}

void rnn_relu_cell(const RecurrentUnits& step) {
  for_each_unit(step, [&](const Units& units) __attribute__((always_inline)) {
    units.write(step.hidden, at_least(units.gate(0), 0.0f));
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
