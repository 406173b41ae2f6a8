// SPDX-License-Identifier: BSD-3-Clause
// A number for all that a call with constants computes its result from: what another method has computed from
// the same is the same.
#pragma once

#include <cstdint>

#include "runtime/kernel/operator_table.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// Of the arguments in the kernel's signature. Those that are written count with their dtype and shape.
[[nodiscard]] uint64_t call_key(const KernelEntry& kernel, EValue* const* arguments);

}  // namespace rushlight
