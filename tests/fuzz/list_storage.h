// SPDX-License-Identifier: BSD-3-Clause
// The elements of a list argument, in the vector that belongs to the list's kind. Lists of integers and
// tensors are boxed: a kernel gathers `values` into the other vector, so both are needed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/tensor/evalue.h"

namespace rushlight::fuzz {

// Must not move after box(), which stores addresses of its members.
struct ListStorage {
  std::vector<EValue*> values;  // one for each element, whatever the kind
  std::vector<int64_t> ints;
  std::vector<Tensor> tensors;
  std::vector<std::optional<Tensor>> optional_tensors;
  std::vector<double> doubles;
  std::vector<uint8_t> bools;
  // The objects to which a boxed list's value points.
  BoxedList<int64_t> int_list{};
  BoxedList<Tensor> tensor_list{};
  BoxedList<std::optional<Tensor>> optional_tensor_list{};

  // Makes `value` the list of `values`, by the character of its kind: n (int), f (double), o (bool), p
  // (optional tensors), any other (tensors).
  void box(char kind, EValue* value) {
    value->length = static_cast<uint32_t>(values.size());
    switch (kind) {
      case 'n':
        ints.resize(values.size());
        int_list = {values.data(), ints.data()};
        value->payload.as_int_list = &int_list;
        value->tag = Tag::ListInt;
        break;
      // Lists of doubles and bools are stored as they are, without values of their items.
      case 'f':
        value->payload.as_double_list = doubles.data();
        value->tag = Tag::ListDouble;
        break;
      case 'o':
        value->payload.as_bool_list = reinterpret_cast<const bool*>(bools.data());
        value->tag = Tag::ListBool;
        break;
      case 'p':
        optional_tensors.resize(values.size());
        optional_tensor_list = {values.data(), optional_tensors.data()};
        value->payload.as_optional_tensor_list = &optional_tensor_list;
        value->tag = Tag::ListOptionalTensor;
        break;
      default:
        // Null until the kernel gathers the values.
        tensors.resize(values.size(), Tensor(nullptr));
        tensor_list = {values.data(), tensors.data()};
        value->payload.as_tensor_list = &tensor_list;
        value->tag = Tag::ListTensor;
        break;
    }
  }
};

}  // namespace rushlight::fuzz
