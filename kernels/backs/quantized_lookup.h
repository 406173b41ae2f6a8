// SPDX-License-Identifier: BSD-3-Clause
// Problems of functions of one quantized number, and their backs. Input and `out` have dtypes of kByteTypes,
// which may differ, and `out` has the input's shape.
#pragma once

#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Each byte of `out` is that of the table at the byte of the input, as unsigned numbers both. The table may
// be no part of a tensor: `out` may be where the input is, or where the tensor is that the table was read
// from.
struct QuantizedLookupProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& input;
  const uint8_t* table;  // 256 bytes
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return out.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// quantized_lookup.cpp: in parallel.
Error quantized_lookup(KernelContext& context, const QuantizedLookupProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
