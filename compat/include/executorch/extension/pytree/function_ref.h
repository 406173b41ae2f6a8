// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <executorch/runtime/core/function_ref.h>

namespace executorch::extension::pytree {
using ::executorch::runtime::FunctionRef;
}
