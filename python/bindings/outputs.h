// SPDX-License-Identifier: BSD-3-Clause
// Converts the outputs of a method to Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include "runtime/tensor/evalue.h"

namespace rushlight {

// In the order of the Python constants.
enum class Outputs { Copy, ReadOnlyView, WritableView };

// Returns a number, a string, None, a numpy array, or a list of these. A view shares the tensor's memory,
// which `owner` keeps alive; a view of a constant is never writable. Throws RuntimeFailure for a tensor
// without memory, or of a dtype that numpy lacks.
pybind11::object to_python(const EValue& value, Outputs how, pybind11::handle owner);

}  // namespace rushlight
