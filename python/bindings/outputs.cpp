// SPDX-License-Identifier: BSD-3-Clause
// Outputs are copied by default, because the next execution overwrites the method's memory.
#include "python/bindings/outputs.h"

#include <cstring>

#include "python/bindings/captured_log.h"
#include "python/bindings/convert.h"
#include "python/bindings/failure.h"

namespace py = pybind11;

namespace rushlight {

namespace {

// Views need memory that outlives the call, which `owner` guarantees; copies do not.
py::object from_tensor(const TensorImpl& tensor, Outputs how, py::handle owner) {
  const ScalarType type = tensor.scalar_type();
  // A tensor that the program left unplanned and no call has written.
  if (tensor.data() == nullptr && tensor.numel() > 0) {
    captured_log().say("output: a tensor without memory");
    fail(Error::InvalidProgram);
  }
  // complex32 and the quantized dtypes.
  if (numpy_dtype(type) == nullptr) {
    captured_log().say(std::string("output: ") + to_string(type) + " has no numpy counterpart");
    fail(Error::NotSupported);
  }
  if (how == Outputs::Copy || tensor.data() == nullptr) {
    // Keeps the tensor's dim order: a channels-last output becomes an array with such strides.
    py::object array = make_array(type, tensor.sizes(), tensor.dim_order());
    if (tensor.nbytes() > 0) {
      std::memcpy(py::detail::array_proxy(array.ptr())->data, tensor.data(), tensor.nbytes());
    }
    return array;
  }
  // Writing to a constant would change the weights of every method that shares them.
  const bool constant = tensor.storage() == Storage::Constant || tensor.storage() == Storage::ConstantView;
  const Access access = how == Outputs::WritableView && !constant ? Access::Writable : Access::ReadOnly;
  return make_array(type, tensor.sizes(), tensor.dim_order(), tensor.data(),
                    py::reinterpret_borrow<py::object>(owner), access);
}

// Lists of numbers are copied in every mode: Python's lists cannot share memory.
template <class Items>
py::list to_list(const Items& items) {
  py::list list;
  for (const auto& item : items) list.append(item);
  return list;
}

}  // namespace

// Tensors in lists follow the same mode as single ones.
py::object to_python(const EValue& value, Outputs how, py::handle owner) {
  switch (value.tag) {
    case Tag::Tensor:
      return from_tensor(*value.payload.as_tensor.impl(), how, owner);
    case Tag::String:
      return to_str(value.to_string_view());
    case Tag::Double:
      return py::float_(value.to_double());
    case Tag::Int:
      return py::int_(value.to_int());
    case Tag::Bool:
      return py::bool_(value.to_bool());
    case Tag::ListBool:
      return to_list(value.to_bool_list());
    case Tag::ListDouble:
      return to_list(value.to_double_list());
    case Tag::ListInt:
      return to_list(value.to_int_list());
    case Tag::ListTensor: {
      py::list list;
      for (const Tensor& tensor : value.to_tensor_list())
        list.append(from_tensor(*tensor.impl(), how, owner));
      return list;
    }
    case Tag::ListOptionalTensor: {
      py::list list;
      for (const auto& tensor : value.to_optional_tensor_list()) {
        list.append(tensor ? from_tensor(*tensor->impl(), how, owner) : py::object(py::none()));
      }
      return list;
    }
    default:
      return py::none();
  }
}

}  // namespace rushlight
