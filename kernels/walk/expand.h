// SPDX-License-Identifier: BSD-3-Clause
// Broadcasting of a view, without a copy.
#pragma once

#include "kernels/walk/view.h"
#include "runtime/base/span.h"

namespace rushlight::kernels {

// Expands `view` to `shape`: missing leading dimensions and dimensions of size 1 get stride 0, all others
// keep theirs. The result refers to the same memory; it may be read, but writes would meet the same element
// repeatedly. Precondition: the shape is compatible.
View expand_to(const View& view, Span<const SizesType> shape);

}  // namespace rushlight::kernels
