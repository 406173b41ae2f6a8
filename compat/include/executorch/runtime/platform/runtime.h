// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {
// Initialises the runtime; call it once before all else. Calls pal_init(). extension::Module does so itself;
// further calls do no harm with the default platform. Hosts only.
void runtime_init();
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::runtime_init;
}
