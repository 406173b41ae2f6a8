// SPDX-License-Identifier: BSD-3-Clause
// Copies between layouts, as kernels/walk/strided_copy.h but faster: transposes in blocks if each side is
// contiguous along another dimension, and divides large copies among threads.
#pragma once

#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels::host {

// Copies elements in order. Precondition: equal sizes and dtypes, no overlap. Elements are moved by size, so
// any dtype works.
void fast_copy(KernelContext& context, const View& target, const View& source);

// Resizes `out` and copies, as copy_to_out(). InvalidType (dtypes differ), InvalidArgument (shape).
Error fast_copy_to_out(KernelContext& context, const View& source, const Tensor& out);

}  // namespace rushlight::kernels::host
