// SPDX-License-Identifier: BSD-3-Clause
// Questions to two numbers of float32, int32 or int64.
#include "kernels/optimized/elementwise.h"
#include "kernels/optimized/fallback.h"
#include "kernels/shared/promotion.h"
#include "kernels/shared/scalar_tensor.h"
#include "kernels/shared/selection.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::optimized {

namespace {

using Question = void (*)(const ukernel::Rows& rows);

// One question to each type of elements.
struct Questions {
  Question of_float;
  Question of_int;
  Question of_long;
};

constexpr Questions kEqual = {ukernel::equal_f32, ukernel::equal_i32, ukernel::equal_i64};
constexpr Questions kNotEqual = {ukernel::not_equal_f32, ukernel::not_equal_i32, ukernel::not_equal_i64};
constexpr Questions kLess = {ukernel::less_f32, ukernel::less_i32, ukernel::less_i64};
constexpr Questions kLessEqual = {ukernel::less_equal_f32, ukernel::less_equal_i32, ukernel::less_equal_i64};

template <TypeSet kTypes>
Error compare(KernelContext& context, const Questions& questions, const Tensor& a, const Tensor& b,
              const Tensor& out) {
  const ScalarType type = a.scalar_type();
  Question question = questions.of_float;
  if (contains(kTypes, ScalarType::Int) && type == ScalarType::Int) question = questions.of_int;
  if (contains(kTypes, ScalarType::Long) && type == ScalarType::Long) question = questions.of_long;
  return elementwise(context, out, question, a, b);
}

}  // namespace

}  // namespace rushlight::kernels::optimized

// The questions "greater" and "greater or equal" are those of the operands in the other order.
#define RL_COMPARISON(name, questions, first, second)                                                      \
  namespace rushlight::kernels {                                                                           \
  Error name##_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out);   \
  Error name##_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out);   \
  namespace optimized {                                                                                    \
  Error name##_tensor_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {  \
    constexpr TypeSet kTypes = selected_types("aten::" #name ".Tensor_out");                               \
    if (!all_of(kTypes, self, other) || out.scalar_type() != ScalarType::Bool) {                           \
      RL_FALL_BACK("aten::" #name ".Tensor_out", name##_tensor_out, context, self, other, out);            \
    }                                                                                                      \
    return compare<kTypes>(context, questions, first, second, out);                                        \
  }                                                                                                        \
  Error name##_scalar_out(KernelContext& context, const Tensor& self, const Scalar& number, Tensor& out) { \
    constexpr TypeSet kTypes = selected_types("aten::" #name ".Scalar_out");                               \
    const ScalarType type = self.scalar_type();                                                            \
    if (!contains(kTypes, type) || result_type(self, number) != type ||                                    \
        out.scalar_type() != ScalarType::Bool) {                                                           \
      RL_FALL_BACK("aten::" #name ".Scalar_out", name##_scalar_out, context, self, number, out);           \
    }                                                                                                      \
    const ScalarTensor held(number, type);                                                                 \
    const Tensor& other = held;                                                                            \
    return compare<kTypes>(context, questions, first, second, out);                                        \
  }                                                                                                        \
  }                                                                                                        \
  }

RL_COMPARISON(eq, kEqual, self, other)
RL_COMPARISON(ne, kNotEqual, self, other)
RL_COMPARISON(lt, kLess, self, other)
RL_COMPARISON(le, kLessEqual, self, other)
RL_COMPARISON(gt, kLess, other, self)
RL_COMPARISON(ge, kLessEqual, other, self)
