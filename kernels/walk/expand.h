// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/walk/view.h"
#include "runtime/base/span.h"

namespace rushlight::kernels {

// `view` repeated to `shape`: dimensions that are missing in front or have size 1 stand still. The
// caller has checked that it fits.
View expand_to(const View& view, Span<const SizesType> shape);

}  // namespace rushlight::kernels
