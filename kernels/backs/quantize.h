// SPDX-License-Identifier: BSD-3-Clause
// Problems of affine quantization, and their backs. `out` has its shape. Backs compute in float32, in the
// steps of the portable code (kernels/quantization/affine.h) and with the same bits.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/quantization/affine.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// quantized = clamp(round(real / scale) + zero_point), or the reverse, (quantized - zero_point) * scale.
// `quantized` has a dtype of kQuantizedTypes. Problems with another real dtype than float32 go to the
// portable code.
struct AffineProblem {
  const Tensor& quantized;
  const Tensor& real;

  [[nodiscard]] ScalarType type() const { return quantized.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return real.scalar_type() == ScalarType::Float && contains(types, ScalarType::Float) &&
           contains(types, type());
  }
};

// One scale and zero point for the tensor.
struct PerTensorProblem : AffineProblem {
  const Affine& affine;
};

// `range` is the inclusive range that results are clamped to; values beyond it saturate.
struct QuantizePerTensorProblem : PerTensorProblem {
  const AffineRange& range;
};

// One scale and zero point for each index of dimension `axis`; a negative axis counts from the end. The front
// has checked the axis and the length of the list.
struct PerChannelProblem : AffineProblem {
  const AffineList& list;
  int64_t axis;

  [[nodiscard]] bool is_in(TypeSet types) const {
    return AffineProblem::is_in(types) && list.scales.scalar_type() == ScalarType::Float;
  }
};

// `range` is the inclusive range that results are clamped to.
struct QuantizePerChannelProblem : PerChannelProblem {
  const AffineRange& range;
};

namespace host {

// quantize.cpp: uint8, int8, int16 and uint16. Declines tensors with different strides; per channel also
// tensors in which the elements of a channel are not adjacent.
std::optional<Error> quantize_per_tensor(KernelContext& context, const QuantizePerTensorProblem& problem);
std::optional<Error> dequantize_per_tensor(KernelContext& context, const PerTensorProblem& problem);
std::optional<Error> quantize_per_channel(KernelContext& context, const QuantizePerChannelProblem& problem);
std::optional<Error> dequantize_per_channel(KernelContext& context, const PerChannelProblem& problem);

}  // namespace host

namespace board {

// quantize.cpp: int8, for any layouts. Strided elements pass through a small buffer on the stack.
Error quantize_per_tensor(KernelContext& context, const QuantizePerTensorProblem& problem);
Error dequantize_per_tensor(KernelContext& context, const PerTensorProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
