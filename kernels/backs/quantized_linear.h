// SPDX-License-Identifier: BSD-3-Clause
// Problems of linear layers of integers, and their backs, which decline where the weight has a zero point.
#pragma once

#include <optional>

#include "kernels/quantization/integer_linear.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

struct QuantizedLinearProblem : IntegerLinear {
  static constexpr bool kDtypeIsSelected = true;

  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// quantized_linear.cpp: int8 and int16. They decline when there is too little scratch memory, and where rows
// do not lie at equal steps.
std::optional<Error> quantized_linear(KernelContext& context, const QuantizedLinearProblem& problem);
Error quantized_linear_prepare(KernelContext& context, const QuantizedLinearProblem& problem);

}  // namespace host

namespace board {

// quantized_linear.cpp: int8 and int16. It declines where the numbers of a row are apart, and where weights
// that have to be copied together are too long for the stack.
std::optional<Error> quantized_linear(KernelContext& context, const QuantizedLinearProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
