// SPDX-License-Identifier: BSD-3-Clause
// The loop around elementwise microkernels: broadcasts operands of any layout, merges dimensions where
// strides allow, and divides the work among threads. Microkernels see contiguous rows or repeated scalars;
// other operands pass through buffers of 256 elements on the stack.
//
//   return elementwise(context, out, [](const ukernel::Rows& rows) { ukernel::mul_f32(rows); }, self, other);
//   return elementwise(context, out, of_each(ukernel::exp_f32), self);
#pragma once

#include <cstddef>

#include "kernels/ukernel/elementwise.h"
#include "kernels/walk/broadcast.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::host {

// A type-erased callable: a microkernel with its parameters. `function` must stay valid during the call.
// Threads call it concurrently.
struct RowWork {
  void (*run)(const void* function, const ukernel::Rows& rows);
  const void* function;
  bool in_float = false;  // operands of other dtypes are converted to float32, outputs back

  void operator()(const ukernel::Rows& rows) const { run(function, rows); }
};

// Resizes `out` to the broadcast shape of the inputs and computes. Precondition: the microkernel takes
// the dtypes, of at most 8 bytes. Errors: InvalidArgument (shapes).
Error run_elementwise(KernelContext& context, const Tensor& out, Span<const Tensor* const> inputs,
                      const RowWork& work);

// Calls f(const ukernel::Rows&) for spans of rows, concurrently on several threads. f must not keep state.
// Errors: InvalidArgument.
template <class F, class... Inputs>
Error elementwise(KernelContext& context, const Tensor& out, F f, const Inputs&... inputs) {
  static_assert(sizeof...(Inputs) <= kMaxElementwiseInputs);
  const Tensor* const tensors[] = {&inputs...};
  const auto run = [](const void* function, const ukernel::Rows& rows) {
    (*static_cast<const F*>(function))(rows);
  };
  return run_elementwise(context, out, {tensors, sizeof...(Inputs)}, {run, &f});
}

// The same for float32, float16 and bfloat16 tensors, and inputs of integers or bool; f computes in float32.
template <class F, class... Inputs>
Error elementwise_in_float(KernelContext& context, const Tensor& out, F f, const Inputs&... inputs) {
  static_assert(sizeof...(Inputs) <= kMaxElementwiseInputs);
  const Tensor* const tensors[] = {&inputs...};
  const auto run = [](const void* function, const ukernel::Rows& rows) {
    (*static_cast<const F*>(function))(rows);
  };
  return run_elementwise(context, out, {tensors, sizeof...(Inputs)}, {run, &f, true});
}

// The microkernel of torch.where for elements of this size; it moves bytes, so the dtype does not matter.
using RowsFunction = void (*)(const ukernel::Rows& rows);
[[nodiscard]] inline RowsFunction where_of(size_t element_size) {
  switch (element_size) {
    case 1:
      return ukernel::where_8;
    case 2:
      return ukernel::where_16;
    case 4:
      return ukernel::where_32;
    default:
      return ukernel::where_64;
  }
}

// Adapts a function f(n, x, out) of spans of T to rows. One operand only.
template <class T = float, class F>
auto of_each(F f) {
  return [f](const ukernel::Rows& rows) {
    // Rows of the one operand may be further apart than their length.
    const char* in = static_cast<const char*>(rows.in[0].data);
    char* out = static_cast<char*>(rows.out);
    for (size_t row = 0; row < rows.count; ++row, in += rows.in[0].stride, out += rows.stride) {
      f(rows.n, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out));
    }
  };
}

// Adapts a function f(n, a, a_step, b, b_step, out) of two spans of T to rows; a step is 0 for an operand of
// one element, else 1.
template <class T, class F>
auto of_pairs(F f) {
  return [f](const ukernel::Rows& rows) {
    const auto at = [&](const ukernel::RowInput& in, size_t row) {
      return reinterpret_cast<const T*>(static_cast<const char*>(in.data) +
                                        static_cast<ptrdiff_t>(row) * in.stride);
    };
    char* out = static_cast<char*>(rows.out);
    for (size_t row = 0; row < rows.count; ++row, out += rows.stride) {
      f(rows.n, at(rows.in[0], row), rows.in[0].one ? 0 : 1, at(rows.in[1], row), rows.in[1].one ? 0 : 1,
        reinterpret_cast<T*>(out));
    }
  };
}

}  // namespace rushlight::kernels::host
