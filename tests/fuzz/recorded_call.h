// SPDX-License-Identifier: BSD-3-Clause
// Valid calls of operators, as record_calls.py wrote them: the starting points of edits_of() and plans_of().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/kernel/operator_table.h"

namespace rushlight::fuzz {

// A tensor with its elements; `order` is the dim order.
struct CallTensor {
  ScalarType type = ScalarType::Float;
  std::vector<SizesType> sizes;
  std::vector<DimOrderType> order;
  std::vector<uint8_t> bytes;  // repeated or cut to the size of the tensor

  // The size of its elements in bytes; SIZE_MAX for sizes that no tensor has.
  [[nodiscard]] size_t nbytes() const;
};

// An argument; `kind` tells which members are valid.
struct CallValue {
  enum class Kind : uint8_t { None, Tensor, Int, Double, Bool, String, List };

  Kind kind = Kind::None;
  CallTensor tensor;
  int64_t number = 0;  // an Int, or a Bool
  double real = 0;
  std::string text;
  std::vector<CallValue> items;
};

// The operator's name with its overload, and its arguments in the schema's order, outputs last.
struct RecordedCall {
  std::string name;
  std::vector<CallValue> arguments;

  // A tensor of the call, and whether the kernel writes to it.
  struct Named {
    CallTensor* tensor;
    bool is_written;
  };
  // All tensors, including those in lists, in order.
  [[nodiscard]] std::vector<Named> tensors(const KernelEntry& kernel);
};

// The calls of calls.bin whose operators this build has.
const std::vector<RecordedCall>& recorded_calls();

}  // namespace rushlight::fuzz
