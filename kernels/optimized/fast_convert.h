// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::optimized {

// As convert_to_out() has it, with loops of vectors between the types that numbers mostly come in.
Error fast_convert_to_out(KernelContext& context, const Tensor& self, const Tensor& out);

}  // namespace rushlight::kernels::optimized
