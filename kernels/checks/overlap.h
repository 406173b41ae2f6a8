// SPDX-License-Identifier: BSD-3-Clause
// A program may plan tensors over each other. What decides an address is therefore read once, and checked
// where it is used; a kernel that has to read it again asks for memory apart.
#pragma once

#include "runtime/base/error.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// InvalidArgument when the call writes to the memory of `tensor`, the argument named. Both have their shapes.
Error check_no_overlap(const Tensor& tensor, const Tensor& written, const char* name);

}  // namespace rushlight::kernels
