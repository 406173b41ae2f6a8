// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {
// Initialises the runtime; call it once before all else.
void runtime_init();
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::runtime_init;
}
