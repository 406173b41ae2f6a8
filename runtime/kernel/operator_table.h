// SPDX-License-Identifier: BSD-3-Clause
// The table of linked operators: a sorted constant array, written by code generation into read-only
// memory. Nothing registers itself at start-up.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// A kernel of any type, see boxing.h.
using ErasedKernel = void (*)();

// Arguments are in the schema's order, out arguments last; any that follow are ignored. `kernel` is the
// entry's: kernels of one type share the function that unpacks their arguments.
using KernelFunction = Error (*)(KernelContext& context, EValue* const* arguments, ErasedKernel kernel);

struct KernelEntry {
  const char* name;  // "aten::add.out", "aten::sym_size.int"; no trailing dot without overload
  KernelFunction function;
  const char* signature;  // one character an argument, see boxing.h
  ErasedKernel kernel = nullptr;
  // Takes the same arguments when a method is loaded, see KernelContext::prepare; null for most. The kernel
  // itself, if a call with constants alone may be run then, once for all.
  ErasedKernel prepare = nullptr;

  Error call(KernelContext& context, EValue* const* arguments) const {
    return function(context, arguments, kernel);
  }
  [[nodiscard]] bool folds() const { return prepare != nullptr && prepare == kernel; }
};

// How the executor prepares calls (runtime/executor/prepare_support.h).
struct PrepareSupport;

struct OperatorTable {
  const KernelEntry* entries;  // sorted by name, as strcmp orders
  size_t size;
  const OperatorTable* next = nullptr;  // looked into when this one has no such name
  // kPrepareSupport where an entry prepares or folds. Null: nothing is prepared, nor what does it linked.
  const PrepareSupport* support = nullptr;

  // `name` and `overload` as the program spells them. Null when no table has it.
  [[nodiscard]] const KernelEntry* find(const char* name, const char* overload) const;
};

// The operators this build selected; defined by the generated part of `executorch_kernels`.
extern const OperatorTable selected_operators;

}  // namespace rushlight
