// SPDX-License-Identifier: BSD-3-Clause
// Elementwise comparisons for float32, int32 and int64. `greater` is `less` with exchanged operands.
#include "kernels/backs/elementwise.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elementwise.h"

namespace rushlight::kernels::host {

namespace {

constexpr TypeSet kTypes = selected_types("aten::eq.Tensor_out") | selected_types("aten::eq.Scalar_out") |
                           selected_types("aten::ne.Tensor_out") | selected_types("aten::ne.Scalar_out") |
                           selected_types("aten::lt.Tensor_out") | selected_types("aten::lt.Scalar_out") |
                           selected_types("aten::le.Tensor_out") | selected_types("aten::le.Scalar_out") |
                           selected_types("aten::gt.Tensor_out") | selected_types("aten::gt.Scalar_out") |
                           selected_types("aten::ge.Tensor_out") | selected_types("aten::ge.Scalar_out");

// One microkernel for each element type.
struct Comparison {
  RowsFunction of_float;
  RowsFunction of_int;
  RowsFunction of_long;
};

constexpr Comparison kEqual = {ukernel::equal_f32, ukernel::equal_i32, ukernel::equal_i64};
constexpr Comparison kNotEqual = {ukernel::not_equal_f32, ukernel::not_equal_i32, ukernel::not_equal_i64};
constexpr Comparison kLess = {ukernel::less_f32, ukernel::less_i32, ukernel::less_i64};
constexpr Comparison kLessEqual = {ukernel::less_equal_f32, ukernel::less_equal_i32, ukernel::less_equal_i64};

// Results are bytes of bool; operands have the compute dtype.
Error compare(KernelContext& context, const Comparison& comparison, const Tensor& a, const Tensor& b,
              const ComparisonProblem& problem) {
  // Constant conditions: a build without integer dtypes links no integer microkernels.
  RowsFunction function = comparison.of_float;
  if (contains(kTypes, ScalarType::Int) && problem.compute == ScalarType::Int) function = comparison.of_int;
  if (contains(kTypes, ScalarType::Long) && problem.compute == ScalarType::Long) {
    function = comparison.of_long;
  }
  return elementwise(context, problem.out, function, a, b);
}

}  // namespace

Error equal(KernelContext& context, const ComparisonProblem& problem) {
  return compare(context, kEqual, problem.a, problem.b, problem);
}

Error not_equal(KernelContext& context, const ComparisonProblem& problem) {
  return compare(context, kNotEqual, problem.a, problem.b, problem);
}

Error less(KernelContext& context, const ComparisonProblem& problem) {
  return compare(context, kLess, problem.a, problem.b, problem);
}

Error less_equal(KernelContext& context, const ComparisonProblem& problem) {
  return compare(context, kLessEqual, problem.a, problem.b, problem);
}

Error greater(KernelContext& context, const ComparisonProblem& problem) {
  return compare(context, kLess, problem.b, problem.a, problem);
}

Error greater_equal(KernelContext& context, const ComparisonProblem& problem) {
  return compare(context, kLessEqual, problem.b, problem.a, problem);
}

}  // namespace rushlight::kernels::host
