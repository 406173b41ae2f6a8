// SPDX-License-Identifier: BSD-3-Clause
// Two-dimensional pools of float32 whose columns are adjacent (channels-first): rows of results of several
// planes are one microkernel call, borders included.
#pragma once

#include "kernels/geometry/region.h"
#include "kernels/ukernel/pool.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// True if pool_planes() can compute the pool: sliding windows that are not too wide, and no indices.
// Precondition: two spatial dimensions.
bool has_pool_planes(const Pool& pool);

// Calls compute(planes) for all rows of all planes, concurrently on several threads.
void pool_planes(KernelContext& context, const Pool& pool, void (*compute)(const ukernel::PoolPlanes&));

}  // namespace rushlight::kernels::host
