// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/program/named_data.h"
#include "runtime/program/program.h"

namespace rushlight::fuzz {

// Runs a method once on one thread and once in pieces in another order, prepared or not: what runs has to
// give the same each time, bit by bit but for preparation, after which sums may have another order. `seed`
// decides the inputs.
//
// Left out are programs whose results may depend on the way: calls whose tensors lie over each other, lists
// of tensors (which are not looked into), delegates, and what is read before it is written.
void require_same_in_all_ways(const Program& program, const MethodMeta& meta, const NamedDataMap* external,
                              uint64_t seed);

}  // namespace rushlight::fuzz
