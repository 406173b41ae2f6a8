// SPDX-License-Identifier: BSD-3-Clause
// Converts between the runtime's values and PyTorch's. Tensors are aliases: both sides use one memory, and
// none is copied.
//
//   at::Tensor input = aten::alias(method->input(0).to_tensor());       // valid as long as the method's
//   memory auto value = aten::TensorAlias::make(torch_tensor);                 // keeps torch_tensor alive if
//   (value.ok()) method->set_input(0, EValue(value->tensor()));
//
// Functions of ATen throw. Functions below that return a Result do not.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "runtime/base/result.h"
#include "runtime/module/host_tensor.h"
#include "runtime/tensor/evalue.h"

namespace rushlight::aten {

// The dtype of PyTorch. The enumerators of both have the same numbers.
constexpr c10::ScalarType to_aten(ScalarType type) {
  return static_cast<c10::ScalarType>(static_cast<int8_t>(type));
}
// The reverse. Error: InvalidType for a dtype that the runtime does not have, such as float8_e4m3fn.
[[nodiscard]] Result<ScalarType> from_aten(c10::ScalarType type);

// A tensor of PyTorch in the same memory, with the same sizes and strides. A tensor that may be written in
// every shape has a storage of that capacity, so that ATen can resize it in place. If it grows further, as
// some kernels let an out tensor do for an intermediate result, ATen allocates memory for it. Quantized
// dtypes get scale 1 and zero point 0, because the runtime keeps both in arguments of operators. The tensor
// and its memory must outlive the result. Precondition: the memory is on the host.
[[nodiscard]] at::Tensor alias(const TensorImpl& tensor);
[[nodiscard]] inline at::Tensor alias(const Tensor& tensor) { return alias(*tensor.impl()); }

// Gives `target` the shape of `result` and, unless they are there already, its elements. An undefined result
// changes nothing. Messages name result number `index`. Errors: InvalidType (another dtype), InvalidArgument
// (a shape that the target cannot have).
[[nodiscard]] Error store(const at::Tensor& result, const Tensor& target, size_t index);

// The error of the exception that is being handled, logged with the operator's name. For `catch (...)` only.
[[nodiscard]] Error caught(const char* name) noexcept;

// The dim order whose dense strides a tensor of PyTorch has. Error: InvalidArgument if it has gaps, overlaps
// or more than kTensorDimensionLimit dimensions; at::Tensor::contiguous() gives one without.
[[nodiscard]] Result<std::vector<DimOrderType>> dim_order_of(const at::Tensor& tensor);

// A tensor of the runtime in the memory of one of PyTorch, which it keeps alive. Movable.
class TensorAlias {
 public:
  // Errors: InvalidType (from_aten()), InvalidArgument (dim_order_of(), a size beyond int32), NotSupported
  // (not on the CPU, not strided, a lazy conjugate or negation).
  [[nodiscard]] static Result<TensorAlias> make(at::Tensor tensor);

  [[nodiscard]] Tensor tensor() const { return alias_.tensor(); }
  [[nodiscard]] const at::Tensor& source() const { return source_; }

 private:
  TensorAlias(at::Tensor source, HostTensor alias) : source_(std::move(source)), alias_(std::move(alias)) {}

  at::Tensor source_;
  HostTensor alias_;
};

// The value as PyTorch passes it in boxed calls, by its tag. Tensors are aliases; numbers, strings and lists
// are copied. A dtype, layout or memory format is the integer of its enumerator in both. Scalar lists have no
// form in the runtime and throw.
[[nodiscard]] c10::IValue to_ivalue(const EValue& value);
// The same for a parameter with signature character `code` (runtime/kernel/boxing.h): numbers are converted
// as boxed kernels convert them, so an integer for a float parameter becomes a double. Precondition:
// check_kinds() accepts the value.
[[nodiscard]] c10::IValue to_ivalue(const EValue& value, char code);

// Owns the values of the runtime that it makes from PyTorch's. Their addresses never change.
class Values {
 public:
  // The value of a boxed argument; tensors are aliases, and only lists and strings are copied. It lives as
  // long as this object. Errors: InvalidType for a kind without a value (complex numbers, dictionaries), and
  // as TensorAlias::make().
  [[nodiscard]] Result<EValue*> add(const c10::IValue& value);

 private:
  EValue* keep(EValue value) { return &values_.emplace_back(value); }
  Result<EValue*> add_list(const c10::IValue& value);
  Result<EValue*> add_tensors(const c10::IValue& value);

  std::deque<EValue> values_;
  std::deque<TensorAlias> tensors_;
  std::deque<std::string> strings_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::unique_ptr<bool[]>> bools_;
  std::deque<BoxedList<int64_t>> int_lists_;
  std::deque<std::vector<Tensor>> tensor_items_;
  std::deque<BoxedList<Tensor>> tensor_lists_;
  std::deque<std::vector<std::optional<Tensor>>> optional_items_;
  std::deque<BoxedList<std::optional<Tensor>>> optional_lists_;
};

}  // namespace rushlight::aten
