// SPDX-License-Identifier: BSD-3-Clause
// Converts between the official enumerations and rushlight's, whose values are equal: a cast. Values outside
// of the enumerations, as a file may have them, convert unchanged. Tag and TensorShapeDynamism need no
// conversion: the official names stand for rushlight's types.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/portable_type/scalar_type.h>

#include "compat/detail/tensor_mode.h"
#include "runtime/base/error.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

constexpr executorch::runtime::Error official(Error error) {
  return static_cast<executorch::runtime::Error>(error);
}
constexpr Error ours(executorch::runtime::Error error) { return static_cast<Error>(error); }

constexpr executorch::runtime::etensor::ScalarType official(ScalarType type) {
  return static_cast<executorch::runtime::etensor::ScalarType>(type);
}
constexpr ScalarType ours(executorch::runtime::etensor::ScalarType type) {
  return static_cast<ScalarType>(type);
}

// A dtype that one list had and the other lacked would shift these.
static_assert(official(ScalarType::UInt64) == executorch::runtime::etensor::ScalarType::UInt64);
static_assert(official(ScalarType::BFloat16) == executorch::runtime::etensor::ScalarType::BFloat16);

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
