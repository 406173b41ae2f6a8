// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// InvalidArgument when an element of `type` cannot hold `value`. A floating number loses its fraction,
// bool takes everything, unsigned types take negative numbers of their width.
Error check_scalar_range(const Scalar& value, ScalarType type, const char* name);

// The same for a type that is known to be floating.
Error check_floating_range(const Scalar& value, ScalarType type, const char* name);

// For a type of a set: without integers in it, their part does not get linked.
template <TypeSet kTypes>
Error check_scalar_range(const Scalar& value, ScalarType type, const char* name) {
  if constexpr ((kTypes & ~types::kFloating) == 0) return check_floating_range(value, type, name);
  return check_scalar_range(value, type, name);
}

}  // namespace rushlight::kernels
