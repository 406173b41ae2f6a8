// SPDX-License-Identifier: BSD-3-Clause
// Selects the method of a float32 convolution by its shape and layout.
#pragma once

#include <optional>

#include "kernels/host/convolution.h"
#include "runtime/base/error.h"

namespace rushlight::kernels::host {

// The stored elements of a weight that a convolution reads as float32, if they have another dtype.
struct WidenedWeight {
  const void* source = nullptr;
  ScalarType type = ScalarType::Float;
  size_t count = 0;
};

// For prepare functions: packs a constant weight if the method needs that, and requests the scratch memory of
// a call, for the largest shapes. Packed weights begin with the method, since a call with smaller tensors may
// select another one and must then not use them. A constant weight of another dtype is also kept as float32.
void prepare_convolution(KernelContext& context, const Convolution& convolution, bool constant_weight,
                         const WidenedWeight& widened = {});

// For calls whose weight has another dtype: the weight as prepare_convolution() kept it, or null.
[[nodiscard]] const float* prepared_weight(const KernelContext& context);

// Computes the convolution. Empty, without effect, if scratch memory is too small for every method;
// NotSupported if the build has no code for the call (method.h). Falls back to methods that need less memory:
// without packed weights to planes, with one thread's memory to one thread.
[[nodiscard]] std::optional<Error> convolve(KernelContext& context, const Convolution& convolution);

}  // namespace rushlight::kernels::host
