// SPDX-License-Identifier: BSD-3-Clause
// Problems of elementwise operators of quantized tensors, and their backs. Operands and `out` have one dtype
// of kQuantizedElements (sums: of kByteTypes), and `out` has the broadcast shape. The proof that no step
// overflows is the front's; backs only compute.
#pragma once

#include "kernels/ukernel/quantized_product.h"
#include "kernels/ukernel/quantized_sum.h"
#include "kernels/ukernel/rescaled_sum.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Two operands that broadcast against each other, in any dim order.
struct QuantizedPairs {
  static constexpr bool kDtypeIsSelected = true;

  const Tensor& self;
  const Tensor& other;
  const Tensor& out;

  [[nodiscard]] ScalarType type() const { return self.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// A sum with one combined scale for each operand, see kernels/ukernel/quantized_sum.h.
struct QuantizedAddProblem : QuantizedPairs {
  const ukernel::QuantizedSum& sum;  // proven not to overflow
};

// A sum with the roundings of ExecuTorch's Cortex-M backend, see kernels/ukernel/rescaled_sum.h.
struct RescaledAddProblem : QuantizedPairs {
  const ukernel::RescaledSum& sum;  // proven not to overflow
};

// A product requantized with one scale, see kernels/ukernel/quantized_product.h.
struct QuantizedMulProblem : QuantizedPairs {
  const ukernel::QuantizedProduct& product;  // proven not to overflow; its scales do not overlap `out`
};

namespace host {

// quantized_elementwise.cpp: int8. Never decline.
Error quantized_add(KernelContext& context, const QuantizedAddProblem& problem);
Error rescaled_add(KernelContext& context, const RescaledAddProblem& problem);
Error quantized_mul(KernelContext& context, const QuantizedMulProblem& problem);

}  // namespace host

namespace board {

// quantized_elementwise.cpp: int8.
Error quantized_add(KernelContext& context, const QuantizedAddProblem& problem);
Error quantized_mul(KernelContext& context, const QuantizedMulProblem& problem);

}  // namespace board

}  // namespace rushlight::kernels
