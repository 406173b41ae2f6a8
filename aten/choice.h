// SPDX-License-Identifier: BSD-3-Clause
// The choice between a kernel of this build and PyTorch's, for aten/ and for the Python bindings, which call
// PyTorch through Python. Includes nothing of PyTorch.
//
// A kernel that refuses a call may have written a part of its results. The other kernel may then repeat the
// call if it computes them from inputs that are still whole.
#pragma once

#include "aten/overlap.h"
#include "runtime/base/error.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::aten {

// Dtypes that a row of kernels/ops.yaml may take for positions, counts and masks, besides the dtypes that it
// computes in.
inline constexpr TypeSet kPositions = type_set(ScalarType::Int, ScalarType::Long, ScalarType::Bool);

// The errors by which kernels refuse dtypes, or what they have not implemented.
constexpr bool refuses(Error error) {
  return error == Error::InvalidType || error == Error::NotSupported || error == Error::NotImplemented;
}

// True if all tensors of the call have a dtype of the set.
inline bool has_dtypes(TypeSet types, const char* signature, EValue* const* arguments) {
  bool all = true;
  for (size_t i = 0; signature[i] != '\0'; ++i) {
    for_each_tensor(*arguments[i],
                    [&](const Tensor& tensor) { all = all && contains(types, tensor.scalar_type()); });
  }
  return all;
}

// True if the call reads nothing that it writes, so that it may be repeated after a failure. `writes_inputs`:
// the operator updates arguments that it also reads.
inline bool may_repeat(bool writes_inputs, const char* signature, EValue* const* arguments) {
  bool may = !writes_inputs;
  for (size_t i = 0; signature[i] != '\0'; ++i) {
    if (!is_written(signature[i])) continue;
    for_each_tensor(*arguments[i], [&](const Tensor& tensor) {
      may = may && !is_read(*tensor.impl(), signature, arguments);
    });
  }
  return may;
}

}  // namespace rushlight::aten
