// SPDX-License-Identifier: BSD-3-Clause
// Small values to Python, and numpy's element types by ours.
#pragma once

#include <string_view>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "runtime/tensor/tensor.h"

namespace rushlight {

// A program's names may be any bytes.
pybind11::str to_str(std::string_view text);

template <class T>
pybind11::tuple to_tuple(Span<T> items) {
  pybind11::tuple tuple(items.size());
  for (size_t i = 0; i < items.size(); ++i) tuple[i] = static_cast<long>(items[i]);
  return tuple;
}

// numpy's (or ml_dtypes') dtype object, borrowed for the life of the process; null where there is none:
// complex32, quantized types.
PyObject* numpy_dtype(ScalarType type);
// Brings the dtype objects in, once, when the module is imported.
void init_dtypes();

enum class Access { ReadOnly, Writable };

// An array over a dense tensor's elements, in its dim order; `owner` keeps them alive. With null `data`
// the array has fresh memory of its own. Null dtypes are the caller's to refuse.
pybind11::object make_array(ScalarType type, Span<const SizesType> sizes, Span<const DimOrderType> order,
                            const void* data = nullptr, pybind11::object owner = {},
                            Access access = Access::Writable);

// Copies all elements, whatever the layout and byte order of `source`; shapes are the same.
void copy_array(pybind11::handle target, pybind11::handle source);

}  // namespace rushlight
