// SPDX-License-Identifier: BSD-3-Clause
// The values of a loaded method: kept in its arena or, in compact methods, rebuilt from the program for each
// call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/program/flatbuffer.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// A bit per value that is 1 for tensors, for 32 consecutive values, and the number of tensors before them.
struct TensorRank {
  uint32_t bits;
  uint32_t before;
};

// Memory for the lists of one kind that the arguments of a call hold.
template <class Item>
struct ListMemory {
  BoxedList<Item>* lists = nullptr;
  Item* items = nullptr;
};

// A view of the program's values and of the arena.
class MethodValues {
 public:
  // Parts of the arena. `kept` is null in a compact method (runtime/program/layout.h).
  struct ValueTables {
    EValue* kept = nullptr;
    EValue* made = nullptr;  // as many as the longest argument list has
    TensorImpl* tensors = nullptr;
    TensorRank* ranks = nullptr;
    ListMemory<int64_t> ints;
    ListMemory<Tensor> tensor_lists;
    ListMemory<std::optional<Tensor>> optional_tensor_lists;
  };

  MethodValues() = default;
  MethodValues(flatbuffer::TableVector values, const ValueTables& value_tables)
      : values_(values), value_tables_(value_tables) {}

  [[nodiscard]] const ValueTables& value_tables() const { return value_tables_; }

  // The tensor of the value with index `index`.
  [[nodiscard]] Tensor tensor(size_t index) const;

  // Builds a value from the program. A list of values keeps the indices of its items, for gather().
  [[nodiscard]] EValue make(size_t index) const;

  // Points `arguments` to the values of a call. Lists, and all values of a compact method, are valid until
  // the next call.
  void gather(Span<const int32_t> indices, EValue** arguments) const;

 private:
  // The kind of a value, and its content: the fields of an entry of `values_`.
  using Entry = flatbuffer::FieldPair;

  // True if values are made for each call.
  [[nodiscard]] bool is_compact() const;
  [[nodiscard]] flatbuffer::Table content_of(size_t index, Entry* entry) const;
  [[nodiscard]] EValue make(size_t index, Entry* entry) const;
  [[nodiscard]] EValue get(size_t index, Entry* entry) const;
  EValue fill(const EValue& list, ValueTables* value_tables, Entry* entry) const;

  flatbuffer::TableVector values_;
  ValueTables value_tables_;
};

}  // namespace rushlight
