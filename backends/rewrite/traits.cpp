// SPDX-License-Identifier: BSD-3-Clause
#include "backends/rewrite/traits.h"

#include <algorithm>
#include <iterator>

namespace rushlight::rewrite {

namespace {

struct Row {
  std::string_view name;
  TraitSet traits;
};

// Sorted by name.
constexpr Row kRows[] = {
#include "operator_traits.inc"
    {"~", 0},  // behind all names: the array is never empty
};

}  // namespace

TraitSet traits_of(std::string_view name) {
  const Row* row =
      std::lower_bound(std::begin(kRows), std::end(kRows), name,
                       [](const Row& each, std::string_view wanted) { return each.name < wanted; });
  return row != std::end(kRows) && row->name == name ? row->traits : 0;
}

}  // namespace rushlight::rewrite
