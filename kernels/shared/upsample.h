// SPDX-License-Identifier: BSD-3-Clause
// Geometry of the operators that resample images.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/shared/checks.h"
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

// Fills in the two dimensions of an image [N, C, H, W], of which either the size or the factor is
// given, and gives `out` its shape. InvalidArgument as PyTorch refuses.
Error plan_upsample2d(const Tensor& input, const std::optional<Span<const int64_t>>& output_size,
                      const std::optional<Span<const double>>& scale_factors, const Tensor& out,
                      Resampling* dimensions);

}  // namespace rushlight::kernels
