// SPDX-License-Identifier: BSD-3-Clause
// Operators registered at run time, as rushlight's loader finds them.
#pragma once

#include <executorch/runtime/kernel/operator_registry.h>

#include "runtime/kernel/operator_table.h"

namespace rushlight::compat {

// A kernel beside others of its operator.
struct Choice {
  const executorch::runtime::Kernel* kernel = nullptr;
  const Choice* next = nullptr;
};

// An operator with official kernels: chosen by the tensors of each call, the fallback if none is for them.
struct RegisteredOperator : KernelEntry {
  constexpr RegisteredOperator() : KernelEntry{nullptr, nullptr, nullptr} {}

  OperatorTable table = {nullptr, 0, nullptr, nullptr};  // of this entry alone: others join without moving it
  const Choice* choices = nullptr;
  const KernelEntry* fallback = nullptr;  // of the next table, when `choices` has none
};

// Makes `entry` an operator called `name`, found before those of `next`.
void init_operator(RegisteredOperator* entry, const char* name, const OperatorTable* next);
// Adds a kernel to it; `choice` stays.
void add_choice(RegisteredOperator* entry, Choice* choice, const executorch::runtime::Kernel* kernel);

// All registered operators, followed by those that the build selected.
const OperatorTable& all_operators();

// The kernel of selected_operators.entries[index] in the official form: bad arguments fail the context. Null
// beyond the entries and MAX_KERNEL_NUM.
executorch::runtime::OpFunction selected_function(size_t index);

}  // namespace rushlight::compat
