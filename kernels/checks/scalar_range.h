// SPDX-License-Identifier: BSD-3-Clause
// Range checks of scalar arguments against the dtype that is to hold them, with PyTorch's rules.
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// InvalidArgument if an element of `type` cannot hold `value`. A floating value is truncated for integer
// types; bool and complex types take every value; unsigned types take negative values down to the negative of
// their largest (PyTorch's rule).
Error check_scalar_range(const Scalar& value, ScalarType type, const char* name);

// The same for a floating `type`.
Error check_floating_range(const Scalar& value, ScalarType type, const char* name);

// The same for a type of the set: if the set has no integers, the linker drops the integer checks.
template <TypeSet kTypes>
Error check_scalar_range(const Scalar& value, ScalarType type, const char* name) {
  if constexpr ((kTypes & ~types::kFloating) == 0) return check_floating_range(value, type, name);
  return check_scalar_range(value, type, name);
}

}  // namespace rushlight::kernels
