// SPDX-License-Identifier: BSD-3-Clause
// What a method's values become while it runs: an input takes its value, a condition is read. The same for
// programs that are interpreted and for baked ones.
#pragma once

#include <cstring>

#include "runtime/base/log.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// Whether the tensor's elements can be read: it has memory, or none of them.
inline bool has_memory(const TensorImpl& tensor) { return tensor.data() != nullptr || tensor.numel() == 0; }

inline bool is_one_bool(const TensorImpl& tensor) {
  return tensor.scalar_type() == ScalarType::Bool && tensor.numel() == 1 && has_memory(tensor);
}

// Of a condition: a number, or a tensor that is_one_bool().
inline bool is_false(const EValue& condition) {
  if (condition.is_tensor()) return *condition.to_tensor().const_data_ptr<uint8_t>() == 0;
  return condition.is_double() ? condition.to_double() == 0 : condition.to_int() == 0;
}

// Whether two numbers of one kind have the same bits.
inline bool same_number(const EValue& a, const EValue& b) {
  if (a.is_double()) return std::memcmp(&a.payload.as_double, &b.payload.as_double, sizeof(double)) == 0;
  return a.to_int() == b.to_int();
}

namespace internal {

inline bool same_order(Span<const DimOrderType> a, Span<const DimOrderType> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// Two dim orders may describe the same bytes: dimensions of size 1 can stand anywhere.
inline bool same_layout(const Tensor& a, const Tensor& b) {
  if (same_order(a.dim_order(), b.dim_order())) return true;
  for (ptrdiff_t d = 0; d < a.dim(); ++d) {
    const auto i = static_cast<size_t>(d);
    if (a.size(d) != 1 && a.strides()[i] != b.strides()[i]) return false;
  }
  return true;
}

inline Error set_tensor(size_t index, TensorImpl* target, const Tensor& source) {
  RL_CHECK(source.scalar_type() == target->scalar_type(), Error::InvalidType,
           "input %lu: expected dtype %s, got %s", log_number(index), to_string(target->scalar_type()),
           to_string(source.scalar_type()));
  const bool lent = target->storage() != Storage::Planned;
  if (lent) target->set_data(nullptr, Storage::Lent);  // what follows may fail after it has resized
  RL_CHECK(target->resize(source.sizes()) == Error::Ok, Error::InvalidArgument,
           "input %lu: its shape does not fit the program's", log_number(index));
  RL_CHECK(same_layout(Tensor(target), source), Error::InvalidArgument,
           "input %lu: its dim order is not the program's", log_number(index));
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

// Gives input `index` its value. A tensor has the dtype and dim order of the target; its shape may be smaller
// where the target's is dynamic. A planned target is copied to, another uses the memory of `value`. A number
// must equal the one that the program was exported with.
// Errors: InvalidArgument (shape, number, no memory to copy from), InvalidType (kind, dtype), NotSupported.
inline Error set_value(size_t index, const EValue& target, const EValue& value) {
  RL_CHECK(target.tag == value.tag, Error::InvalidType, "input %lu: expected %s, got %s", log_number(index),
           to_string(target.tag), to_string(value.tag));
  if (target.is_tensor()) {
    return internal::set_tensor(index, target.payload.as_tensor.impl(), value.to_tensor());
  }
  if (target.is_number()) {
    RL_CHECK(same_number(target, value), Error::InvalidArgument,
             "input %lu: the program was exported for another value of this number", log_number(index));
    return Error::Ok;
  }
  RL_CHECK(target.is_none(), Error::NotSupported, "input %lu: a %s cannot be set", log_number(index),
           to_string(target.tag));
  return Error::Ok;
}

// Memory for output `index`, a tensor that the program left unplanned; it holds the largest shape.
// Errors: InvalidArgument (too few bytes), InvalidType (no tensor), InvalidState (planned).
inline Error set_output_memory(size_t index, const EValue& value, Span<uint8_t> memory) {
  RL_CHECK(value.is_tensor(), Error::InvalidType, "output %lu: a %s has no memory of its own",
           log_number(index), to_string(value.tag));
  TensorImpl* tensor = value.payload.as_tensor.impl();
  RL_CHECK(tensor->storage() != Storage::Planned && tensor->storage() != Storage::Constant,
           Error::InvalidState, "output %lu: the program has planned its memory", log_number(index));
  const size_t needed = tensor->numel_bound() * element_size(tensor->scalar_type());
  RL_CHECK(memory.size() >= needed, Error::InvalidArgument, "output %lu: needs %lu bytes, %lu were given",
           log_number(index), log_number(needed), log_number(memory.size()));
  tensor->set_data(memory.data(), Storage::Given);
  return Error::Ok;
}

}  // namespace rushlight
