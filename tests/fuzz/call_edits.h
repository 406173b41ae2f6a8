// SPDX-License-Identifier: BSD-3-Clause
// Changes of a sound call that keep its structure: other sizes, ranks, dtypes, orders and numbers, and
// tensors that lie over each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/built_call.h"
#include "tests/fuzz/recorded_call.h"

namespace rushlight::fuzz {

struct Edit {
  enum class Kind : uint8_t {
    Size,        // dimension `item` of tensor `place`
    Everywhere,  // every size `item` of all tensors; in lists of integers too
    Sizes,       // the same, but for the lists
    NoFirst,     // tensor `place` loses a dimension
    NoLast,
    OneMore,  // or gets one
    NoRank,   // or loses all
    Type,     // tensor `place` holds another dtype
    Order,    // the other way round in memory
    Number,   // number `place` of all numbers
    Text,
    Absent,   // argument `place`
    Shorter,  // list `place` of all lists
    Longer,
  };
  Kind kind;
  size_t place;
  int64_t item;
  int64_t value;
  double real;
};

// Every single change of the call.
[[nodiscard]] std::vector<Edit> edits_of(RecordedCall call, const KernelEntry& kernel);
void apply(const Edit& edit, const KernelEntry& kernel, RecordedCall* call);
[[nodiscard]] std::string to_text(const Edit& edit);

// Every way to lay a tensor that is written over another one, and all over each other.
[[nodiscard]] std::vector<MemoryPlan> plans_of(RecordedCall call, const KernelEntry& kernel);
[[nodiscard]] std::string to_text(const MemoryPlan& plan);

}  // namespace rushlight::fuzz
