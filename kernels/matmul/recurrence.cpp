// SPDX-License-Identifier: BSD-3-Clause
// Sizes follow from the gates [steps, batch, gates * units]; all other tensors are compared with these.
#include "kernels/matmul/recurrence.h"

#include "kernels/checks/checks.h"

namespace rushlight::kernels {

namespace {

Error check_matrix(const Tensor& tensor, ptrdiff_t rows, ptrdiff_t columns, const char* name) {
  const bool fits = tensor.dim() == 2 && tensor.size(0) == rows && tensor.size(1) == columns;
  RL_CHECK(fits, Error::InvalidArgument, "%s: expected sizes [%ld, %ld]", name, static_cast<long>(rows),
           static_cast<long>(columns));
  return Error::Ok;
}

Error check_dtypes(const Recurrence& layer) {
  const struct {
    const Tensor* tensor;
    const char* what;
  } others[] = {{&layer.hidden, "gates and hidden"}, {layer.cell, "gates and cell"},
                {&layer.weight, "gates and weight"}, {layer.bias, "gates and bias"},
                {&layer.output, "gates and out0"},   {&layer.last_hidden, "gates and out1"},
                {layer.last_cell, "gates and out2"}};
  for (const auto& other : others) {
    if (other.tensor != nullptr) RL_TRY(check_same_dtype(layer.gates, *other.tensor, other.what));
  }
  return Error::Ok;
}

}  // namespace

Error plan_recurrence(const Recurrence& layer, size_t gates, RecurrenceSizes* sizes) {
  RL_TRY(check_dtypes(layer));
  RL_CHECK(layer.gates.dim() == 3, Error::InvalidArgument, "gates: expected 3 dimensions, got %d",
           static_cast<int>(layer.gates.dim()));
  const ptrdiff_t batch = layer.gates.size(1);
  const ptrdiff_t rows = layer.gates.size(2);
  const ptrdiff_t units = rows / static_cast<ptrdiff_t>(gates);
  RL_CHECK(units * static_cast<ptrdiff_t>(gates) == rows, Error::InvalidArgument,
           "gates: expected a multiple of %d for dimension 2, got %ld", static_cast<int>(gates),
           static_cast<long>(rows));
  RL_TRY(check_matrix(layer.hidden, batch, units, "hidden"));
  if (layer.cell != nullptr) RL_TRY(check_matrix(*layer.cell, batch, units, "cell"));
  RL_TRY(check_matrix(layer.weight, rows, units, "weight"));
  if (layer.bias != nullptr) {
    RL_CHECK(layer.bias->dim() == 1 && layer.bias->size(0) == units, Error::InvalidArgument,
             "bias: expected sizes [%ld]", static_cast<long>(units));
  }
  Shape shape;
  shape.push(layer.gates.size(0));
  shape.push(batch);
  shape.push(units);
  RL_TRY(resize_out(layer.output, shape.span()));
  // [batch, units]
  RL_TRY(resize_out(layer.last_hidden, {shape.sizes + 1, 2}));
  if (layer.last_cell != nullptr) RL_TRY(resize_out(*layer.last_cell, {shape.sizes + 1, 2}));
  *sizes = {static_cast<size_t>(layer.gates.size(0)), static_cast<size_t>(batch), gates,
            static_cast<size_t>(units)};
  return Error::Ok;
}

}  // namespace rushlight::kernels
