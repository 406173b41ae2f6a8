// SPDX-License-Identifier: BSD-3-Clause
// A program may plan tensors on overlapping memory, and a hostile one does. Kernels therefore read each value
// that an address depends on once, and check it where they use it; a kernel that has to read it again
// requires memory that the call does not write.
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidArgument if `written` overlaps `tensor`, the argument named `name`. Both have their shapes.
Error check_no_overlap(const Tensor& tensor, const Tensor& written, const char* name);

}  // namespace rushlight::kernels
