// SPDX-License-Identifier: BSD-3-Clause
// Checks the arguments of kernel calls, so that kernels need not: values have the kinds of the signature,
// tensors have memory, and outputs are writable.
#pragma once

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// Compares number and kinds of the arguments with the kernel's signature. Values keep their kinds, so
// checking once suffices. Error: InvalidProgram (logs the operator, the argument and both kinds).
Error check_kinds(const KernelEntry& kernel, Span<EValue* const> arguments);

// The time of a check: tensors may lack memory while a method is loaded, not while it executes.
enum class When { Loading, Running };

// Refuses to write constant or lent memory. Also refuses a written tensor that may change its shape and is
// named by another argument, because kernels read shapes after they have resized outputs. Precondition:
// check_kinds() succeeded. Errors: InvalidProgram, InvalidState (no memory); logs the operator and the
// argument.
Error check_tensors(const KernelEntry& kernel, EValue* const* arguments, When when);

}  // namespace rushlight
