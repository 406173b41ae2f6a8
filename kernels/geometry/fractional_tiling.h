// SPDX-License-Identifier: BSD-3-Clause
// Fractional max pooling (Graham, 2014). A separate file, so that other pools do not link it.
#pragma once

#include "kernels/geometry/region.h"

namespace rushlight::kernels {

// The extents of fractional pooling windows, which start at pseudo-random positions from pool.samples; see
// region.h. Matches PyTorch.
Extent fractional_tiling(const Pool& pool, size_t d, const ptrdiff_t* at);

}  // namespace rushlight::kernels
