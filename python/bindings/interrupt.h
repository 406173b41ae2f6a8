// SPDX-License-Identifier: BSD-3-Clause
// Handles signals, such as Ctrl-C, that arrive while a method is loaded or executed.
#pragma once

#include <mutex>

#include <pybind11/pybind11.h>

#include "runtime/executor/method.h"

namespace rushlight {

// Runs Python's pending signal handlers on Python's main thread, at most every 50 ms. One object serves all
// methods.
Interrupt* python_interrupt();

// Throws the Python exception that a signal handler raised, if any.
void throw_if_interrupted();

// Locks `mutex`; releases the GIL while waiting, because the owner may need it. Throws RuntimeFailure if a
// signal handler would wait for the call that it interrupted.
std::unique_lock<std::mutex> lock_for_python(std::mutex& mutex);

// Marks that this thread loads a method or generator. A signal handler must not start another load meanwhile.
class Loading {
 public:
  Loading();  // throws RuntimeFailure
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;
  ~Loading();
};

void bind_interrupt(pybind11::module_& m);

}  // namespace rushlight
