// SPDX-License-Identifier: BSD-3-Clause
// PyTorch's kernels in executor_runner. The build chooses the priority: RUSHLIGHT_LIBRARY_PRIORITY=aten.
#include "aten/operators.h"
#include "runtime/runner/operators_for.h"

namespace rushlight {

const OperatorTable& operators_with_aten(const Program& program) {
  constexpr auto kPriority =
      RUSHLIGHT_ATEN_FIRST != 0 ? aten::Priority::AtenFirst : aten::Priority::OursFirst;
  // Never destroyed: methods refer to it until the process ends.
  static auto* operators = new aten::Operators(selected_operators, kPriority);
  // A failure is logged; loading the method then reports the operator as missing.
  static_cast<void>(operators->add(program));
  return operators->table();
}

}  // namespace rushlight
