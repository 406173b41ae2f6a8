// SPDX-License-Identifier: BSD-3-Clause
// Dtype objects are looked up once, at import: arrays then need no lookup by name.
#include "python/bindings/convert.h"

#include <iterator>

namespace py = pybind11;
using py::detail::npy_api;

namespace rushlight {

namespace {

// ScalarType values are below 32; dtypes without a numpy counterpart stay null.
constexpr size_t kNumbers = 32;
PyObject* dtypes[kNumbers] = {};

void add_dtype(ScalarType type, const py::object& dtype) {
  // The references are kept for the life of the process: arrays may outlive the module.
  dtypes[static_cast<size_t>(type)] = py::dtype::from_args(dtype).release().ptr();
}

}  // namespace

// Error handler "replace": text from a file must never raise UnicodeDecodeError.
py::str to_str(std::string_view text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
}

PyObject* numpy_dtype(ScalarType type) {
  const auto number = static_cast<size_t>(type);
  return number < kNumbers ? dtypes[number] : nullptr;
}

void init_dtypes() {
  constexpr struct {
    ScalarType type;
    const char* name;
  } kNames[] = {
      {ScalarType::Byte, "uint8"},
      {ScalarType::Char, "int8"},
      {ScalarType::Short, "int16"},
      {ScalarType::Int, "int32"},
      {ScalarType::Long, "int64"},
      {ScalarType::Half, "float16"},
      {ScalarType::Float, "float32"},
      {ScalarType::Double, "float64"},
      {ScalarType::ComplexFloat, "complex64"},
      {ScalarType::ComplexDouble, "complex128"},
      {ScalarType::Bool, "bool"},
      {ScalarType::UInt16, "uint16"},
      {ScalarType::UInt32, "uint32"},
      {ScalarType::UInt64, "uint64"},
  };
  for (const auto& entry : kNames) add_dtype(entry.type, py::str(entry.name));
  // numpy has no bfloat16; ml_dtypes defines it.
  add_dtype(ScalarType::BFloat16, py::module_::import("ml_dtypes").attr("bfloat16"));
}

py::object make_array(ScalarType type, Span<const SizesType> sizes, Span<const DimOrderType> order,
                      const void* data, py::object owner, Access access) {
  PyObject* dtype = numpy_dtype(type);
  Py_intptr_t shape[kTensorDimensionLimit];
  Py_intptr_t strides[kTensorDimensionLimit];
  // numpy's strides are in bytes. Innermost dimension first, as in TensorImpl.
  auto step = static_cast<Py_intptr_t>(element_size(type));
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    shape[d] = sizes[d];
    strides[d] = step;
    // As in PyTorch, a size of 0 counts as 1 in outer strides.
    step *= sizes[d] == 0 ? 1 : sizes[d];
  }
  const npy_api& api = npy_api::get();
  const int flags = access == Access::Writable ? npy_api::NPY_ARRAY_WRITEABLE_ : 0;
  Py_INCREF(dtype);  // the call steals a reference
  auto array = py::reinterpret_steal<py::object>(
      api.PyArray_NewFromDescr_(api.PyArray_Type_, dtype, static_cast<int>(sizes.size()), shape, strides,
                                const_cast<void*>(data), data == nullptr ? 0 : flags, nullptr));
  if (!array) throw py::error_already_set();
  // SetBaseObject steals the reference to the owner too.
  if (owner && api.PyArray_SetBaseObject_(array.ptr(), owner.release().ptr()) != 0) {
    throw py::error_already_set();
  }
  return array;
}

void copy_array(py::handle target, py::handle source) {
  if (npy_api::get().PyArray_CopyInto_(target.ptr(), source.ptr()) != 0) throw py::error_already_set();
}

}  // namespace rushlight
