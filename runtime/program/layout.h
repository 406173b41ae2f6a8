// SPDX-License-Identifier: BSD-3-Clause
// How much of each thing a method holds: one walk over its values, which also proves that every
// tensor and list in it is sound. Counting and placing use the same numbers, so the arena's size is
// known exactly before anything is placed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/tensor_layout.h"
#include "runtime/tensor/tensor.h"

// For tests, of compact methods on machines with 64 bits.
#ifndef RUSHLIGHT_COMPACT_METHODS
#define RUSHLIGHT_COMPACT_METHODS 0
#endif

namespace rushlight {

// What lies in a method's arena, in this order.
enum class ArenaPart : uint8_t {
  Values,       // of a method that is not compact
  Ends,         // inputs and outputs, of a compact one
  Made,         // as many as the longest call has arguments
  Tensors,      // all
  TensorRanks,  // one for 32 values
  // Lists of values, and their items: the most that any call names.
  IntLists,
  IntListItems,
  TensorLists,
  TensorListItems,
  OptionalTensorLists,
  OptionalTensorListItems,
  Kernels,  // one for each operator
  Delegates,
  CompileSpecs,  // of all delegates
  ExternalData,  // tensors whose data lies outside the program
  Arguments,     // as many as the longest call has
  Strides,       // of all tensors, one a dimension
  Sizes,         // of tensors whose sizes change
};
inline constexpr size_t kArenaParts = 18;

// What one element takes: pointers, and bytes besides. The executor asserts that its types are of these
// sizes.
struct ElementSize {
  uint8_t pointers;
  uint8_t bytes;
};
inline constexpr ElementSize kElementSizes[kArenaParts] = {
    {0, 16}, {0, 16}, {0, 16}, {7, 0}, {0, 8}, {2, 0}, {0, 8}, {2, 0}, {1, 0},
    {2, 0},  {2, 0},  {1, 0},  {6, 0}, {3, 0}, {4, 0}, {1, 0}, {0, 4}, {0, 4},
};

// Bytes that one element of a part takes where pointers have `pointer` bytes (4 or 8). It is aligned to 8 if
// it is a value or an int64, and else to the smaller of its size and `pointer`.
constexpr size_t arena_element_size(ArenaPart part, size_t pointer) {
  const ElementSize size = kElementSizes[static_cast<size_t>(part)];
  return size.pointers * pointer + size.bytes;
}

// How many elements each part has.
struct PlanCounts {
  // Its calls write tensors only, and nothing moves or jumps: all but tensors is constant.
  bool plain = true;
  size_t of[kArenaParts] = {};

  size_t& operator[](ArenaPart part) { return of[static_cast<size_t>(part)]; }
  size_t operator[](ArenaPart part) const { return of[static_cast<size_t>(part)]; }
};

// Whether the arena of a plain method is compact: then only its tensors, inputs and outputs stay there, and
// the arguments of a call are made from the program. That halves the arena and costs up to 10 ns an argument,
// so machines with 64 bits keep all values, as other methods do everywhere.
constexpr bool is_compact(size_t pointer) { return pointer == 4 || RUSHLIGHT_COMPACT_METHODS != 0; }
inline constexpr bool kCompact = is_compact(sizeof(void*));

struct ArenaLayout {
  uint64_t offset[kArenaParts];
  uint64_t size;
};

// Where each part starts, in bytes, and the size of all; the arena starts at a multiple of 8.
ArenaLayout lay_out_arena(const PlanCounts& counts, size_t pointer);

// A tensor of the file, proven sound.
struct TensorView {
  TensorLayout layout;
  TensorShapeDynamism dynamism;
  bool is_external;  // its data is in a data file, under its fully qualified name
};

// Errors: InvalidProgram naming what is wrong.
Error read_tensor(flatbuffer::Table tensor, TensorView* view);

// Error: InvalidProgram. After Ok every value has a kind, every tensor is sound, every list item and
// every index in inputs, outputs and instructions names an existing thing of the right kind.
Error count_plan(flatbuffer::Table plan, PlanCounts* counts);

}  // namespace rushlight
