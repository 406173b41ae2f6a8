// SPDX-License-Identifier: BSD-3-Clause
// Releases the GIL for the lifetime of the object. Cheaper than pybind11's class, which also manages a thread
// state of pybind11; no pybind11 function may be called meanwhile.
#pragma once

#include <pybind11/pybind11.h>

namespace rushlight {

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() { PyEval_RestoreThread(state_); }

 private:
  PyThreadState* state_;
};

// Calls `function` without the GIL and returns its result.
template <class F>
auto without_gil(F&& function) {
  const WithoutGil others_run;
  return function();
}

}  // namespace rushlight
