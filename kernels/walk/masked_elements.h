// SPDX-License-Identifier: BSD-3-Clause
// The elements that a mask selects, for masked_select and masked_scatter. One test for each element. Any
// nonzero byte of the mask is true, because a program file may hold bytes other than 0 and 1.
#pragma once

#include "kernels/checks/checks.h"
#include "kernels/walk/expand.h"
#include "kernels/walk/fibers.h"

namespace rushlight::kernels {

// Calls f(char* element), which returns an Error, for every element of `view` at which `mask`, of the same
// shape, is true, in row-major order of the indices (as PyTorch numbers them, whatever the layout). Stops at
// an error of f. Both views may have stride 0 from a broadcast.
template <class F>
Error for_each_masked(const View& mask, const View& view, F f) {
  View views[] = {mask, view};
  for (View& each : views) {
    if (each.dim == 0) each.insert(0, 1, 0);
  }
  return for_each_fiber(views, views[0].dim - 1, [&](const Fiber* fibers) {
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i) {
      if (fibers[0].at<uint8_t>(i) != 0) RL_TRY(f(fibers[1].data + i * fibers[1].stride));
    }
    return Error::Ok;
  });
}

// The number of true elements of a mask.
SizesType count_true(const View& mask);

// InvalidType unless `mask` is bool, which for_each_masked() presumes.
Error check_mask_dtype(const Tensor& mask);

}  // namespace rushlight::kernels
