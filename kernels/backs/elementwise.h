// SPDX-License-Identifier: BSD-3-Clause
// Problems of elementwise operators, and their backs. Operands broadcast against each other in any dim order;
// the walk over them resizes `out` to the broadcast shape. `out` may alias an operand that has its shape and
// layout. Parameters of unary problems have been converted from Scalars by the front: to float32 in problems
// that float64 has no back for. Errors of all backs: InvalidArgument if shapes do not broadcast or `out`
// cannot have the result's shape.
#pragma once

#include <cstdint>

#include "kernels/checks/selected_calls.h"
#include "kernels/checks/selection.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out = f(self), in the dtype of `self`. Problems in which `out` has another dtype go to the portable code.
struct UnaryProblem {
  const Tensor& self;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return self.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return contains(types, type()) && out.scalar_type() == type();
  }
};

// out = the angle of complex numbers, in the dtype of their parts.
struct PhaseProblem : UnaryProblem {
  [[nodiscard]] bool is_in(TypeSet types) const {
    return contains(types, type()) && out.scalar_type() == component_type(type());
  }
};

// A function that exists only for floating values: integers and bool compute in float32. kTypes are the
// dtypes of the operator. Builds that know the shapes of their calls do not know the dtypes, and leave
// integers to the portable code.
template <TypeSet kTypes>
struct FloatingProblem : UnaryProblem {
  [[nodiscard]] bool is_in(TypeSet types) const {
    const bool promotes = !kKnowsCalls && contains(kTypes & (types::kIntegral | types::kBool), type());
    const ScalarType computed = promotes ? ScalarType::Float : type();
    return contains(types, computed) && out.scalar_type() == computed;
  }
};

// PyTorch's "none" and "tanh" approximations.
struct GeluProblem : UnaryProblem {
  bool with_tanh;  // true: tanh approximation; false: exact, by erf
};

// out = log(sigmoid(self)); buffer = exp(-|self|), for the backward operator.
struct LogSigmoidProblem : UnaryProblem {
  const Tensor& buffer;

  [[nodiscard]] bool is_in(TypeSet types) const {
    return UnaryProblem::is_in(types) && buffer.scalar_type() == type();
  }
};

// out = self for self > 0, slope * self otherwise.
struct LeakyReluProblem : UnaryProblem {
  float slope;
};

// out = scale * self for self > 0, scale * alpha * (exp(input_scale * self) - 1) otherwise.
struct EluProblem : UnaryProblem {
  double alpha;
  double scale;
  double input_scale;
};

// out = log(x / (1 - x)) of x = self within [low, high]: low below low, else high above high.
struct LogitProblem : UnaryProblem {
  double low;
  double high;
};

// out = log(1 + exp(beta * self)) / beta, or self where beta * self > threshold.
struct SoftplusProblem : UnaryProblem {
  float beta;
  float threshold;
};

// Clamps to [low, high]; either bound may be infinite. NaN stays NaN. An absent bound is an infinite one.
struct BoundsProblem : UnaryProblem {
  float low;
  float high;
};

// power_of_elements: self to the power `number`. power_of_scalar: `number` to the power self. Both in
// float32; small integer exponents multiply repeatedly.
struct PowerProblem : UnaryProblem {
  float number;
};

// The operand that the call passes as a Scalar. It is wrapped as a tensor of rank 0 in the compute dtype; for
// float16 and bfloat16 it may be float32, so that the scalar is not rounded.
enum class ScalarOperand : uint8_t { kNone, kFirst, kLast };

// out = f(a, b), computed in the dtype `compute`. Backs take operands of that dtype only; portable code
// promotes all others.
struct BinaryProblem {
  ScalarType compute;
  const Tensor& a;
  const Tensor& b;
  const Tensor& out;
  ScalarOperand number = ScalarOperand::kNone;

  // The dtype that an error names: of an operand that is a tensor in the call. For float16 and bfloat16 the
  // wrapped scalar may be float32, so its dtype would mislead.
  [[nodiscard]] ScalarType type() const { return (number == ScalarOperand::kFirst ? b : a).scalar_type(); }
  // Ignores the dtype of `out`, for problems whose result has another dtype than their operands.
  [[nodiscard]] bool has_operands_in(TypeSet types) const {
    return contains(types, compute) && (number == ScalarOperand::kFirst || a.scalar_type() == compute) &&
           (number == ScalarOperand::kLast || b.scalar_type() == compute);
  }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return has_operands_in(types) && out.scalar_type() == compute;
  }
};

// As FloatingProblem, of two operands: integers and bool of kTypes compute in float32.
template <TypeSet kTypes>
struct FloatingBinaryProblem : BinaryProblem {
  [[nodiscard]] bool is_in(TypeSet types) const {
    constexpr TypeSet kPromoted = kKnowsCalls ? 0 : kTypes & (types::kIntegral | types::kBool);
    const auto takes = [this](const Tensor& operand) {
      const ScalarType type = operand.scalar_type();
      return type == compute || (compute == ScalarType::Float && contains(kPromoted, type));
    };
    return contains(types, compute) && takes(a) && takes(b) && out.scalar_type() == compute;
  }
};

// out = a + alpha b (add), or a - alpha b (subtract).
struct ScaledSumProblem : BinaryProblem {
  const Scalar& alpha;
};

// out = a <comparison> b; `out` is bool.
struct ComparisonProblem : BinaryProblem {
  [[nodiscard]] bool is_in(TypeSet types) const {
    return has_operands_in(types) && out.scalar_type() == ScalarType::Bool;
  }
};

// out = f(a, b, c), with operands of one dtype. c may be the call's Scalar, wrapped as a tensor (lerp's
// weight).
struct TernaryProblem {
  const Tensor& a;
  const Tensor& b;
  const Tensor& c;
  const Tensor& out;
  ScalarOperand number = ScalarOperand::kNone;

  [[nodiscard]] ScalarType type() const { return a.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return contains(types, type()) && b.scalar_type() == type() && out.scalar_type() == type() &&
           (number == ScalarOperand::kLast || c.scalar_type() == type());
  }
};

// out = a + value b c (addcmul), or a + value b / c (addcdiv).
struct ScaledProductProblem : TernaryProblem {
  float value;
};

// out = condition ? a : b. The condition is bool or uint8, and any nonzero byte is true. Elements are moved
// by size.
struct SelectProblem {
  const Tensor& condition;
  const Tensor& a;
  const Tensor& b;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return a.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return contains(types, type()) && b.scalar_type() == type() && out.scalar_type() == type();
  }
};

// out = min(max(self, low), high) with tensors of bounds that broadcast; one of the two may be null. NaN in
// any operand gives NaN.
struct TensorBoundsProblem {
  const Tensor& self;
  const Tensor* low;
  const Tensor* high;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return self.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return contains(types, type()) && out.scalar_type() == type() &&
           (low == nullptr || low->scalar_type() == type()) &&
           (high == nullptr || high->scalar_type() == type());
  }
};

// out = constant + the sum of lgamma(self - j / 2) over j < terms. Integers and bool of kTypes compute in
// float32.
struct LgammaSumProblem : UnaryProblem {
  size_t terms;
  double constant;
  TypeSet promoted;  // the dtypes that compute in float32

  [[nodiscard]] bool is_in(TypeSet types) const {
    const bool promotes = !kKnowsCalls && contains(promoted, type());
    const ScalarType computed = promotes ? ScalarType::Float : type();
    return contains(types, computed) && out.scalar_type() == computed;
  }
};

namespace host {

// unary.cpp: float32, float16, bfloat16 and, except hardsigmoid, hardswish and relu, float64; 16-bit floats
// compute in float32 and round once. The largest errors of float32 functions, at most 4.6 ulp, are in
// kernels/ukernel/vector_math.h, and the errors of all others in kernels/ukernel/wide_math.h; sinc,
// spherical_bessel_j0, erfcx, lgamma and sum_lgamma compute in double. A result does not depend on its
// position or on threads.
Error abs(KernelContext& context, const UnaryProblem& problem);
Error acos(KernelContext& context, const UnaryProblem& problem);
Error acosh(KernelContext& context, const UnaryProblem& problem);
Error asin(KernelContext& context, const UnaryProblem& problem);
Error asinh(KernelContext& context, const UnaryProblem& problem);
Error atan(KernelContext& context, const UnaryProblem& problem);
Error atanh(KernelContext& context, const UnaryProblem& problem);
Error ceil(KernelContext& context, const UnaryProblem& problem);
Error cos(KernelContext& context, const UnaryProblem& problem);
Error cosh(KernelContext& context, const UnaryProblem& problem);
Error erf(KernelContext& context, const UnaryProblem& problem);
Error erfc(KernelContext& context, const UnaryProblem& problem);
Error erfcx(KernelContext& context, const UnaryProblem& problem);
Error erfinv(KernelContext& context, const UnaryProblem& problem);
Error exp(KernelContext& context, const UnaryProblem& problem);
Error exp2(KernelContext& context, const UnaryProblem& problem);
Error expm1(KernelContext& context, const UnaryProblem& problem);
Error floor(KernelContext& context, const UnaryProblem& problem);
Error hardsigmoid(KernelContext& context, const UnaryProblem& problem);
Error hardswish(KernelContext& context, const UnaryProblem& problem);
Error lgamma(KernelContext& context, const UnaryProblem& problem);
Error log(KernelContext& context, const UnaryProblem& problem);
Error log10(KernelContext& context, const UnaryProblem& problem);
Error log1p(KernelContext& context, const UnaryProblem& problem);
Error log_sigmoid(KernelContext& context, const UnaryProblem& problem);
Error logit(KernelContext& context, const LogitProblem& problem);
Error log_sigmoid_forward(KernelContext& context, const LogSigmoidProblem& problem);
Error log2(KernelContext& context, const UnaryProblem& problem);
Error mish(KernelContext& context, const UnaryProblem& problem);
Error neg(KernelContext& context, const UnaryProblem& problem);
Error reciprocal(KernelContext& context, const UnaryProblem& problem);
Error relu(KernelContext& context, const UnaryProblem& problem);
Error round(KernelContext& context, const UnaryProblem& problem);
Error rsqrt(KernelContext& context, const UnaryProblem& problem);
Error sigmoid(KernelContext& context, const UnaryProblem& problem);
Error silu(KernelContext& context, const UnaryProblem& problem);
Error sin(KernelContext& context, const UnaryProblem& problem);
Error sinc(KernelContext& context, const UnaryProblem& problem);
Error sinh(KernelContext& context, const UnaryProblem& problem);
Error spherical_bessel_j0(KernelContext& context, const UnaryProblem& problem);
Error sqrt(KernelContext& context, const UnaryProblem& problem);
Error square(KernelContext& context, const UnaryProblem& problem);
Error sum_lgamma(KernelContext& context, const LgammaSumProblem& problem);
Error tan(KernelContext& context, const UnaryProblem& problem);
Error tanh(KernelContext& context, const UnaryProblem& problem);
Error trunc(KernelContext& context, const UnaryProblem& problem);

// atan2.cpp: float32, float16, bfloat16 and float64, computed in double; integers and bool as float32.
Error atan2(KernelContext& context, const BinaryProblem& problem);
// The same file: complex64.
Error angle(KernelContext& context, const PhaseProblem& problem);

// activation.cpp: float32, float16 and bfloat16, computed in float32, with errors of up to 4 ulp for gelu,
// and 3 for elu and softplus with parameters of about 1; gelu and elu take float64, too. clamp is exact, and
// leaky_relu rounds one product.
Error gelu(KernelContext& context, const GeluProblem& problem);
Error leaky_relu(KernelContext& context, const LeakyReluProblem& problem);
Error elu(KernelContext& context, const EluProblem& problem);
Error softplus(KernelContext& context, const SoftplusProblem& problem);
Error clamp(KernelContext& context, const BoundsProblem& problem);
// a * sigmoid(b), also of float64; 4 ulp.
Error gate(KernelContext& context, const BinaryProblem& problem);

// power.cpp: float32, float16 and bfloat16, computed in float32; log_add and log2_add take float64, too.
// `power` is elementwise, with a tensor of exponents. log_add is log(e^a + e^b), log2_add log2(2^a + 2^b).
Error power(KernelContext& context, const BinaryProblem& problem);
Error log_add(KernelContext& context, const BinaryProblem& problem);
Error log2_add(KernelContext& context, const BinaryProblem& problem);
Error power_of_elements(KernelContext& context, const PowerProblem& problem);
Error power_of_scalar(KernelContext& context, const PowerProblem& problem);

// arithmetic.cpp: float32, float16 and bfloat16; add, subtract and multiply also int32 and int64, which wrap.
// divide is true division.
Error add(KernelContext& context, const ScaledSumProblem& problem);
Error subtract(KernelContext& context, const ScaledSumProblem& problem);
Error multiply(KernelContext& context, const BinaryProblem& problem);
Error divide(KernelContext& context, const BinaryProblem& problem);

// choice.cpp: float32, float16 and bfloat16; select takes every dtype of at most 8 bytes. maximum and minimum
// propagate NaN.
Error maximum(KernelContext& context, const BinaryProblem& problem);
Error minimum(KernelContext& context, const BinaryProblem& problem);
Error lerp(KernelContext& context, const TernaryProblem& problem);
Error addcmul(KernelContext& context, const ScaledProductProblem& problem);
Error addcdiv(KernelContext& context, const ScaledProductProblem& problem);
Error clamp_to_tensors(KernelContext& context, const TensorBoundsProblem& problem);
Error select(KernelContext& context, const SelectProblem& problem);

// comparison.cpp: float32, int32 and int64.
Error equal(KernelContext& context, const ComparisonProblem& problem);
Error not_equal(KernelContext& context, const ComparisonProblem& problem);
Error less(KernelContext& context, const ComparisonProblem& problem);
Error less_equal(KernelContext& context, const ComparisonProblem& problem);
Error greater(KernelContext& context, const ComparisonProblem& problem);
Error greater_equal(KernelContext& context, const ComparisonProblem& problem);

}  // namespace host

namespace board {

// relu.cpp: float32.
Error relu(KernelContext& context, const UnaryProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
