// SPDX-License-Identifier: BSD-3-Clause
// The values of a loaded method: kept in its arena, or made from the program for the call that names them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/program/flatbuffer.h"
#include "runtime/tensor/evalue.h"

namespace rushlight {

// Which of 32 values in a row are tensors, and how many tensors come before them.
struct TensorRank {
  uint32_t bits;
  uint32_t before;
};

// Memory for the lists of one kind in the arguments of one call.
template <class Item>
struct ListMemory {
  BoxedList<Item>* lists = nullptr;
  Item* items = nullptr;
};

class MethodValues {
 public:
  // What lies in the arena; `kept` is null in a compact method (runtime/program/layout.h).
  struct Places {
    EValue* kept = nullptr;
    EValue* made = nullptr;  // as many as the longest call has arguments
    TensorImpl* tensors = nullptr;
    TensorRank* ranks = nullptr;
    ListMemory<int64_t> ints;
    ListMemory<Tensor> tensor_lists;
    ListMemory<std::optional<Tensor>> optional_tensor_lists;
  };

  MethodValues() = default;
  MethodValues(flatbuffer::TableVector values, const Places& places) : values_(values), places_(places) {}

  [[nodiscard]] const Places& places() const { return places_; }

  // The tensor that value `index` is.
  [[nodiscard]] Tensor tensor(size_t index) const;

  // The value as the program has it. A list of values stays a list of their numbers, for gather().
  [[nodiscard]] EValue make(size_t index) const;

  // Points `arguments` at the values of a call. Lists, and all values of a compact method, are good until the
  // next call.
  void gather(Span<const int32_t> indices, EValue** arguments) const;

 private:
  [[nodiscard]] EValue get(size_t index) const;
  EValue fill(const EValue& list, Places* places) const;

  flatbuffer::TableVector values_;
  Places places_;
};

}  // namespace rushlight
