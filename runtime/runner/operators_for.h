// SPDX-License-Identifier: BSD-3-Clause
// The operators with which a runner loads a program.
#pragma once

#include "runtime/kernel/operator_table.h"
#include "runtime/program/program.h"

// Set by builds with PyTorch's kernels.
#ifndef RUSHLIGHT_RUNNER_ATEN
#define RUSHLIGHT_RUNNER_ATEN 0
#endif

namespace rushlight {

// The build's operators, completed by PyTorch's; lives as long as the process. Defined by
// aten/runner.cpp.
const OperatorTable& operators_with_aten(const Program& program);

// The build's operators, and PyTorch's if the build has these.
inline const OperatorTable& operators_for([[maybe_unused]] const Program& program) {
  if constexpr (RUSHLIGHT_RUNNER_ATEN != 0) {
    return operators_with_aten(program);
  } else {
    return selected_operators;
  }
}

}  // namespace rushlight
