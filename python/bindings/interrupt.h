// SPDX-License-Identifier: BSD-3-Clause
// Signals that arrive while a method is loaded or executed, Ctrl-C above all.
#pragma once

#include <mutex>

#include <pybind11/pybind11.h>

#include "runtime/executor/method.h"

namespace rushlight {

// Runs the Python handlers of signals that are pending, on Python's main thread, at most every 50 ms. One of
// them for all methods.
Interrupt* python_interrupt();

// Throws the exception that a handler raised, if one did.
void throw_if_interrupted();

// Locks without the GIL: another thread may need it before it lets go. Throws RuntimeFailure where a handler
// of a signal waits for what it has interrupted.
std::unique_lock<std::mutex> lock_for_python(std::mutex& mutex);

// Lives while this thread loads something, which a handler must not begin again.
class Loading {
 public:
  Loading();  // throws RuntimeFailure
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;
  ~Loading();
};

void bind_interrupt(pybind11::module_& m);

}  // namespace rushlight
