// SPDX-License-Identifier: BSD-3-Clause
// The problem of a gated activation (GLU, SwiGLU), and its back. Reference: Shazeer, "GLU Variants Improve
// Transformer", 2020. The two linear layers of the gate and the values are one matrix product, whose result
// this operator halves.
#pragma once

#include <cstddef>

#include "kernels/matmul/activation.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight::kernels {

// out[i][j] = activation(input[i][j]) * input[i][width + j]: each row of the input holds `width` gates, then
// `width` values. float32, contiguous.
struct GatedActProblem {
  const Activation& activation;
  size_t rows;
  size_t width;
  const float* input;
  float* out;  // does not overlap the input

  [[nodiscard]] ScalarType type() const { return ScalarType::Float; }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

namespace host {

// activation.cpp: float32, divided among threads. Needs no scratch memory; never fails.
Error gated_act(KernelContext& context, const GatedActProblem& problem);

}  // namespace host

}  // namespace rushlight::kernels
