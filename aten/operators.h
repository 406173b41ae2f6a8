// SPDX-License-Identifier: BSD-3-Clause
// Operator tables in which PyTorch's kernels serve the operators and dtypes that this build's kernels do not.
//
//   aten::Operators operators(selected_operators);
//   auto module = Module::load_file("model.pte", operators.table());
//   operators.add((*module)->program());                               // before its methods are loaded
//   auto outputs = (*module)->forward({image.value()});
//
// A program's operator is served by, in this order: a kernel that was registered with RL_ATEN_KERNEL
// (custom.h); then this build's kernel or PyTorch's, as Priority says. PyTorch's kernels are found in its
// dispatcher by the operator's schema, so operators of loaded TORCH_LIBRARY libraries are among them. If
// there is no out variant, the functional one is called and its results are copied.
//
// This header includes nothing of PyTorch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/kernel/operator_table.h"
#include "runtime/program/program.h"

namespace rushlight::aten {

// The choice between a kernel of this build and one of PyTorch.
enum class Priority {
  // This build's kernel. PyTorch's computes a call whose dtypes ours does not have (its row in
  // kernels/ops.yaml), or that ours refuses with InvalidType, NotSupported or NotImplemented, unless the call
  // overwrites its inputs.
  OursFirst,
  // PyTorch's kernel wherever it has one: a reference to compare with.
  AtenFirst,
};

// Owns a table. It must outlive the methods that are loaded with it.
class Operators {
 public:
  // `ours` is searched for operators that PyTorch does not have, and must outlive this object.
  explicit Operators(const OperatorTable& ours, Priority priority = Priority::OursFirst);
  Operators(const Operators&) = delete;
  ~Operators();

  // The operators of all programs that were added, then `ours`. Calls of its entries may run on several
  // threads at once.
  [[nodiscard]] const OperatorTable& table() const;

  // Adds the operators that the methods of `program` name. Operators that neither side has are left to
  // Method::load(), which logs them. Must not run while another thread loads a method with the table. Error:
  // Internal (PyTorch throws on look-up, with its message in the log).
  Error add(const Program& program);
  // The same for one operator, such as "aten::add.out".
  Error add(const std::string& name);

  // The operators that PyTorch's kernels may compute, sorted: the table's entries.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  struct Entries;
  std::unique_ptr<Entries> entries_;
};

}  // namespace rushlight::aten
