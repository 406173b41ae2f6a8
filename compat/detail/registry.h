// SPDX-License-Identifier: BSD-3-Clause
// Operators registered at run time, in the form that rushlight's loader expects.
#pragma once

#include <executorch/runtime/kernel/operator_registry.h>

#include "compat/detail/tensor_mode.h"
#include "runtime/kernel/operator_table.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

// One of the kernels of an operator; a linked list.
struct Choice {
  const executorch::ET_RUNTIME_NAMESPACE::Kernel* kernel = nullptr;
  const Choice* next = nullptr;
};

// An operator with official kernels. Each call selects a kernel by its tensors, and the fallback if none
// matches.
struct RegisteredOperator : KernelEntry {
  constexpr RegisteredOperator() : KernelEntry{nullptr, nullptr, nullptr} {}

  OperatorTable table = {nullptr, 0, nullptr, nullptr};  // has this entry only; others join without moving it
  const Choice* choices = nullptr;
  const KernelEntry* fallback = nullptr;  // from the next table, if no choice matches
};

// Initialises `entry` as an operator called `name`, found before the operators of `next`.
void init_operator(RegisteredOperator* entry, const char* name, const OperatorTable* next);
// Adds a kernel to the operator; `choice` must outlive it.
void add_choice(RegisteredOperator* entry, Choice* choice,
                const executorch::ET_RUNTIME_NAMESPACE::Kernel* kernel);

// All registered operators, followed by the operators that the build selected.
const OperatorTable& all_operators();

// The kernel of selected_operators.entries[index] with the official signature; wrong arguments fail the
// context. Null beyond the entries or MAX_KERNEL_NUM.
executorch::ET_RUNTIME_NAMESPACE::OpFunction selected_function(size_t index);

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
