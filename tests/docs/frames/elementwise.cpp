// SPDX-License-Identifier: BSD-3-Clause
// An elementwise kernel of a page, with the operators of the tests' build selected.
#include "kernels/walk/elementwise.h"

#include "kernels/math/arithmetic.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {
SNIPPET
}  // namespace rushlight::kernels
