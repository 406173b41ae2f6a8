// SPDX-License-Identifier: BSD-3-Clause
// Running sums and products along a dimension.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

enum class Cumulation : uint8_t { kSum, kProduct };

// out[i] = out[i - 1] + self[i] along `dim`, or their product. Elements are converted to the dtype of
// `out`, which is one of `types` other than bool, before they are used. Errors: InvalidArgument (dim;
// shape), InvalidType.
Error cumulate(TypeSet types, Cumulation cumulation, const Tensor& self, int64_t dim,
               std::optional<int64_t> dtype, const Tensor& out);

}  // namespace rushlight::kernels
