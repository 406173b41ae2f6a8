// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/backs/backs.h"
#include "kernels/backs/gated_act.h"
#include "kernels/checks/overlap.h"
#include "kernels/checks/sizes.h"
#include "kernels/matmul/activation.h"

namespace rushlight::kernels {

namespace {

Error check_rows(const Tensor& tensor, const char* name) {
  RL_CHECK(tensor.scalar_type() == ScalarType::Float, Error::InvalidType, "%s: expected float32, got %s",
           name, to_string(tensor.scalar_type()));
  RL_CHECK(is_row_major(tensor.dim_order(), tensor.sizes()), Error::InvalidArgument,
           "%s: expected row-major memory", name);
  return Error::Ok;
}

// Parses an activation without parameters.
Error read_activation(std::string_view name, Activation* activation) {
  RL_TRY(make_activation(name, 0, 0, activation));
  RL_CHECK(activation->kind != ActivationKind::kClamp && activation->kind != ActivationKind::kLeakyRelu,
           Error::InvalidArgument, "activation: expected one without parameters, got '%.*s'",
           static_cast<int>(name.size()), name.data());
  return Error::Ok;
}

}  // namespace

// Gated linear units (Shazeer, "GLU variants improve transformer", 2020): the activated first half of each
// row times the second half, [..., 2 * width] to [..., width]. float32 in row-major memory only, so that rows
// are two plain arrays.
Error gated_act_out(KernelContext& context, const Tensor& input, std::string_view activation, Tensor& out) {
  Activation function;
  RL_TRY(read_activation(activation, &function));
  RL_TRY(check_rows(input, "input"));
  RL_CHECK(input.dim() > 0, Error::InvalidArgument, "input: expected at least 1 dimension, got 0");
  Shape shape = Shape::of(input);
  SizesType& last = shape.sizes[shape.dim - 1];
  RL_CHECK(last % 2 == 0, Error::InvalidArgument, "input: expected an even last size, got %ld",
           static_cast<long>(last));
  last /= 2;
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(check_rows(out, "out"));
  // Rows of `out` are shorter, so writing one would overwrite later rows of an overlapping input.
  RL_TRY(check_no_overlap(input, out, "input"));
  const size_t numbers = out.numel();
  if (numbers == 0) return Error::Ok;
  const auto width = static_cast<size_t>(last);
  const GatedActProblem problem{function, numbers / width, width, input.const_data_ptr<float>(),
                                out.mutable_data_ptr<float>()};
  return backs::gated_act_out(context, problem, [&] {
    for (size_t row = 0; row < problem.rows; ++row) {
      const float* const gate = problem.input + row * 2 * width;
      multiply_by_gate(function, width, gate, gate + width, problem.out + row * width);
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
