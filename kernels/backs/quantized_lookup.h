// SPDX-License-Identifier: BSD-3-Clause
// Problems of functions of one quantized value as lookup tables, and their backs. Input and `out` have dtypes
// of kByteTypes, which may differ, and `out` has the input's shape. A table of all 256 results replaces the
// function: a call costs one load for each element, and results do not depend on the target's float
// arithmetic.
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// out[i] = table[input[i]], with bytes as unsigned integers. The table must not be the memory of a tensor:
// `out` may alias the input, or the tensor that the table was read from.
struct QuantizedLookupProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& input;
  const uint8_t* table;  // 256 bytes
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return out.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// quantized_lookup.cpp: parallel over threads; contiguous spans use vector table lookups where the processor
// has them.
Error quantized_lookup(KernelContext& context, const QuantizedLookupProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
