// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {
// Once, before anything else of the runtime.
void runtime_init();
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::runtime_init;
}
