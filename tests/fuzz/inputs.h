// SPDX-License-Identifier: BSD-3-Clause
// Inputs for a method: usually as its metadata requires, sometimes others.
#pragma once

#include <deque>
#include <vector>

#include "runtime/program/method_meta.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/heap.h"

namespace rushlight::fuzz {

// Fills elements of a type with values of one kind: random bytes, zeros, ones, or small integers (most
// often), which are valid indices, too. Bool elements are 0 or 1 except among random bytes.
void fill(Span<uint8_t> memory, ScalarType type, Choices& choices);

// Owns the tensors that it creates; their elements are blocks of the heap.
class Inputs {
 public:
  Inputs(Heap& heap, Choices& choices) : heap_(heap), choices_(choices) {}

  // A value for input `index`: its kind, dtype and shape as in `meta`, a dynamic one smaller, and each of
  // these wrong in one of 64 cases. False if none can be created.
  bool make(const MethodMeta& meta, size_t index, EValue* value);

  // A tensor with memory of exactly its size and values from fill(). False if that is too much, or for a
  // shape, dim order or dtype that no tensor has.
  bool make_tensor(ScalarType type, Span<const SizesType> sizes, Span<const DimOrderType> dim_order,
                   TensorShapeDynamism dynamism, EValue* value);

 private:
  struct Owned {
    std::vector<SizesType> sizes;
    std::vector<DimOrderType> dim_order;
    std::vector<StridesType> strides;
    std::vector<TensorImpl> impl;  // one, once the other fields are set
  };

  Heap& heap_;
  Choices& choices_;
  std::deque<Owned> owned_;
};

}  // namespace rushlight::fuzz
