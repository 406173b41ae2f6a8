// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/geometry/region.h"

namespace rushlight::kernels {

// The extents of fractional pooling windows, which start at pseudo-random positions from pool.samples; see
// region.h. Matches PyTorch.
Extent fractional_tiling(const Pool& pool, size_t d, const ptrdiff_t* at);

}  // namespace rushlight::kernels
