// SPDX-License-Identifier: BSD-3-Clause
// executorch::runtime::FunctionRef, in the namespace that pytree's callers use: a reference to a callable,
// which must outlive it.
#pragma once

#include <executorch/runtime/core/function_ref.h>

namespace executorch::extension::pytree {
using ::executorch::runtime::FunctionRef;
}
