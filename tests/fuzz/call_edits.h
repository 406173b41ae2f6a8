// SPDX-License-Identifier: BSD-3-Clause
// Changes of a valid call that keep its structure: other sizes, ranks, dtypes, dim orders and scalars, and
// tensors that overlap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/built_call.h"
#include "tests/fuzz/recorded_call.h"

namespace rushlight::fuzz {

struct Edit {
  enum class Kind : uint8_t {
    Size,        // dimension `item` of tensor `number`
    Everywhere,  // every size `item` of all tensors; in lists of integers too
    Sizes,       // the same, except in lists
    NoFirst,     // tensor `number` loses a dimension
    NoLast,
    OneMore,  // or gets another one
    NoRank,   // or loses all
    Type,     // tensor `number` holds another dtype
    Order,    // the dim order reversed
    Number,   // scalar `number` of all scalars
    Text,
    Absent,   // argument `number`
    Shorter,  // list `number` of all lists
    Longer,
  };
  Kind kind;
  size_t number;
  int64_t item;
  int64_t value;
  double real;
};

// All single changes of the call.
[[nodiscard]] std::vector<Edit> edits_of(RecordedCall call, const KernelEntry& kernel);
void apply(const Edit& edit, const KernelEntry& kernel, RecordedCall* call);
[[nodiscard]] std::string to_text(const Edit& edit);

// All layouts in which a written tensor overlaps another one, or all tensors overlap.
[[nodiscard]] std::vector<MemoryPlan> plans_of(RecordedCall call, const KernelEntry& kernel);
[[nodiscard]] std::string to_text(const MemoryPlan& plan);

}  // namespace rushlight::fuzz
