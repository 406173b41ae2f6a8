// SPDX-License-Identifier: BSD-3-Clause
// Conversion of rows between float32 and the 16-bit dtypes, for kernels that compute in float32.
#pragma once

#include <cstddef>

#include "kernels/checks/selection.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/scalar_type.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::host {

// True for float16 and bfloat16, which are converted. A constant in builds without these dtypes, so that code
// for them is not compiled.
[[nodiscard]] constexpr bool widens(ScalarType type) {
  return contains(kAnySelectedType & types::kReducedFloat, type);
}

// True for float64, which has its own microkernels; a constant likewise.
[[nodiscard]] constexpr bool is_double(ScalarType type) {
  return contains(kAnySelectedType, ScalarType::Double) && type == ScalarType::Double;
}

// Converts n elements of type Float, Half, BFloat16, an integer type or Bool to float. `stride` is in
// elements. `to` is contiguous; contiguous sources use the vector microkernels.
void load_floats(float* to, ScalarType type, const void* from, ptrdiff_t stride, size_t n);
// The reverse; rounds to nearest even.
void store_floats(void* to, ptrdiff_t stride, ScalarType type, const float* from, size_t n);

// `count` floats, rounded up to whole cache lines.
[[nodiscard]] constexpr size_t padded_floats(size_t count) { return (count + 15) / 16 * 16; }

// All elements of a tensor in the order of its memory, on the threads of the context: the copy has the
// element strides of the tensor.
void load_tensor(KernelContext& context, float* to, const Tensor& from);
void store_tensor(KernelContext& context, const Tensor& to, const float* from);
// Buffers of a call in scratch memory, one after the other, each padded_floats() long.
class FloatBuffers {
 public:
  // `floats` of all buffers.
  FloatBuffers(KernelContext& context, size_t floats)
      : context_(context), next_(static_cast<float*>(context.allocate_temp(floats * sizeof(float), 64))) {}

  // True if the scratch memory is too small; then nothing may be taken.
  [[nodiscard]] bool empty() const { return next_ == nullptr; }
  [[nodiscard]] float* take(size_t count) {
    float* taken = next_;
    next_ += padded_floats(count);
    return taken;
  }
  // A converted copy of a tensor, as by load_tensor().
  [[nodiscard]] float* load(const Tensor& tensor) {
    float* taken = take(tensor.numel());
    load_tensor(context_, taken, tensor);
    return taken;
  }

 private:
  KernelContext& context_;
  float* next_;
};
// A float32 tensor with the sizes and the layout of `of`, whose arrays it shares, at `floats`.
[[nodiscard]] TensorImpl widened_tensor(const Tensor& of, float* floats);

}  // namespace rushlight::kernels::host
