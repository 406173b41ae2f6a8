// SPDX-License-Identifier: BSD-3-Clause
// Problems of affine quantization, and their backs. `out` has its shape. Backs compute in float.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/quantization/affine.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Quantized numbers, of a type of kQuantizedTypes, become real ones, or the other way round.
struct AffineProblem {
  const Tensor& quantized;
  const Tensor& real;

  [[nodiscard]] ScalarType type() const { return quantized.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const {
    return real.scalar_type() == ScalarType::Float && contains(types, ScalarType::Float) &&
           contains(types, type());
  }
};

struct PerTensorProblem : AffineProblem {
  const Affine& affine;
};

struct QuantizePerTensorProblem : PerTensorProblem {
  const AffineRange& range;
};

// A pair of numbers for each index of dimension `axis`, counted from the end where that is negative.
struct PerChannelProblem : AffineProblem {
  const AffineList& list;
  int64_t axis;

  [[nodiscard]] bool is_in(TypeSet types) const {
    return AffineProblem::is_in(types) && list.scales.scalar_type() == ScalarType::Float;
  }
};

struct QuantizePerChannelProblem : PerChannelProblem {
  const AffineRange& range;
};

namespace host {

// quantize.cpp: uint8, int8, int16 and uint16, where both tensors lie alike and, of channels, the elements of
// one are neighbours.
std::optional<Error> quantize_per_tensor(KernelContext& context, const QuantizePerTensorProblem& problem);
std::optional<Error> dequantize_per_tensor(KernelContext& context, const PerTensorProblem& problem);
std::optional<Error> quantize_per_channel(KernelContext& context, const QuantizePerChannelProblem& problem);
std::optional<Error> dequantize_per_channel(KernelContext& context, const PerChannelProblem& problem);

}  // namespace host

namespace board {

// quantize.cpp: int8.
Error quantize_per_tensor(KernelContext& context, const QuantizePerTensorProblem& problem);
Error dequantize_per_tensor(KernelContext& context, const PerTensorProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
