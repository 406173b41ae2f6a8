// SPDX-License-Identifier: BSD-3-Clause
// Converts small values to Python, and dtypes to numpy's.
#pragma once

#include <string_view>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "runtime/tensor/tensor.h"

namespace rushlight {

// Decodes UTF-8 and replaces invalid bytes: names in a program may be any bytes.
pybind11::str to_str(std::string_view text);

template <class T>
pybind11::tuple to_tuple(Span<T> items) {
  pybind11::tuple tuple(items.size());
  for (size_t i = 0; i < items.size(); ++i) tuple[i] = static_cast<long>(items[i]);
  return tuple;
}

// Returns numpy's (or ml_dtypes') dtype object, a borrowed reference that is valid as long as the process;
// null for dtypes that numpy lacks (complex32, quantized types).
PyObject* numpy_dtype(ScalarType type);
// Looks up the dtype objects; called once when the module is imported.
void init_dtypes();

enum class Access { ReadOnly, Writable };

// Creates an array over the elements of a dense tensor, in its dim order. `owner` keeps the elements alive.
// If `data` is null, the array allocates its elements. Precondition: numpy_dtype(type) is not null.
pybind11::object make_array(ScalarType type, Span<const SizesType> sizes, Span<const DimOrderType> order,
                            const void* data = nullptr, pybind11::object owner = {},
                            Access access = Access::Writable);

// Copies all elements between arrays of the same shape, for any layout and byte order of `source`.
void copy_array(pybind11::handle target, pybind11::handle source);

}  // namespace rushlight
