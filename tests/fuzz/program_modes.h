// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/program/named_data.h"
#include "runtime/program/program.h"

namespace rushlight::fuzz {

// Runs a method once on one thread and once in pieces in another order, prepared or not: successful
// executions must give equal results bit for bit, except after preparation, which may change the order of
// sums. `seed` determines the inputs. Programs whose results may depend on these variants are left out: calls
// with overlapping tensors, lists of tensors (which are not examined), delegates, and memory that is read
// before it is written.
void require_same_in_all_modes(const Program& program, const MethodMeta& meta, const NamedDataMap* external,
                               uint64_t seed);

}  // namespace rushlight::fuzz
