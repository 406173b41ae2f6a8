// SPDX-License-Identifier: BSD-3-Clause
// Limits of norms, for renorm and embedding_renorm.
#pragma once

#include "kernels/walk/view.h"

namespace rushlight::kernels {

// Scales the elements of a view down so that their p-norm is `limit`, if it exceeds that; in double. A norm
// of NaN leaves them unchanged. The dtype is floating or complex; the rank is below kTensorDimensionLimit.
void limit_norm(const View& view, double p, double limit);

}  // namespace rushlight::kernels
