// SPDX-License-Identifier: BSD-3-Clause
// Converts runtime errors to C++ exceptions, which become Python exceptions.
#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

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

// The same for an execution of `method`, with its failed_call().
[[noreturn]] void fail_in(const Method& method, Error code);

// Throws RuntimeFailure unless the code is Ok.
inline void check(Error code) {
  if (code != Error::Ok) fail(code);
}

// Returns the value of a Result, or throws RuntimeFailure.
template <class T>
T&& value_of(Result<T>&& result) {
  if (!result.ok()) fail(result.error());
  return std::move(*result);
}

// Defines the Python class RuntimeFailure. Its args: (code, name of the code, message, input or None, names,
// instruction or None, operator or None, source file or None).
void bind_failure(pybind11::module_& m);

}  // namespace rushlight
