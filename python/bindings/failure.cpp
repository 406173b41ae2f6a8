// SPDX-License-Identifier: BSD-3-Clause
// The captured log becomes the message: the innermost failed check logged first, its callers after it.
#include "python/bindings/failure.h"

#include "python/bindings/convert.h"

namespace py = pybind11;

namespace rushlight {

namespace {

RuntimeFailure logged(Error code) {
  RuntimeFailure failure{code};
  CapturedLog& log = captured_log();
  failure.message = std::move(log.text);
  if (log.source_file != nullptr) failure.source_file = log.source_file;
  log.clear();
  // Builds without logs have the error's name only.
  if (failure.message.empty()) failure.message = to_string(code);
  return failure;
}

py::object text_or_none(const std::string& text) {
  return text.empty() ? py::object(py::none()) : py::object(to_str(text));
}
py::object index_or_none(long index) { return index < 0 ? py::object(py::none()) : py::int_(index); }

}  // namespace

// Takes the log of this thread, which is empty afterwards: the next failure does not repeat it.
void fail(Error code, long input, std::vector<std::string> names) {
  RuntimeFailure failure = logged(code);
  failure.input = input;
  failure.names = std::move(names);
  throw failure;
}

void fail_in(const Method::FailedCall& call, Error code) {
  RuntimeFailure failure = logged(code);
  // A failure before the first instruction (inputs without memory) has no call.
  if (call.instruction != Method::kNoInstruction) failure.instruction = static_cast<long>(call.instruction);
  if (call.kernel != nullptr) failure.failed_operator = call.kernel->name;
  throw failure;
}

void bind_failure(py::module_& m) {
  // One exception class per module; several builds of this module may live in one process.
  static PyObject* failure = PyErr_NewException("rushlight._runtime.RuntimeFailure", nullptr, nullptr);
  m.attr("RuntimeFailure") = py::handle(failure);
  // Local, because another build of this module throws the same C++ type.
  py::register_local_exception_translator([](std::exception_ptr raised) {
    try {
      if (raised) std::rethrow_exception(raised);
    } catch (const RuntimeFailure& error) {
      py::list names;
      for (const std::string& name : error.names) names.append(to_str(name));
      const py::tuple arguments =
          py::make_tuple(static_cast<uint32_t>(error.code), to_string(error.code), to_str(error.message),
                         index_or_none(error.input), names, index_or_none(error.instruction),
                         text_or_none(error.failed_operator), text_or_none(error.source_file));
      PyErr_SetObject(failure, arguments.ptr());
    }
  });
}

}  // namespace rushlight
