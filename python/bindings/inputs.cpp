// SPDX-License-Identifier: BSD-3-Clause
// Reads numpy's array structure directly: pybind11's accessors would add to the time of each call.
#include "python/bindings/inputs.h"

#include <climits>

#include "python/bindings/convert.h"
#include "python/bindings/failure.h"

namespace py = pybind11;
using py::detail::npy_api;

namespace rushlight {

namespace {

using ArrayFields = py::detail::PyArray_Proxy;

[[noreturn]] void refuse(size_t index, Error code = Error::InvalidArgument) {
  fail(code, static_cast<long>(index));
}

// `same` without `native_order`: numpy has to swap bytes, so the array is copied.
struct Dtype {
  bool same;          // same type, ignoring byte order
  bool native_order;  // byte order is native
};

Dtype compare_dtype(PyObject* got, PyObject* expected) {
  if (got == expected) return {true, true};
  if (expected == nullptr) return {false, false};
  // Different objects may describe the same type, for example long and long long if both have 64 bits.
  if (npy_api::get().PyArray_EquivTypes_(got, expected)) return {true, true};
  const auto* fields = py::detail::array_descriptor_proxy(got);
  return {fields->type_num == py::detail::array_descriptor_proxy(expected)->type_num, false};
}

// Returns true if the elements are contiguous in the given dim order.
bool is_dense(const ArrayFields& array, Span<const DimOrderType> order, size_t element) {
  auto step = static_cast<Py_intptr_t>(element);
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    const Py_intptr_t size = array.dimensions[d];
    // An array without elements has no layout.
    if (size == 0) return true;
    // A dimension of size 1 is never stepped over, so its stride is arbitrary.
    if (size != 1 && array.strides[d] != step) return false;
    step *= size;
  }
  return true;
}

// Writable, because a program may write to memory that it is lent.
bool may_be_lent(const ArrayFields& array) {
  constexpr int kNeeded = npy_api::NPY_ARRAY_ALIGNED_ | npy_api::NPY_ARRAY_WRITEABLE_;
  return (array.flags & kNeeded) == kNeeded;
}

// Copies at most once: a planned input is written in place by numpy's own copy, which handles any layout and
// byte order. Three cases: planned and dense (set_input() copies), planned and not dense (numpy copies), not
// planned (lent, or copied to a new array that is lent).
py::object set_array(Method& method, size_t index, TensorImpl& target, py::handle value) {
  const ArrayFields& array = *py::detail::array_proxy(value.ptr());
  const Dtype dtype = compare_dtype(array.descr, numpy_dtype(target.scalar_type()));
  const Span<const DimOrderType> order = target.dim_order();
  const auto rank = static_cast<size_t>(array.nd);
  if (!dtype.same || rank != order.size()) refuse(index);
  SizesType sizes[kTensorDimensionLimit];
  for (size_t d = 0; d < rank; ++d) {
    if (array.dimensions[d] > INT_MAX) refuse(index);
    sizes[d] = static_cast<SizesType>(array.dimensions[d]);
  }
  const bool planned = target.storage() == Storage::Planned;
  const bool as_it_is = dtype.native_order && is_dense(array, order, element_size(target.scalar_type())) &&
                        (planned || may_be_lent(array));
  // The target is resized here, because numpy needs a destination of the array's shape.
  if (planned && !as_it_is) {
    if (target.resize({sizes, rank}) != Error::Ok) refuse(index);
    copy_array(make_array(target.scalar_type(), target.sizes(), order, target.data()), value);
    return {};
  }
  auto source = py::reinterpret_borrow<py::object>(value);
  if (!as_it_is) {
    source = make_array(target.scalar_type(), {sizes, rank}, order);
    copy_array(source, value);
  }
  // A copy, because TensorImpl takes a pointer that is not const.
  DimOrderType own_order[kTensorDimensionLimit];
  for (size_t d = 0; d < rank; ++d) own_order[d] = order[d];
  StridesType strides[kTensorDimensionLimit];
  TensorImpl tensor(target.scalar_type(), static_cast<ptrdiff_t>(rank), sizes,
                    py::detail::array_proxy(source.ptr())->data, own_order, strides);
  const Error error = method.set_input(index, EValue(Tensor(&tensor)));
  if (error != Error::Ok) refuse(index, error);
  // A lent array must live until the next input replaces it.
  return planned ? py::object() : source;
}

EValue to_evalue(size_t index, PyObject* value) {
  if (value == Py_None) return EValue();
  // Before integers: Python's bool is a subclass of int.
  if (PyBool_Check(value)) return EValue(value == Py_True);
  if (PyFloat_Check(value)) return EValue(PyFloat_AS_DOUBLE(value));
  if (!PyLong_Check(value)) refuse(index);
  const long long number = PyLong_AsLongLong(value);
  // More than 64 bits.
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(index);
  }
  return EValue(static_cast<int64_t>(number));
}

}  // namespace

py::object set_input(Method& method, size_t index, py::handle value) {
  if (npy_api::get().PyArray_Check_(value.ptr())) {
    const EValue& target = method.input(index);
    if (!target.is_tensor()) refuse(index);
    return set_array(method, index, *target.payload.as_tensor.impl(), value);
  }
  const Error error = method.set_input(index, to_evalue(index, value.ptr()));
  if (error != Error::Ok) refuse(index, error);
  return {};
}

}  // namespace rushlight
