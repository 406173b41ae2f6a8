// SPDX-License-Identifier: BSD-3-Clause
// Operators that Python functions compute: PyTorch's, for operators and dtypes without a kernel in this
// build. They are tables in front of the build's own, one for each operator, so the executor does not know
// of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "runtime/kernel/operator_table.h"

namespace rushlight {

class ServedOperator;

// The operators of one program. All are added before a method is loaded; then its table may be used from any
// thread, and must outlive the methods.
class Fallback {
 public:
  Fallback();
  Fallback(const Fallback&) = delete;
  Fallback& operator=(const Fallback&) = delete;
  ~Fallback();  // from any thread

  [[nodiscard]] const OperatorTable& table() const { return table_; }

  // Adds an operator, named as in KernelEntry. `signature` is that of boxing.h. With `first`, `function`
  // computes all calls, otherwise the calls whose dtypes the build's kernel refuses. `overwrites`: the
  // written arguments are only written, so that a call may be repeated. Returns false, and adds nothing, if
  // the build's kernel has another signature.
  //
  // function(arguments) gets numbers, strings, lists, and tensors as DLPack capsules. A written tensor is the
  // tuple (capsule of its whole memory, sizes, dim order, is dynamic, shares memory with another argument).
  // It returns the sizes of each written tensor. An exception fails the call.
  bool add(const std::string& name, const std::string& signature, bool first, bool overwrites,
           pybind11::function function);

  // The number of calls that the function of each operator has computed.
  [[nodiscard]] pybind11::dict calls() const;

 private:
  std::vector<std::unique_ptr<ServedOperator>> operators_;
  OperatorTable table_;
};

}  // namespace rushlight
