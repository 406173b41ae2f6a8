// SPDX-License-Identifier: BSD-3-Clause
#include "python/bindings/failure.h"

#include "python/bindings/captured_log.h"
#include "python/bindings/convert.h"

namespace py = pybind11;

namespace rushlight {

void fail(Error code, long input, std::vector<std::string> names) {
  std::string message;
  message.swap(captured_log());
  if (message.empty()) message = to_string(code);
  throw RuntimeFailure{code, std::move(message), input, std::move(names)};
}

void bind_failure(py::module_& m) {
  // One class object a module; several of these modules may live in one process.
  static PyObject* failure = PyErr_NewException("rushlight._runtime.RuntimeFailure", nullptr, nullptr);
  m.attr("RuntimeFailure") = py::handle(failure);
  py::register_local_exception_translator([](std::exception_ptr raised) {
    try {
      if (raised) std::rethrow_exception(raised);
    } catch (const RuntimeFailure& error) {
      py::list names;
      for (const std::string& name : error.names) names.append(to_str(name));
      const py::object input = error.input < 0 ? py::object(py::none()) : py::int_(error.input);
      const py::tuple arguments = py::make_tuple(static_cast<uint32_t>(error.code), to_string(error.code),
                                                 to_str(error.message), input, names);
      PyErr_SetObject(failure, arguments.ptr());
    }
  });
}

}  // namespace rushlight
