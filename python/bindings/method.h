// SPDX-License-Identifier: BSD-3-Clause
// A loaded method, and the calls that Python makes on it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <pybind11/pybind11.h>

#include "python/bindings/outputs.h"
#include "python/bindings/trace.h"
#include "runtime/module/module.h"

namespace rushlight {

class PyMethod {
 public:
  PyMethod(std::shared_ptr<Module> module, std::unique_ptr<ModuleMethod> method,
           std::shared_ptr<PyTrace> trace);

  // Sets the inputs, unless they are None, and runs; throws RuntimeFailure. Calls from several threads
  // go one after another, each with its own inputs and outputs.
  static pybind11::list execute(const pybind11::object& self, const std::optional<pybind11::list>& inputs,
                                int outputs);
  // The three steps of execute() by themselves.
  void set_inputs(const pybind11::list& inputs);
  void run();
  static pybind11::list outputs(const pybind11::object& self, int outputs);

  [[nodiscard]] pybind11::dict memory() const;

 private:
  using Kept = std::vector<pybind11::object>;

  std::unique_lock<std::mutex> lock();
  // Both are called with the lock. `released` takes what is no longer needed: giving it up may run any
  // Python code.
  void set(const pybind11::list& inputs, Kept* released);
  void run_locked();
  void check_copies() const;
  pybind11::list get(const pybind11::object& self, int outputs);

  std::shared_ptr<Module> module_;  // first, so that it goes last
  std::shared_ptr<PyTrace> trace_;  // null when nobody watches
  std::unique_ptr<ModuleMethod> method_;
  Kept kept_;  // for each input, what the method reads in place
  bool lends_ = false;
  std::vector<size_t> first_outputs_;  // for each output, the first one that is the same value
  std::mutex mutex_;
};

void bind_method(pybind11::module_& m);

}  // namespace rushlight
