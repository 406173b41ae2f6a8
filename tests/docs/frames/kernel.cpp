// SPDX-License-Identifier: BSD-3-Clause
// A kernel of a page. All dtypes are selected here; a build selects them by the row in kernels/ops.yaml.
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight {
namespace kernels {
constexpr TypeSet selected_types(std::string_view) { return ~TypeSet(0); }
}  // namespace kernels
using kernels::selected_types;
SNIPPET
}  // namespace rushlight
