// SPDX-License-Identifier: BSD-3-Clause
// The gates already contain the product of the inputs with their weight and the bias, for all steps at once;
// only the product with the hidden state depends on the step before.
#include "kernels/matmul/lstm.h"

#include "kernels/checks/checks.h"

namespace rushlight::kernels {

namespace {

Error check_matrix(const Tensor& tensor, ptrdiff_t rows, ptrdiff_t columns, const char* name) {
  const bool fits = tensor.dim() == 2 && tensor.size(0) == rows && tensor.size(1) == columns;
  RL_CHECK(fits, Error::InvalidArgument, "%s: expected sizes [%ld, %ld]", name, static_cast<long>(rows),
           static_cast<long>(columns));
  return Error::Ok;
}

}  // namespace

Error plan_lstm(const Lstm& lstm, LstmSizes* sizes) {
  RL_TRY(check_same_dtype(lstm.gates, lstm.hidden, "gates and hidden"));
  RL_TRY(check_same_dtype(lstm.gates, lstm.cell, "gates and cell"));
  RL_TRY(check_same_dtype(lstm.gates, lstm.weight, "gates and weight"));
  RL_TRY(check_same_dtype(lstm.gates, lstm.output, "gates and out0"));
  RL_TRY(check_same_dtype(lstm.gates, lstm.last_hidden, "gates and out1"));
  RL_TRY(check_same_dtype(lstm.gates, lstm.last_cell, "gates and out2"));
  RL_CHECK(lstm.gates.dim() == 3, Error::InvalidArgument, "gates: expected 3 dimensions, got %d",
           static_cast<int>(lstm.gates.dim()));
  // Sizes follow from the gates [steps, batch, 4 * units]; all other tensors are compared with these.
  const ptrdiff_t batch = lstm.gates.size(1);
  const ptrdiff_t units = lstm.gates.size(2) / 4;
  RL_CHECK(lstm.gates.size(2) % 4 == 0, Error::InvalidArgument,
           "gates: expected a multiple of 4 for dimension 2, got %ld", static_cast<long>(lstm.gates.size(2)));
  RL_TRY(check_matrix(lstm.hidden, batch, units, "hidden"));
  RL_TRY(check_matrix(lstm.cell, batch, units, "cell"));
  RL_TRY(check_matrix(lstm.weight, lstm.gates.size(2), units, "weight"));
  Shape shape;
  shape.push(lstm.gates.size(0));
  shape.push(batch);
  shape.push(units);
  RL_TRY(resize_out(lstm.output, shape.span()));
  // [batch, units]
  RL_TRY(resize_out(lstm.last_hidden, {shape.sizes + 1, 2}));
  RL_TRY(resize_out(lstm.last_cell, {shape.sizes + 1, 2}));
  sizes->steps = static_cast<size_t>(lstm.gates.size(0));
  sizes->batch = static_cast<size_t>(batch);
  sizes->units = static_cast<size_t>(units);
  return Error::Ok;
}

}  // namespace rushlight::kernels
