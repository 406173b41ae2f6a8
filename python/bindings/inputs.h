// SPDX-License-Identifier: BSD-3-Clause
// What Python hands to a method.
#pragma once

#include <pybind11/pybind11.h>

#include "runtime/executor/method.h"

namespace rushlight {

// Gives input `index` a number, None, or a numpy array of its dtype in any layout and byte order. An
// input that the program planned is copied, once. Another is used where it is if the array is dense in
// the input's dim order, aligned and writable (a program may write to what it is lent), and copied once
// if it is not; what is then to be kept alive is returned.
// Throws RuntimeFailure with the index, or std::bad_alloc's Python kin.
pybind11::object set_input(Method& method, size_t index, pybind11::handle value);

}  // namespace rushlight
