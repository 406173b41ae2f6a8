// SPDX-License-Identifier: BSD-3-Clause
// Converts strictly: an int is no float and a bool no int, so that a test calls the kernel with exactly the
// kinds that it names. Tensors refer to numpy's memory; the test keeps the arrays alive.
#include "tests/kernels/binding/arguments.h"

#include <cctype>

namespace rushlight::testing {

namespace py = pybind11;

namespace {

[[noreturn]] void refuse(char code, py::handle object) {
  throw py::type_error("an argument of kind '" + std::string(1, code) + "' cannot be made of " +
                       std::string(py::repr(object)));
}

}  // namespace

void Arguments::add(char code, py::handle object) { values_.push_back(keep(build(code, object))); }

void Arguments::store_shapes() {
  for (BuiltTensor& tensor : tensors_) {
    const auto sizes = tensor.impl->sizes();
    tensor.source->sizes.assign(sizes.begin(), sizes.end());
  }
}

EValue Arguments::build(char code, py::handle object) {
  const bool optional = std::isupper(static_cast<unsigned char>(code)) != 0;
  const char kind = static_cast<char>(std::tolower(static_cast<unsigned char>(code)));
  if (object.is_none()) {
    if (!optional && kind != 'e') refuse(code, object);
    return {};
  }
  switch (kind) {
    case 't':
    case 'w':
      if (!py::isinstance<TensorArgument>(object)) refuse(code, object);
      return build_tensor(object.cast<TensorArgument*>());
    case 'i':
    case 'd':
    case 'b':
    case 's':
      return build_number(kind, object);
    case 'e':
      if (py::isinstance<TensorArgument>(object)) return build_tensor(object.cast<TensorArgument*>());
      return build_number(kind, object);
    case 'z':
      if (!py::isinstance<py::str>(object)) refuse(code, object);
      return EValue(std::string_view(strings_.emplace_back(object.cast<std::string>())));
    default:
      if (!py::isinstance<py::sequence>(object)) refuse(code, object);
      return build_list(kind, object);
  }
}

EValue Arguments::build_number(char code, py::handle object) {
  const bool is_bool = py::isinstance<py::bool_>(object);
  const bool is_int = !is_bool && py::isinstance<py::int_>(object);
  const bool is_float = py::isinstance<py::float_>(object);
  const bool any = code == 's' || code == 'e';
  if (is_bool && (any || code == 'b')) return EValue(object.cast<bool>());
  if (is_int && (any || code == 'i')) return EValue(object.cast<int64_t>());
  if (is_float && (any || code == 'd')) return EValue(object.cast<double>());
  refuse(code, object);
}

EValue Arguments::build_tensor(TensorArgument* source) {
  BuiltTensor& tensor = tensors_.emplace_back();
  tensor.source = source;
  tensor.sizes = source->sizes;
  tensor.strides.resize(source->sizes.size());
  const auto dim = static_cast<ptrdiff_t>(tensor.sizes.size());
  tensor.impl.emplace(static_cast<ScalarType>(source->dtype), dim, tensor.sizes.data(),
                      reinterpret_cast<void*>(source->address), source->dim_order.data(),
                      tensor.strides.data(),
                      source->dynamic ? TensorShapeDynamism::DYNAMIC_BOUND : TensorShapeDynamism::STATIC);
  if (source->dynamic) {
    std::vector<SizesType> start(tensor.sizes.size(), 0);
    if (tensor.impl->resize({start.data(), start.size()}) != Error::Ok) throw py::value_error("resize");
  }
  return EValue(Tensor(&*tensor.impl));
}

EValue Arguments::build_list(char code, py::handle object) {
  BuiltList& list = lists_.emplace_back();
  EValue value;
  value.length = static_cast<uint32_t>(py::len(object));
  for (py::handle item : object) {
    if (code == 'n') list.values.push_back(keep(build_number('i', item)));
    if (code == 'f') list.doubles.push_back(item.cast<double>());
    if (code == 'o') list.bools.push_back(item.cast<bool>() ? 1 : 0);
    if (code == 'l' || code == 'k') list.values.push_back(keep(build('t', item)));
    if (code == 'p') list.values.push_back(item.is_none() ? nullptr : keep(build('t', item)));
  }
  switch (code) {
    case 'n':
      list.ints.resize(value.length);
      list.int_list = {list.values.data(), list.ints.data()};
      value.payload.as_int_list = &list.int_list;
      value.tag = Tag::ListInt;
      break;
    case 'f':
      value.payload.as_double_list = list.doubles.data();
      value.tag = Tag::ListDouble;
      break;
    case 'o':
      value.payload.as_bool_list = reinterpret_cast<const bool*>(list.bools.data());
      value.tag = Tag::ListBool;
      break;
    case 'k':
    case 'l':
      list.tensors.resize(value.length, Tensor(nullptr));
      list.tensor_list = {list.values.data(), list.tensors.data()};
      value.payload.as_tensor_list = &list.tensor_list;
      value.tag = Tag::ListTensor;
      break;
    case 'p':
      list.optional_tensors.resize(value.length);
      list.optional_tensor_list = {list.values.data(), list.optional_tensors.data()};
      value.payload.as_optional_tensor_list = &list.optional_tensor_list;
      value.tag = Tag::ListOptionalTensor;
      break;
    default:
      refuse(code, object);
  }
  return value;
}

}  // namespace rushlight::testing
