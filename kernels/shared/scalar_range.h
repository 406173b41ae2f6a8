// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

// InvalidArgument when an element of `type` cannot hold `value`. A floating number loses its fraction,
// bool takes everything, unsigned types take negative numbers of their width.
Error check_scalar_range(const Scalar& value, ScalarType type, const char* name);

}  // namespace rushlight::kernels
