// SPDX-License-Identifier: BSD-3-Clause
// Errors of the runtime as C++ exceptions, which become rushlight's own on the Python side.
#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "runtime/base/error.h"
#include "runtime/base/result.h"
#include "runtime/executor/method.h"

namespace rushlight {

struct RuntimeFailure {
  Error code;
  std::string message;             // what was logged, the innermost cause first
  long input = -1;                 // the input it is about
  std::vector<std::string> names;  // of all operators or backends that are missing
  // Of a call that failed while a method was running; the operator is empty of a delegate's.
  long instruction = -1;
  std::string failed_operator;
  std::string place;  // the source that logged the innermost cause
};

// Throws what was logged on this thread, and clears it.
[[noreturn]] void fail(Error code, long input = -1, std::vector<std::string> names = {});

// The same, of a method that failed at its failed_call().
[[noreturn]] void fail_in(const Method& method, Error code);

inline void check(Error code) {
  if (code != Error::Ok) fail(code);
}

template <class T>
T&& value_of(Result<T>&& result) {
  if (!result.ok()) fail(result.error());
  return std::move(*result);
}

// The Python class RuntimeFailure: (code, name of the code, message, input or None, names, instruction or
// None, operator or None, place or None).
void bind_failure(pybind11::module_& m);

}  // namespace rushlight
