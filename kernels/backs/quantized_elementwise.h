// SPDX-License-Identifier: BSD-3-Clause
// Problems of elementwise operators of integers, and their backs. Operands and `out` have one dtype of
// kByteTypes, and `out` has the broadcast shape.
#pragma once

#include "kernels/ukernel/quantized_sum.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct QuantizedAddProblem {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& self;
  const Tensor& other;
  const Tensor& out;
  const ukernel::QuantizedSum& sum;  // proven not to overflow

  [[nodiscard]] ScalarType type() const { return self.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// quantized_elementwise.cpp: int8.
Error quantized_add(KernelContext& context, const QuantizedAddProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
