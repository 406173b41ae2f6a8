// SPDX-License-Identifier: BSD-3-Clause
// Sums and products of two int8 tensors, row by row. Operands and results whose elements are not adjacent
// pass through a buffer on the stack.
#include "kernels/backs/quantized_elementwise.h"

#include "kernels/ukernel/int8_elementwise.h"
#include "kernels/walk/broadcast.h"

namespace rushlight::kernels::board {

namespace {

constexpr size_t kStaged = 64;  // elements

void copy_apart(char* to, ptrdiff_t to_stride, const char* from, ptrdiff_t from_stride, size_t count) {
  for (; count > 0; --count, to += to_stride, from += from_stride) *to = *from;
}

// One row with any strides.
template <class Compute>
[[gnu::noinline]] void compute_staged(char* const* at, const BroadcastAxis& axis, const Compute& compute) {
  char staged[3][kStaged];
  for (size_t i = 0; i < axis.size; i += kStaged) {
    const size_t count = axis.size - i < kStaged ? axis.size - i : kStaged;
    const auto element = [&](size_t k) { return at[k] + static_cast<ptrdiff_t>(i) * axis.strides[k]; };
    for (size_t k = 1; k < 3; ++k) copy_apart(staged[k], 1, element(k), axis.strides[k], count);
    compute({1, count, {{staged[1], 0, false}, {staged[2], 0, false}, {}}, staged[0], 0});
    copy_apart(element(0), axis.strides[0], staged[0], 1, count);
  }
}

template <class Compute>
Error compute_rows(const QuantizedPairs& pairs, const Compute& compute) {
  const Tensor* const operands[] = {&pairs.out, &pairs.self, &pairs.other};
  for_each_row(operands, [&](char* const* at, const BroadcastAxis& axis) {
    // Microkernels take rows of stride 1, or one element that stands for the row (stride 0).
    const auto is_row = [&](size_t k) { return axis.strides[k] == 0 || axis.strides[k] == 1; };
    if ((axis.strides[0] != 1 && axis.size > 1) || !is_row(1) || !is_row(2)) {
      return compute_staged(at, axis, compute);
    }
    compute(
        {1, axis.size, {{at[1], 0, axis.strides[1] == 0}, {at[2], 0, axis.strides[2] == 0}, {}}, at[0], 0});
  });
  return Error::Ok;
}

}  // namespace

Error quantized_add(KernelContext&, const QuantizedAddProblem& problem) {
  return compute_rows(problem, [&](const ukernel::Rows& rows) { ukernel::add_int8(rows, problem.sum); });
}

Error quantized_mul(KernelContext&, const QuantizedMulProblem& problem) {
  return compute_rows(
      problem, [&](const ukernel::Rows& rows) { ukernel::multiply_int8_pairs(rows, problem.product); });
}

}  // namespace rushlight::kernels::board
