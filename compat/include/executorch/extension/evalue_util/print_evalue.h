// SPDX-License-Identifier: BSD-3-Clause
// Values as text, for people: os << value.
#pragma once

#include <ostream>

#include <executorch/runtime/core/evalue.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

// Long lists, and a tensor's elements, are cut to their first and last ones, see evalue_edge_items.
std::ostream& operator<<(std::ostream& os, const EValue& value);

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace executorch::extension {

// os << evalue_edge_items(5): from then on this stream prints 5 items at either end of a list that it cuts.
// 0 and less stand for the default, 3.
class evalue_edge_items final {
 public:
  explicit evalue_edge_items(long edge_items) : edge_items_(edge_items > 0 ? edge_items : 0) {}

  friend std::ostream& operator<<(std::ostream& os, const evalue_edge_items& manipulator) {
    os.iword(slot()) = manipulator.edge_items_;
    return os;
  }
  // What a stream is set to.
  static long of(std::ostream& os) {
    const long items = os.iword(slot());
    return items > 0 ? items : kDefault;
  }

 private:
  static constexpr long kDefault = 3;

  static int slot() {
    static const int index = std::ios_base::xalloc();
    return index;
  }

  long edge_items_;
};

}  // namespace executorch::extension

namespace torch::executor::util {
using ::executorch::extension::evalue_edge_items;
}
