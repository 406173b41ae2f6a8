// SPDX-License-Identifier: BSD-3-Clause
// Argument checks and geometry of the operators that resample images. `factor` is output size / input size.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/geometry/spatial.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"

namespace rushlight::kernels {

// One spatial dimension of a resampling: in and out elements.
struct Resampling {
  ptrdiff_t in;
  ptrdiff_t out;
  double factor;  // requested factor; 0: only the size is given

  // Input elements from one output element to the next: 1 / factor as requested, which may differ from in /
  // out, since the output size is rounded down.
  template <class T>
  [[nodiscard]] T scale() const {
    return factor > 0 ? static_cast<T>(1.0 / factor) : static_cast<T>(in) / static_cast<T>(out);
  }
};

// The sizes, and optionally the factors, of a resampling.
struct UpsampleArguments {
  size_t spatial;
  Span<const int64_t> output_size;
  std::optional<double> factors[kVolume];  // for the `spatial` dimensions
};

// Computes the dimensions of a volume (kVolume entries, leading ones of size 1), and resizes `out`. `self` is
// [N, C, spatial...] with the dtype of `out`; only the batch may be empty. InvalidType, InvalidArgument where
// PyTorch refuses.
Error plan_upsample(const Tensor& self, const UpsampleArguments& arguments, const Tensor& out,
                    Resampling* dimensions);

// Sizes of the result, computed from the sizes or factors that a call passes. `arguments` refers to `sizes`
// of the same object or to the caller's list, so it must not be copied.
struct FactorSizes {
  int64_t sizes[2];
  UpsampleArguments arguments;
};

// Reads the arguments of an image; exactly one of sizes and factors is given, else InvalidArgument.
Error read_factors(const Tensor& input, const std::optional<Span<const int64_t>>& output_size,
                   const std::optional<Span<const double>>& scale_factors, FactorSizes* read);

}  // namespace rushlight::kernels
