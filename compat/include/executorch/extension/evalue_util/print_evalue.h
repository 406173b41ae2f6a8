// SPDX-License-Identifier: BSD-3-Clause
// Prints values for people: os << value. As in Python where possible (None, True); a tensor prints as
//
//   tensor(sizes=[2, 2], [1., 2., 3., 4.])
//
// with its elements in the order of memory, in lines of ten if there are more.
#pragma once

#include <ostream>

#include <executorch/runtime/core/evalue.h>

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

// Shortens long lists and tensors to their first and last items; see evalue_edge_items. Lists of tensors and
// sizes are complete. Floating-point values follow the stream's format and precision. A tensor without
// memory, or of a quantized dtype, prints a note instead of elements.
std::ostream& operator<<(std::ostream& os, const EValue& value);

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE

namespace executorch::extension RUSHLIGHT_TENSOR_MODE {

// os << evalue_edge_items(5) makes the stream print 5 items at each end of a shortened list. 0 and negative
// values select the default, 3.
class evalue_edge_items final {
 public:
  explicit evalue_edge_items(long edge_items) : edge_items_(edge_items > 0 ? edge_items : 0) {}

  friend std::ostream& operator<<(std::ostream& os, const evalue_edge_items& manipulator) {
    os.iword(slot()) = manipulator.edge_items_;
    return os;
  }
  // The setting of a stream.
  static long of(std::ostream& os) {
    const long items = os.iword(slot());
    return items > 0 ? items : kDefault;
  }

 private:
  static constexpr long kDefault = 3;

  // The stream's storage for this setting, the same in all streams.
  static int slot() {
    static const int index = std::ios_base::xalloc();
    return index;
  }

  long edge_items_;
};

}  // namespace executorch::extensionRUSHLIGHT_TENSOR_MODE

namespace torch::executor::util {
using ::executorch::extension::evalue_edge_items;
}
