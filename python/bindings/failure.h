// SPDX-License-Identifier: BSD-3-Clause
// Converts runtime errors to C++ exceptions, which become Python exceptions.
#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "python/bindings/captured_log.h"
#include "runtime/base/error.h"
#include "runtime/base/result.h"
#include "runtime/executor/method.h"

namespace rushlight {

// The C++ exception: an error with its context.
struct RuntimeFailure {
  Error code;
  std::string message;             // log lines, innermost cause first
  long input = -1;                 // index of the input that caused it, or -1
  std::vector<std::string> names;  // all missing operators or backends
  // The call that failed during an execution; the operator is empty for a delegate.
  long instruction = -1;
  std::string failed_operator;
  std::string source_file;  // source file that logged the innermost cause
};

// Throws RuntimeFailure with this thread's log lines, and clears them.
[[noreturn]] void fail(Error code, long input = -1, std::vector<std::string> names = {});

// The same for an execution that failed in `call`.
[[noreturn]] void fail_in(const Method::FailedCall& call, Error code);

// check() and value_of() take the call, not its result, so that they can clear this thread's log before it. A
// call that succeeds may leave lines there: a constant that could not be folded, for example.

// Calls a function that returns an Error. Throws RuntimeFailure unless it is Ok.
template <class F>
void check(F&& call) {
  captured_log().clear();
  const Error error = call();
  if (error != Error::Ok) fail(error);
}

// Calls a function that returns a Result, and returns its value. Throws RuntimeFailure.
template <class F>
auto value_of(F&& call) {
  captured_log().clear();
  auto result = call();
  if (!result.ok()) fail(result.error());
  return std::move(*result);
}

// Defines the Python class RuntimeFailure. Its args: (code, name of the code, message, input or None, names,
// instruction or None, operator or None, source file or None).
void bind_failure(pybind11::module_& m);

}  // namespace rushlight
