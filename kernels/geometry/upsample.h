// SPDX-License-Identifier: BSD-3-Clause
// Geometry of the operators that resample images.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/geometry/spatial.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"

namespace rushlight::kernels {

// One spatial dimension of a resampling.
struct Resampling {
  ptrdiff_t in;
  ptrdiff_t out;
  double factor;  // asked for by the caller; 0 where only the size is

  // The distance of two output elements, in input elements.
  template <class T>
  [[nodiscard]] T scale() const {
    return factor > 0 ? static_cast<T>(1.0 / factor) : static_cast<T>(in) / static_cast<T>(out);
  }
};

struct UpsampleArguments {
  size_t spatial;
  Span<const int64_t> output_size;
  std::optional<double> factors[kVolume];  // of the `spatial` dimensions
};

// Fills in the dimensions of a volume, and gives `out` its shape. `self` is [N, C, spatial...] and only
// the batch may be empty. InvalidType, InvalidArgument as PyTorch refuses.
Error plan_upsample(const Tensor& self, const UpsampleArguments& arguments, const Tensor& out,
                    Resampling* dimensions);

// What callers give by size or by factor, as both.
struct FactorSizes {
  int64_t sizes[2];
  UpsampleArguments arguments;
};

// Reads the arguments of an image, of which either the sizes or the factors are given. InvalidArgument.
Error read_factors(const Tensor& input, const std::optional<Span<const int64_t>>& output_size,
                   const std::optional<Span<const double>>& scale_factors, FactorSizes* read);

}  // namespace rushlight::kernels
