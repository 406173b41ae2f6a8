// SPDX-License-Identifier: BSD-3-Clause
// Sums and products of floats, int32 and int64, and quotients of floats.
#include "kernels/backs/elementwise.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/host/elementwise.h"

namespace rushlight::kernels::host {

namespace {

constexpr TypeSet kSumTypes = selected_types("aten::add.out") | selected_types("aten::add.Scalar_out") |
                              selected_types("aten::sub.out") | selected_types("aten::sub.Scalar_out") |
                              selected_types("aten::rsub.Scalar_out");
constexpr TypeSet kProductTypes = selected_types("aten::mul.out") | selected_types("aten::mul.Scalar_out");

Error add_scaled(KernelContext& context, const ScaledSumProblem& problem, bool minus) {
  const ScalarType type = problem.compute;
  if constexpr ((kSumTypes & types::kFloating) != 0) {
    if (is_floating(type)) {
      const auto alpha = problem.alpha.to<float>();
      // a + alpha * b; a difference negates alpha.
      const auto add = [factor = minus ? -alpha : alpha](ukernel::Rows rows) {
        rows.number = factor;
        ukernel::add_f32(rows);
      };
      if (problem.a.scalar_type() != type) {
        // A float32 scalar: PyTorch rounds it to the dtype for sums, but not for products.
        const ScalarTensor rounded(static_cast<double>(*problem.a.const_data_ptr<float>()), type);
        const Tensor& number = rounded;
        return elementwise_in_float(context, problem.out, add, number, problem.b);
      }
      return elementwise_in_float(context, problem.out, add, problem.a, problem.b);
    }
  }
  // Unsigned, so that negation and products wrap without undefined behavior.
  const auto alpha = problem.alpha.to<uint64_t>();
  const auto add = [factor = minus ? 0 - alpha : alpha, type](ukernel::Rows rows) {
    rows.factor = factor;
    type == ScalarType::Int ? ukernel::add_i32(rows) : ukernel::add_i64(rows);
  };
  return elementwise(context, problem.out, add, problem.a, problem.b);
}

}  // namespace

Error add(KernelContext& context, const ScaledSumProblem& problem) {
  return add_scaled(context, problem, false);
}

Error subtract(KernelContext& context, const ScaledSumProblem& problem) {
  return add_scaled(context, problem, true);
}

Error multiply(KernelContext& context, const BinaryProblem& problem) {
  if constexpr ((kProductTypes & types::kFloating) != 0) {
    if (is_floating(problem.compute)) {
      return elementwise_in_float(context, problem.out, ukernel::mul_f32, problem.a, problem.b);
    }
  }
  // Integers wrap.
  const auto function = problem.compute == ScalarType::Int ? ukernel::mul_i32 : ukernel::mul_i64;
  return elementwise(context, problem.out, function, problem.a, problem.b);
}

// Only float32 and 16-bit floats; the portable code divides integers.
Error divide(KernelContext& context, const BinaryProblem& problem) {
  return elementwise_in_float(context, problem.out, ukernel::div_f32, problem.a, problem.b);
}

}  // namespace rushlight::kernels::host
