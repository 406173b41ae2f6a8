// SPDX-License-Identifier: BSD-3-Clause
// Problems of quantized linear layers, and their backs, which decline weights with a zero point.
// IntegerLinear defines the fields and what the front has proven; all backs and the portable code give the
// same bits.
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

// quantized_linear.cpp: int8 and int16. They decline if scratch memory is too small, or if the rows of a
// tensor have no common stride. The prepare function packs a constant int8 weight; int16 uses it as stored.
std::optional<Error> quantized_linear(KernelContext& context, const QuantizedLinearProblem& problem);
Error quantized_linear_prepare(KernelContext& context, const QuantizedLinearProblem& problem);

}  // namespace host

namespace board {

// quantized_linear.cpp: int8 and int16. Declines if the elements of a row are not adjacent, or if weights
// that have to be copied first exceed the stack buffer.
std::optional<Error> quantized_linear(KernelContext& context, const QuantizedLinearProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
