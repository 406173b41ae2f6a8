// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous executions: Python callables on threads of the pool. A callable sets inputs, executes and
// converts outputs as a synchronous call does, so that both give the same results and messages.
#include <atomic>
#include <chrono>
#include <thread>

#include <pthread.h>
#include <pybind11/stl.h>

#include "python/bindings/captured_log.h"
#include "python/bindings/failure.h"
#include "python/bindings/gil.h"
#include "python/bindings/method.h"

namespace py = pybind11;

namespace rushlight {

namespace {

std::atomic<size_t> calls{0};  // that hold Python objects
bool closed = false;           // guarded by the GIL

// A callable and the method that it executes.
class Call {
 public:
  Call(py::object method, py::function call) : method_(std::move(method)), call_(std::move(call)) { ++calls; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Queues hold calls through this pointer: the last one may be dropped by a thread without the GIL.
  static void destroy(Call* call) {
    {
      const py::gil_scoped_acquire acquired;
      delete call;
    }
    // After the GIL is released: then the interpreter may end.
    --calls;
  }

  void operator()(const std::shared_ptr<Execution>& execution, Error code) const {
    const py::gil_scoped_acquire acquired;
    try {
      call_(execution, static_cast<uint32_t>(code));
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("rushlight: asynchronous execution");
    }
  }

 private:
  py::object method_;
  py::function call_;
};

ExecutionOptions options_for(std::optional<double> timeout) {
  constexpr double kLongest = 1e9;  // seconds; longer is no limit
  ExecutionOptions options;
  if (timeout && *timeout < kLongest) {
    const std::chrono::duration<double> seconds(*timeout);
    options.deadline = ExecutionOptions::Clock::now() +
                       std::chrono::duration_cast<ExecutionOptions::Clock::duration>(seconds);
  }
  return options;
}

// Refuses later submissions and waits for the earlier ones, up to `seconds`. Returns true if no thread of a
// pool needs the interpreter any more.
bool drain(double seconds) {
  closed = true;
  const auto end = options_for(seconds).deadline;
  const WithoutGil others_run;
  while (calls.load() != 0 && ExecutionOptions::Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  return calls.load() == 0;
}

}  // namespace

std::shared_ptr<Execution> PyMethod::submit(const py::object& self, const py::function& call,
                                            std::optional<double> timeout) {
  if (closed) {
    captured_log().say("execute_async: the interpreter is shutting down");
    fail(Error::InvalidState);
  }
  const std::shared_ptr<Call> held(new Call(self, call), &Call::destroy);
  auto run = [held](const std::shared_ptr<Execution>& execution) {
    (*held)(execution, Error::Ok);
    return Error::Ok;
  };
  auto done = [held](const std::shared_ptr<Execution>& execution, Error error) {
    if (error != Error::Ok) (*held)(execution, error);
  };
  return self.cast<PyMethod&>().method_->executions().add(options_for(timeout), std::move(run),
                                                          std::move(done));
}

void bind_execution(py::module_& m) {
  // In a forked child the calls of the parent's threads never end.
  ::pthread_atfork(nullptr, nullptr, [] { calls = 0; });
  py::class_<Execution, std::shared_ptr<Execution>>(m, "Execution", py::module_local())
      .def("cancel", &Execution::cancel, "Ends the execution before its next instruction.")
      .def("has_begun", &Execution::has_begun, "True from the moment that its turn comes.");
  m.def("drain_executions", &drain, py::arg("seconds"),
        "Refuses new asynchronous executions and waits for the others; returns True if all have ended.");
}

}  // namespace rushlight
