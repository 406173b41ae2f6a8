// SPDX-License-Identifier: BSD-3-Clause
// A loaded method and its Python methods.
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

// Thread-safe: calls are serialised, each with its own inputs and outputs.
class PyMethod {
 public:
  PyMethod(std::shared_ptr<Module> module, std::unique_ptr<ModuleMethod> method,
           std::shared_ptr<PyTrace> trace);

  // Sets the inputs, unless None, executes, and returns the outputs. Throws RuntimeFailure.
  static pybind11::list execute(const pybind11::object& self, const std::optional<pybind11::list>& inputs,
                                int outputs);
  // The three steps of execute(), separately.
  void set_inputs(const pybind11::list& inputs);
  void run();
  static pybind11::list outputs(const pybind11::object& self, int outputs);

  [[nodiscard]] pybind11::dict memory();
  [[nodiscard]] pybind11::dict lanes();

 private:
  using Kept = std::vector<pybind11::object>;

  std::unique_lock<std::mutex> lock();
  // Called with the lock held. `released` receives objects that are no longer needed: destroying them may run
  // arbitrary Python code, which must not happen under the lock.
  void set(const pybind11::list& inputs, Kept* released);
  void run_locked();
  void check_copies() const;
  pybind11::list get(const pybind11::object& self, int outputs);

  std::shared_ptr<Module> module_;  // first, so that it is destroyed last
  std::shared_ptr<PyTrace> trace_;  // null without tracing
  std::unique_ptr<ModuleMethod> method_;
  Kept kept_;  // per input, the object whose memory the method uses
  bool lends_ = false;
  std::vector<size_t> first_outputs_;  // per output, the first output with the same value
  std::mutex mutex_;
};

void bind_method(pybind11::module_& m);

}  // namespace rushlight
