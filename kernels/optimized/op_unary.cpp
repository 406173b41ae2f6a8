// SPDX-License-Identifier: BSD-3-Clause
// Functions of each element, without parameters.
#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/fallback.h"
#include "kernels/shared/selection.h"
#include "kernels/ukernel/vector_math.h"
#include "runtime/kernel/context.h"

#define RL_UNARY(op, kernel, function)                                            \
  namespace rushlight::kernels {                                                  \
  Error kernel(KernelContext& context, const Tensor& self, Tensor& out);          \
  namespace optimized {                                                           \
  Error kernel(KernelContext& context, const Tensor& self, Tensor& out) {         \
    constexpr TypeSet kTypes = selected_types(op);                                \
    if (!all_of(kTypes, self, out)) RL_FALL_BACK(op, kernel, context, self, out); \
    return elementwise_in_float(context, out, of_each(ukernel::function), self);  \
  }                                                                               \
  }                                                                               \
  }

RL_UNARY("aten::exp.out", exp_out, exp_f32)
RL_UNARY("aten::expm1.out", expm1_out, expm1_f32)
RL_UNARY("aten::log.out", log_out, log_f32)
RL_UNARY("aten::log1p.out", log1p_out, log1p_f32)
RL_UNARY("aten::tanh.out", tanh_out, tanh_f32)
RL_UNARY("aten::sigmoid.out", sigmoid_out, sigmoid_f32)
RL_UNARY("aten::erf.out", erf_out, erf_f32)
RL_UNARY("aten::silu.out", silu_out, silu_f32)
RL_UNARY("aten::mish.out", mish_out, mish_f32)
RL_UNARY("aten::hardsigmoid.out", hardsigmoid_out, hardsigmoid_f32)
RL_UNARY("aten::hardswish.out", hardswish_out, hardswish_f32)
RL_UNARY("aten::sin.out", sin_out, sin_f32)
RL_UNARY("aten::cos.out", cos_out, cos_f32)
RL_UNARY("aten::sqrt.out", sqrt_out, sqrt_f32)
RL_UNARY("aten::rsqrt.out", rsqrt_out, rsqrt_f32)
RL_UNARY("aten::reciprocal.out", reciprocal_out, reciprocal_f32)
RL_UNARY("aten::square.out", square_out, square_f32)
RL_UNARY("aten::abs.out", abs_out, abs_f32)
RL_UNARY("aten::neg.out", neg_out, neg_f32)
RL_UNARY("aten::relu.out", relu_out, relu_f32)
RL_UNARY("aten::floor.out", floor_out, floor_f32)
RL_UNARY("aten::ceil.out", ceil_out, ceil_f32)
RL_UNARY("aten::trunc.out", trunc_out, trunc_f32)
RL_UNARY("aten::round.out", round_out, round_f32)
