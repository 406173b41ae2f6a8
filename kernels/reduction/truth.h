// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/reduction/reduce.h"

namespace rushlight::kernels {

// any and all: writes `decisive` where some element counts as that, and its opposite elsewhere. `out`
// holds bool or uint8. Errors: InvalidArgument (dims; shape), InvalidType.
Error reduce_truth(TypeSet types, const Tensor& self, const DimList& dims, bool keepdim, bool decisive,
                   const Tensor& out);

}  // namespace rushlight::kernels
