// SPDX-License-Identifier: BSD-3-Clause
// Discrete Fourier transforms along dimensions of tensors, of any length.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/checks/checks.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Transforms along several dimensions, one after the other.
class Fourier {
 public:
  // The dimensions exist and are different; `sizes` are those of the transforms of a tensor of that
  // shape. `normalization`: 0 leaves sums as they are, 1 divides by the square root of the number of
  // elements, 2 by that number. InvalidArgument.
  Error plan(Span<const int64_t> dims, int64_t normalization, const Shape& sizes);

  // Takes scratch for three times the longest transform, in complex numbers of the component type, and
  // hands out memory for `extra` complex numbers beside; a little is always there, more comes from the
  // context. MemoryAllocationFailed.
  Error reserve(KernelContext& context, ScalarType component, size_t extra = 0);
  [[nodiscard]] char* extra() const { return extra_; }

  // Reads fibers of `source` and writes those of `target`, which may be the same. Both have the component
  // type or are complex; only the first elements of the result are kept where target is shorter. The
  // sums of the last step of a plan are scaled. InvalidType.
  Error run(const View& source, const View& target, size_t index, bool forward, bool mirrored = false);

  [[nodiscard]] size_t count() const { return count_; }

 private:
  size_t dims_[kTensorDimensionLimit];
  ptrdiff_t sizes_[kTensorDimensionLimit];
  size_t count_ = 0;
  size_t left_ = 0;  // steps to come
  double scale_ = 1;
  char* scratch_ = nullptr;
  char* extra_ = nullptr;
  alignas(double) char small_[512];
};

}  // namespace rushlight::kernels
