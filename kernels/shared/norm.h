// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/shared/reduce.h"
#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The p-norm of the elements along `dims`: for p of 0 how many are not 0, for infinities the largest or
// smallest absolute value. Elements are converted to the dtype of `out` first; 16-bit floats are added
// in float. Errors: InvalidArgument (dims; an infinite or negative p of nothing; shape), InvalidType.
Error norm_over(TypeSet types, const Tensor& self, double p, const DimList& dims, bool keepdim,
                std::optional<int64_t> dtype, const Tensor& out);

}  // namespace rushlight::kernels
