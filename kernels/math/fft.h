// SPDX-License-Identifier: BSD-3-Clause
// Discrete Fourier transforms of any length along dimensions of tensors, by Stockham's autosort algorithm
// with the prime factors of n as radices. Cost: O(n * sum of the prime factors of n), so a prime length costs
// O(n^2).
//
//   forward   X[k] = sum over j of x[j] * exp(-2 pi i j k / n)        backward: exp(+2 pi i j k / n)
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

// Transforms along several dimensions, one after the other. Use in this order: plan(), reserve(), run() for
// each dimension once.
class Fourier {
 public:
  // Plans transforms along `dims`, which must be valid and distinct; `sizes` is the shape of the transforms.
  // `normalization`: 0 leaves the sums, 1 divides by the square root of the number of elements, 2 by that
  // number. InvalidArgument.
  Error plan(Span<const int64_t> dims, int64_t normalization, const Shape& sizes);

  // Reserves scratch memory for three times the longest transform, in builds for speed 17 times (float64: 9)
  // if there is so much, in complex numbers of the component dtype, and for `extra` more, which extra()
  // returns. Small transforms use memory in this object, larger ones the context's. MemoryAllocationFailed.
  Error reserve(KernelContext& context, ScalarType component, size_t extra = 0);
  [[nodiscard]] char* extra() const { return extra_; }

  // Transforms the fibers of `source` along dimension number `index` of the plan into `target`, which may be
  // `source`. Each has the component dtype or is complex; if `target` is shorter, only the first elements are
  // stored. `mirrored`: `source` holds half of a Hermitian-symmetric fiber, n / 2 + 1 elements. The last step
  // scales the sums. Computed in the component dtype, with roots of unity from double. InvalidType.
  Error run(const View& source, const View& target, size_t index, bool forward, bool mirrored = false);

  [[nodiscard]] size_t count() const { return count_; }

 private:
  size_t dims_[kTensorDimensionLimit];
  ptrdiff_t sizes_[kTensorDimensionLimit];
  size_t count_ = 0;
  size_t left_ = 0;  // remaining steps
  double scale_ = 1;
  ptrdiff_t lanes_ = 1;  // transforms side by side
  char* scratch_ = nullptr;
  char* extra_ = nullptr;
  alignas(double) char small_[512];
};

}  // namespace rushlight::kernels
