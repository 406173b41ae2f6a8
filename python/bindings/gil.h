// SPDX-License-Identifier: BSD-3-Clause
// Other Python threads run while one of these lives. Cheaper than pybind11's, which also keeps its own
// thread state; nothing of pybind11 may be used meanwhile.
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

// What `function` returns.
template <class F>
auto without_gil(F&& function) {
  const WithoutGil others_run;
  return function();
}

}  // namespace rushlight
