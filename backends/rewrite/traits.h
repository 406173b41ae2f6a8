// SPDX-License-Identifier: BSD-3-Clause
// Traits of operators: promises of their kernels in kernels/ops.yaml, which codegen writes for this build's
// operators.
#pragma once

#include <cstdint>
#include <string_view>

namespace rushlight::rewrite {

using TraitSet = uint8_t;

// See TRAITS in python/rushlight/codegen/table.py.
enum Trait : TraitSet {
  kKeepsOrder = 1,
  kPointwise = 2,
  kReadsAnyOrder = 4,
  kAnyOrder = 8,
  kViews = 16,
};

// The traits of an operator, by its name in the operator table; 0 if it has none of these.
[[nodiscard]] TraitSet traits_of(std::string_view name);

}  // namespace rushlight::rewrite
