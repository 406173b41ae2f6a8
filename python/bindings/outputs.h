// SPDX-License-Identifier: BSD-3-Clause
// What a method hands to Python.
#pragma once

#include <pybind11/pybind11.h>

#include "runtime/tensor/evalue.h"

namespace rushlight {

// As Python spells them, in this order.
enum class Outputs { Copy, ReadOnlyView, WritableView };

// A number, a string, None, a numpy array, or a list of these. A view is over the tensor's own memory,
// which `owner` keeps alive; one over a constant is never writable.
// Throws RuntimeFailure for a tensor without memory, or of a dtype that numpy has not.
pybind11::object to_python(const EValue& value, Outputs how, pybind11::handle owner);

}  // namespace rushlight
