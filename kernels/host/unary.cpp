// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions without parameters, one vector microkernel each.
#include "kernels/backs/elementwise.h"
#include "kernels/host/elementwise.h"
#include "kernels/ukernel/vector_math.h"

namespace rushlight::kernels::host {

#define RL_UNARY(name)                                                                             \
  Error name(KernelContext& context, const UnaryProblem& problem) {                                \
    return elementwise_in_float(context, problem.out, of_each(ukernel::name##_f32), problem.self); \
  }

RL_UNARY(abs)
RL_UNARY(ceil)
RL_UNARY(cos)
RL_UNARY(erf)
RL_UNARY(exp)
RL_UNARY(expm1)
RL_UNARY(floor)
RL_UNARY(hardsigmoid)
RL_UNARY(hardswish)
RL_UNARY(log)
RL_UNARY(log1p)
RL_UNARY(mish)
RL_UNARY(neg)
RL_UNARY(reciprocal)
RL_UNARY(relu)
RL_UNARY(round)
RL_UNARY(rsqrt)
RL_UNARY(sigmoid)
RL_UNARY(silu)
RL_UNARY(sin)
RL_UNARY(sqrt)
RL_UNARY(square)
RL_UNARY(tanh)
RL_UNARY(trunc)

#undef RL_UNARY

}  // namespace rushlight::kernels::host
