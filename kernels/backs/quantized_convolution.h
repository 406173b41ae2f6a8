// SPDX-License-Identifier: BSD-3-Clause
// Problems of quantized convolutions, and their backs. IntegerConvolution defines the fields and what the
// front has proven; all backs and the portable code give the same bits.
#pragma once

#include <optional>

#include "kernels/quantization/integer_convolution.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// When preparing, `to` is not set, and the bias may be absent.
struct QuantizedConvolutionProblem : IntegerConvolution {
  static constexpr bool kDtypeIsSelected = true;

  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// quantized_convolution.cpp: int8 and int16. They decline if scratch memory is too small. The prepare
// function packs constant int8 weights; int16 uses the weights as stored.
std::optional<Error> quantized_convolution(KernelContext& context,
                                           const QuantizedConvolutionProblem& problem);
Error quantized_convolution_prepare(KernelContext& context, const QuantizedConvolutionProblem& problem);

}  // namespace host

namespace board {

// quantized_convolution.cpp: int8 and int16. Declines if the elements of a channel's weights are not
// adjacent, or if the patch of one output, or weights that have to be copied first, exceed the stack buffer.
std::optional<Error> quantized_convolution(KernelContext& context,
                                           const QuantizedConvolutionProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
