// SPDX-License-Identifier: BSD-3-Clause
// Binds Python values to the inputs of a method.
#pragma once

#include <pybind11/pybind11.h>

#include "runtime/executor/method.h"

namespace rushlight {

// Sets input `index` to a number, None, or a numpy array of the input's dtype in any layout and byte order.
// An input with planned memory is copied once. Another input uses the array's memory if the array is dense in
// the input's dim order, aligned and writable (programs may write to lent memory); otherwise the array is
// copied once. Returns the object that must stay alive, or null. Throws RuntimeFailure with the index.
pybind11::object set_input(Method& method, size_t index, pybind11::handle value);

}  // namespace rushlight
