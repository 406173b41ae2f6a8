// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/geometry/region.h"

namespace rushlight::kernels {

// Windows at random distances, see region.h.
Extent fractional_tiling(const Pool& pool, size_t d, const ptrdiff_t* at);

}  // namespace rushlight::kernels
