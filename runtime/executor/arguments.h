// SPDX-License-Identifier: BSD-3-Clause
// What a kernel call's arguments have to be, so that kernels need not look: values of the kinds in the
// signature, tensors that have memory, and outputs that may be written.
#pragma once

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// Compares count and kinds with the signature. Values keep their kinds, so once is enough.
// Error: InvalidProgram naming the operator, the argument and both kinds.
Error check_kinds(const KernelEntry& kernel, Span<EValue* const> arguments);

enum class When { Loading, Running };

// Refuses to write what must not be written; and a tensor that is written, may change its shape, and
// is named by another argument: kernels read shapes after they have resized. Kinds have been checked.
// A tensor may lack memory while loading, not while running.
// Errors: InvalidProgram, InvalidState (no memory) naming the operator and the argument.
Error check_tensors(const KernelEntry& kernel, EValue* const* arguments, When when);

}  // namespace rushlight
