// SPDX-License-Identifier: BSD-3-Clause
// The table of linked operators: a constant array, sorted by name, that code generation writes into read-only
// memory. Operators do not register themselves at start-up. Lookup is a binary search.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// A kernel with its type removed; see boxing.h.
using ErasedKernel = void (*)();

// The boxed signature. `arguments` follow the schema's order, out arguments last; further ones are ignored.
// `kernel` is the entry's: kernels with the same C++ type share one unpacking function.
using KernelFunction = Error (*)(KernelContext& context, EValue* const* arguments, ErasedKernel kernel);

// Returns true if a signature's character is that of tensors that are written (boxing.h).
constexpr bool is_written(char code) { return code == 'w' || code == 'k'; }

// A row of the table.
struct KernelEntry {
  const char* name;  // "aten::add.out", "aten::sym_size.int"; no trailing dot if there is no overload
  KernelFunction function;
  const char* signature;  // one character per argument; see boxing.h
  ErasedKernel kernel = nullptr;
  // Called with the same arguments when a method is loaded (see KernelContext::prepare); null for most
  // kernels. If it equals `kernel`, calls whose arguments are all constants are folded at load.
  ErasedKernel prepare = nullptr;

  Error call(KernelContext& context, EValue* const* arguments) const {
    return function(context, arguments, kernel);
  }
  // Returns true if calls with constant arguments may be folded at load.
  [[nodiscard]] bool folds() const { return prepare != nullptr && prepare == kernel; }
};

// The executor's implementation of preparation (runtime/executor/prepare_support.h).
struct PrepareSupport;

// A table of operators; constant data that must outlive the methods.
struct OperatorTable {
  const KernelEntry* entries;  // sorted by name, in strcmp order
  size_t size;
  const OperatorTable* next = nullptr;  // searched if this table lacks the name
  // kPrepareSupport if an entry prepares or folds. Null if none does; the code for it is then not linked.
  const PrepareSupport* support = nullptr;
  // Names of the operators whose calls keep the program's order: they draw random numbers, or the application
  // brought them and they may have any state. A list that ends with null; null instead of a list means all
  // operators of this table. Hosts may call the other operators from several threads at once.
  const char* const* in_order = nullptr;

  // Finds an operator by the program's name and overload; null if no table has it.
  [[nodiscard]] const KernelEntry* find(const char* name, const char* overload) const;

  // Returns true if calls of `entry` keep the program's order; see in_order. Precondition: `entry` is in this
  // table or in one of the next.
  [[nodiscard]] bool keeps_order(const KernelEntry& entry) const;
};

// The operators that this build selected; defined in the generated part of `executorch_kernels`.
extern const OperatorTable selected_operators;

}  // namespace rushlight
