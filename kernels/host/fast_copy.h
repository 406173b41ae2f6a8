// SPDX-License-Identifier: BSD-3-Clause
// Copies between layouts, for kernels/walk/strided_copy.h where that has to be quick: what is contiguous on
// one side only is transposed in blocks, and large copies are shared among threads.
#pragma once

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::host {

// Both have the same sizes and element type and do not overlap.
void fast_copy(KernelContext& context, const View& target, const View& source);

// As copy_to_out().
Error fast_copy_to_out(KernelContext& context, const View& source, const Tensor& out);

}  // namespace rushlight::kernels::host
