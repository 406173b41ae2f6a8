// SPDX-License-Identifier: BSD-3-Clause
// The steps of a float32 recurrent layer with row-major tensors, for backs.
#pragma once

#include <cstring>
#include <optional>

#include "kernels/backs/recurrence.h"
#include "kernels/checks/sizes.h"
#include "kernels/ukernel/recurrence.h"

namespace rushlight::kernels {

// A microkernel that applies the gates of a step.
using RecurrentCell = void (*)(const ukernel::RecurrentUnits& step);

// One step. Matrices are row-major: gates [batch, gates * units], cell and hidden states [batch, units].
struct RecurrenceStep {
  const float* gates;
  const float* weight;
  const float* bias;    // null: none
  const float* before;  // hidden states before the step
  float* cell;          // null: none
  float* hidden;
};

// The cell's arguments for units from `first` on of batch elements from `row` on, but for states and counts.
inline ukernel::RecurrentUnits units_of(const RecurrenceStep& step, const RecurrenceSizes& sizes, size_t row,
                                        size_t first) {
  const size_t n = sizes.units;
  const size_t at = row * n + first;
  ukernel::RecurrentUnits units;
  units.inputs = step.gates + row * sizes.gates * n + first;
  units.input_gate_stride = static_cast<ptrdiff_t>(n);
  units.input_stride = static_cast<ptrdiff_t>(sizes.gates * n);
  units.bias = step.bias == nullptr ? nullptr : step.bias + first;
  units.before = step.before + at;
  units.cell = step.cell == nullptr ? nullptr : step.cell + at;
  units.hidden = step.hidden + at;
  units.unit_stride = static_cast<ptrdiff_t>(n);
  return units;
}

inline bool are_row_major(const Recurrence& layer) {
  for (const Tensor* each : {&layer.gates, &layer.hidden, layer.cell, &layer.weight, &layer.output,
                             &layer.last_hidden, layer.last_cell}) {
    if (each != nullptr && !is_row_major(each->dim_order(), each->sizes())) return false;
  }
  return true;
}

// Calls compute(step) for each step in its order, and copies the states before and after. Declines tensors
// that are not row-major. The cell is updated in place in `last_cell`.
template <class Compute>
std::optional<Error> for_each_step(const RecurrenceProblem& problem, Compute compute) {
  const Recurrence& layer = problem.layer;
  const RecurrenceSizes& sizes = problem.sizes;
  if (!are_row_major(layer)) return std::nullopt;
  const size_t elements = sizes.batch * sizes.units;
  if (elements == 0) return Error::Ok;
  RecurrenceStep step = {};
  step.before = layer.hidden.const_data_ptr<float>();
  step.weight = layer.weight.const_data_ptr<float>();
  if (layer.bias != nullptr) step.bias = layer.bias->const_data_ptr<float>();
  // A plan may have given both cells the same memory.
  if (layer.cell != nullptr) {
    step.cell = layer.last_cell->mutable_data_ptr<float>();
    std::memmove(step.cell, layer.cell->const_data_ptr(), layer.cell->nbytes());
  }
  for (size_t i = 0; i < sizes.steps; ++i) {
    const size_t t = sizes.step(i, layer.reverse);
    step.gates = layer.gates.const_data_ptr<float>() + t * sizes.gates * elements;
    step.hidden = layer.output.mutable_data_ptr<float>() + t * elements;
    compute(step);
    step.before = step.hidden;
  }
  std::memmove(layer.last_hidden.mutable_data_ptr(), step.before, layer.last_hidden.nbytes());
  return Error::Ok;
}

}  // namespace rushlight::kernels
