// SPDX-License-Identifier: BSD-3-Clause
// any and all over dimensions.
#pragma once

#include "kernels/reduction/reduce.h"

namespace rushlight::kernels {

// any (`decisive` true) and all (`decisive` false): writes `decisive` if some element has that truth value,
// and its opposite otherwise, also for no elements. NaN is true. `out` is bool or uint8 and is resized.
// Errors: InvalidArgument (dims, shape), InvalidType.
Error reduce_truth(TypeSet types, const Tensor& self, const DimList& dims, bool keepdim, bool decisive,
                   const Tensor& out);

}  // namespace rushlight::kernels
