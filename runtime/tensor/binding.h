// SPDX-License-Identifier: BSD-3-Clause
// Binds values to a method's inputs and outputs and evaluates conditions. Interpreted and baked programs
// share these functions.
#pragma once

#include <cstring>

#include "runtime/base/log.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// Returns true if the tensor's elements can be accessed: it has memory, or no elements.
inline bool has_memory(const TensorImpl& tensor) { return tensor.data() != nullptr || tensor.numel() == 0; }

// Returns true for a bool tensor with exactly one element and memory.
inline bool is_one_bool(const TensorImpl& tensor) {
  return tensor.scalar_type() == ScalarType::Bool && tensor.numel() == 1 && has_memory(tensor);
}

// Evaluates a condition: a number, or a tensor for which is_one_bool() holds. Any nonzero value is true, also
// NaN. Other values are not allowed.
inline bool is_false(const EValue& condition) {
  if (condition.is_tensor()) return *condition.to_tensor().const_data_ptr<uint8_t>() == 0;
  return condition.is_double() ? condition.to_double() == 0 : condition.to_int() == 0;
}

// Returns true if two numbers of the same kind are bitwise equal (so that NaN equals itself, and 0 differs
// from -0).
inline bool same_number(const EValue& a, const EValue& b) {
  if (a.is_double()) return std::memcmp(&a.payload.as_double, &b.payload.as_double, sizeof(double)) == 0;
  return a.to_int() == b.to_int();
}

namespace internal {

// Returns true if the orders are equal item by item.
inline bool same_order(Span<const DimOrderType> a, Span<const DimOrderType> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// Different dim orders can describe the same layout: dimensions of size 1 may stand at any position.
// Precondition: the tensors have equal sizes.
inline bool same_layout(const Tensor& a, const Tensor& b) {
  if (same_order(a.dim_order(), b.dim_order())) return true;
  for (ptrdiff_t d = 0; d < a.dim(); ++d) {
    const auto i = static_cast<size_t>(d);
    if (a.size(d) != 1 && a.strides()[i] != b.strides()[i]) return false;
  }
  return true;
}

// See set_value(). A lent target loses its memory first, so that a failure leaves no stale pointer. The
// target's shape may have changed even if a later check fails. Source and target may overlap.
inline Error set_tensor(size_t index, TensorImpl* target, const Tensor& source) {
  RL_CHECK(source.scalar_type() == target->scalar_type(), Error::InvalidType,
           "input %lu: expected dtype %s, got %s", log_number(index), to_string(target->scalar_type()),
           to_string(source.scalar_type()));
  const bool lent = target->storage() != Storage::Planned;
  if (lent) target->set_data(nullptr, Storage::Lent);  // the checks below may fail after the resize
  RL_CHECK(target->resize(source.sizes()) == Error::Ok, Error::InvalidArgument,
           "input %lu: shape does not fit the program's", log_number(index));
  RL_CHECK(same_layout(Tensor(target), source), Error::InvalidArgument,
           "input %lu: dim order differs from the program's", log_number(index));
  if (lent) {
    target->set_data(source.impl()->mutable_data(), Storage::Lent);
  } else if (target->nbytes() > 0) {
    RL_CHECK(source.const_data_ptr() != nullptr, Error::InvalidArgument, "input %lu: has no memory",
             log_number(index));
    std::memmove(target->mutable_data(), source.const_data_ptr(), target->nbytes());
  }
  return Error::Ok;
}

}  // namespace internal

// Binds `value` to input `index`, whose value in the method is `target`. A tensor must have the target's
// dtype, rank and dim order; its shape may be smaller if the target's is dynamic. Elements are copied to a
// planned target; otherwise the target uses the memory of `value`, which must then outlive the execution. A
// number must equal the one of the export, because the graph was specialised for it. Errors: InvalidArgument
// (shape, dim order, number, no memory to copy from), InvalidType (kind, dtype), NotSupported (kind of
// value).
inline Error set_value(size_t index, const EValue& target, const EValue& value) {
  RL_CHECK(target.tag == value.tag, Error::InvalidType, "input %lu: expected %s, got %s", log_number(index),
           to_string(target.tag), to_string(value.tag));
  if (target.is_tensor()) {
    return internal::set_tensor(index, target.payload.as_tensor.impl(), value.to_tensor());
  }
  if (target.is_number()) {
    RL_CHECK(same_number(target, value), Error::InvalidArgument,
             "input %lu: the program was exported with another number", log_number(index));
    return Error::Ok;
  }
  RL_CHECK(target.is_none(), Error::NotSupported, "input %lu: a %s cannot be set", log_number(index),
           to_string(target.tag));
  return Error::Ok;
}

// Sets the memory of output `index`, a tensor that the program left unplanned. `memory` must hold the largest
// shape (numel_bound() elements) and outlive its use. Errors: InvalidArgument (too few bytes), InvalidType
// (not a tensor), InvalidState (planned by the program, or a constant). A later call replaces the memory.
inline Error set_output_memory(size_t index, const EValue& value, Span<uint8_t> memory) {
  RL_CHECK(value.is_tensor(), Error::InvalidType, "output %lu: expected a Tensor, got %s", log_number(index),
           to_string(value.tag));
  TensorImpl* tensor = value.payload.as_tensor.impl();
  RL_CHECK(tensor->storage() != Storage::Planned && tensor->storage() != Storage::Constant,
           Error::InvalidState, "output %lu: its memory is planned", log_number(index));
  const size_t needed = tensor->numel_bound() * element_size(tensor->scalar_type());
  RL_CHECK(memory.size() >= needed, Error::InvalidArgument, "output %lu: expected %lu bytes, got %lu",
           log_number(index), log_number(needed), log_number(memory.size()));
  tensor->set_data(memory.data(), Storage::Given);
  return Error::Ok;
}

}  // namespace rushlight
