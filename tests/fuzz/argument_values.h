// SPDX-License-Identifier: BSD-3-Clause
// Arguments for a kernel, by the characters of its signature. Values are mostly plausible (small shapes,
// small integers, one dtype for all tensors) and sometimes extreme, because wholly random arguments fail at
// the first check.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/tensor/evalue.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/heap.h"
#include "tests/fuzz/inputs.h"
#include "tests/fuzz/list_storage.h"

namespace rushlight::fuzz {

// The dtype of tensors that the operator writes: as of the first tensor read, a fixed one, or any.
enum class WrittenType : uint8_t { First, Bool, Long, Any };

// Owns all that it creates, in memory of exact size. `choices` must outlive it.
class ArgumentValues {
 public:
  // Written tensors have this rank and usually a dynamic shape.
  ArgumentValues(Choices& choices, WrittenType type, size_t rank);

  // Creates the next argument for the signature character `code`; an optional is None in half of the cases.
  // Null if there is no memory for it, or the character is unknown.
  EValue* make(char code);

 private:
  bool make_value(char kind, EValue* value);
  bool make_list(char kind, EValue* value);
  // A tensor of the call's shape and dtype, with a random change: another size, rank, dim order or dtype.
  bool read_tensor(EValue* value);
  bool written_tensor(EValue* value);
  // Small values, or limits of the integer types; infinities and NaN among the doubles.
  int64_t integer();
  double real();
  EValue number();
  EValue* keep(const EValue& value);

  Choices& choices_;
  WrittenType written_;
  size_t rank_;
  Heap heap_;
  Inputs tensors_;
  ScalarType dtype_;
  std::vector<SizesType> shape_;
  std::deque<EValue> values_;
  std::deque<ListStorage> lists_;
};

}  // namespace rushlight::fuzz
