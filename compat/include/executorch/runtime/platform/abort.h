// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime {
// Ends the process through pal_abort(): the function that register_pal() installed, otherwise et_pal_abort().
// If a registered function returns, std::abort() follows, so this call never returns. Logs nothing: the
// caller reports the reason first. On boards it calls rushlight's platform layer directly.
ET_NORETURN void runtime_abort();
}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::runtime_abort;
}
