// SPDX-License-Identifier: BSD-3-Clause
// Python owns inputs and outputs; this class decides how long. Lent arrays stay referenced until they are
// replaced, and views keep the method alive.
#include "python/bindings/method.h"

#include <algorithm>
#include <unordered_map>

#include <pybind11/stl.h>

#include "python/bindings/captured_log.h"
#include "python/bindings/failure.h"
#include "python/bindings/gil.h"
#include "python/bindings/inputs.h"
#include "python/bindings/interrupt.h"
#include "runtime/program/schema.h"

namespace py = pybind11;

namespace rushlight {

// Maps each output to the first one with the same value, so that a value is converted once.
PyMethod::PyMethod(std::shared_ptr<Module> module, std::unique_ptr<ModuleMethod> method,
                   std::shared_ptr<PyTrace> trace)
    : module_(std::move(module)),
      trace_(std::move(trace)),
      method_(std::move(method)),
      kept_(method_->method().meta().num_inputs()) {
  const auto outputs = method_->method().meta().plan().vector<int32_t>(schema::plan::kOutputs);
  std::unordered_map<int32_t, size_t> firsts;
  for (const int32_t value : outputs)
    first_outputs_.push_back(firsts.emplace(value, first_outputs_.size()).first->second);
}

std::unique_lock<std::mutex> PyMethod::lock() {
  std::unique_lock<std::mutex> lock = lock_for_python(mutex_);
  captured_log().clear();
  return lock;
}

// On an error, inputs before the failing one keep their new values.
void PyMethod::set(const py::list& inputs, Kept* released) {
  Method& method = method_->method();
  const auto count = inputs.size();
  if (count != kept_.size()) {
    captured_log().say("expected " + std::to_string(kept_.size()) + " inputs, got " + std::to_string(count));
    fail(Error::InvalidArgument);
  }
  // Items are borrowed from the list, which the caller holds.
  for (size_t i = 0; i < count; ++i) {
    py::object keep = set_input(method, i, PyList_GET_ITEM(inputs.ptr(), static_cast<Py_ssize_t>(i)));
    // Not destroyed here: a destructor could run Python code that calls this method.
    if (kept_[i]) released->push_back(std::move(kept_[i]));
    if (keep) lends_ = true;
    kept_[i] = std::move(keep);
  }
}

// The trace is locked while the method executes, because a tracer serves one thread at a time.
void PyMethod::run_locked(const Execution* execution) {
  const std::unique_lock<std::mutex> traced =
      trace_ == nullptr ? std::unique_lock<std::mutex>() : lock_for_python(trace_->mutex());
  // The order of the locks is method, then trace; the GIL is released last.
  const Error error = without_gil([&] { return method_->execute(execution); });
  throw_if_interrupted();
  if (error != Error::Ok) fail_in(method_->failed_call(), error);
}

// Limits copies: a small program can name the same memory as output many times.
void PyMethod::check_copies() const {
  constexpr uint64_t kMostTimes = 4;
  constexpr uint64_t kAlwaysAllowed = uint64_t{64} << 20;
  const Method& method = method_->method();
  const size_t count = first_outputs_.size();
  if (count <= kMostTimes) return;  // each is a part of the method's memory
  // Outputs that name the same value are converted once (first_outputs_), so only distinct values count.
  // Distinct values may still share memory.
  uint64_t needed = 0;
  for (size_t i = 0; i < count; ++i) {
    if (first_outputs_[i] == i && method.output(i).is_tensor())
      needed += method.output(i).to_tensor().nbytes();
  }
  const uint64_t allowed =
      std::max(kAlwaysAllowed, kMostTimes * (uint64_t{method_->taken_bytes()} + module_->file_bytes()));
  if (needed <= allowed) return;
  captured_log().say("outputs: expected at most " + std::to_string(allowed) + " bytes of copies, got " +
                     std::to_string(needed) + "; request views instead");
  fail(Error::MemoryAllocationFailed);
}

// Called with the lock held, as values refer to memory that the next execution overwrites.
py::list PyMethod::get(const py::object& self, int outputs) {
  const auto how = static_cast<Outputs>(outputs);
  py::object owner = self;
  if (lends_ && how != Outputs::Copy) {  // outputs may be aliases of lent inputs
    py::list owners;
    owners.append(self);
    for (const py::object& array : kept_) {
      if (array) owners.append(array);
    }
    owner = std::move(owners);
  }
  Method& method = method_->method();
  const size_t count = method.meta().num_outputs();
  if (how == Outputs::Copy) check_copies();
  py::list list(count);
  for (size_t i = 0; i < count; ++i) {
    const size_t first = first_outputs_[i];
    list[i] = first == i ? to_python(method.output(i), how, owner) : py::object(list[first]);
  }
  return list;
}

py::list PyMethod::execute(const py::object& self, const std::optional<py::list>& inputs, int outputs,
                           const Execution* execution) {
  auto& method = self.cast<PyMethod&>();
  // Destroyed after the lock, in reverse order of declaration.
  Kept released;
  const auto lock = method.lock();
  if (inputs) method.set(*inputs, &released);
  method.run_locked(execution);
  return method.get(self, outputs);
}

void PyMethod::set_inputs(const py::list& inputs) {
  Kept released;
  const auto locked = lock();
  set(inputs, &released);
}

void PyMethod::run() {
  const auto locked = lock();
  run_locked();
}

py::list PyMethod::outputs(const py::object& self, int outputs) {
  auto& method = self.cast<PyMethod&>();
  const auto lock = method.lock();
  return method.get(self, outputs);
}

// Locked, because a delegate may load again during an execution, which changes its counters.
py::dict PyMethod::memory() {
  const auto locked = lock();
  py::list planned;
  for (const auto& buffer : method_->planned()) planned.append(buffer.size());
  py::dict dict;
  dict["method_arena"] = method_->arena_bytes();
  dict["planned"] = planned;
  dict["temporary_peak"] = method_->temporary_peak_bytes();
  dict["scratch"] = method_->scratch_bytes();
  dict["prepared"] = method_->prepared_bytes();
  const DelegateMemory& delegates = method_->delegate_memory();
  dict["delegates"] = py::dict(py::arg("working") = delegates.working, py::arg("scratch") = delegates.scratch,
                               py::arg("prepared") = delegates.prepared);
  return dict;
}

py::dict PyMethod::lanes() {
  const auto locked = lock();
  const LaneFacts facts = method_->lane_facts();
  return py::dict(py::arg("lanes") = facts.lanes, py::arg("windows") = facts.windows,
                  py::arg("calls") = facts.calls, py::arg("taken") = facts.taken,
                  py::arg("open") = facts.open, py::arg("planned_bytes") = facts.planned_bytes,
                  py::arg("program_bytes") = facts.program_bytes, py::arg("alone") = facts.alone);
}

void bind_method(py::module_& m) {
  py::class_<PyMethod>(m, "Method", py::module_local())
      .def("execute", &PyMethod::execute, py::arg("inputs"), py::arg("outputs") = 0,
           py::arg("execution") = py::none(),
           "Sets the inputs (None keeps the present ones), executes, and returns the outputs.")
      .def("submit", &PyMethod::submit, py::arg("call"), py::arg("timeout"),
           "Calls `call(execution, code)` on a thread of the pool; code 0 asks it to execute.")
      .def("set_inputs", &PyMethod::set_inputs, py::arg("inputs"), "Sets all inputs.")
      .def("run", &PyMethod::run, "Executes with the inputs that were set.")
      .def("outputs", &PyMethod::outputs, py::arg("outputs") = 0,
           "The outputs: copies (0), read-only views (1) or writable views (2).")
      .def("lanes", &PyMethod::lanes, "Calls that execute in parallel, and planned bytes with and without.")
      .def("memory", &PyMethod::memory,
           "Sizes in bytes: method_arena, planned (a list), temporary_peak, scratch, prepared, delegates (a "
           "dict).");
}

}  // namespace rushlight
