// SPDX-License-Identifier: BSD-3-Clause
// Identifies the inputs of a call with constant arguments, so that methods share its result: equal keys mean
// equal operators, constants, shapes and scalars.
#pragma once

#include <cstdint>

#include "runtime/kernel/operator_table.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// Hashes the arguments in the kernel's signature. A tensor that is written counts by its dtype, shape and dim
// order alone.
[[nodiscard]] uint64_t call_key(const KernelEntry& kernel, EValue* const* arguments);

}  // namespace rushlight
