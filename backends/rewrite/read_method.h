// SPDX-License-Identifier: BSD-3-Clause
// Reads a method of a program into a list of calls in static single assignment: each tensor that calls write
// has its own memory, whatever memory the program planned for it.
#pragma once

#include <memory>

#include "backends/calls/call_list.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/program/named_data.h"
#include "runtime/program/program.h"

namespace rushlight::rewrite {

// Fills the empty list: a value has the index that it has in the method, and a call's debug handle is the
// index of its instruction. Returns false if the method stays as it is: it has control flow, delegates,
// state, shapes that change, numbers that calls compute, or calls that this build cannot execute; or its
// memory does not show which call wrote what another one reads. Precondition: the method is verified, as by
// MethodMeta::arena_bytes(). `program` and `external` (may be
// null) must outlive the list.
[[nodiscard]] bool read_method(const Program& program, const char* name, const OperatorTable& operators,
                               const NamedDataMap* external, ConstantPool* pool, CallList* list);

}  // namespace rushlight::rewrite
