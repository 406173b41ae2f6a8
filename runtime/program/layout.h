// SPDX-License-Identifier: BSD-3-Clause
// How much of each thing a method holds: one walk over its values, which also proves that every
// tensor and list in it is sound. Counting and placing use the same numbers, so the arena's size is
// known exactly before anything is placed.
//
// The parts of an arena and the sizes of their elements are data, generated from the table in
// python/rushlight/program/arena.py: a program says what its methods take before one is loaded, for machines
// with other pointers too. The executor, which has the types of the elements, asserts that they have these
// sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/program/arena_parts.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/tensor_layout.h"
#include "runtime/tensor/tensor.h"

// For tests, of compact methods on machines with 64 bits.
#ifndef RUSHLIGHT_COMPACT_METHODS
#define RUSHLIGHT_COMPACT_METHODS 0
#endif

namespace rushlight {

// Bytes that one element of a part takes where pointers have `pointer` bytes (4 or 8).
constexpr size_t arena_element_size(ArenaPart part, size_t pointer) {
  const ElementSize size = kElementSizes[static_cast<size_t>(part)];
  return size.pointers * pointer + size.bytes;
}

// What a part starts at a multiple of.
constexpr size_t arena_element_alignment(ArenaPart part, size_t pointer) {
  if ((kWideParts >> static_cast<unsigned>(part) & 1) != 0) return 8;
  const size_t size = arena_element_size(part, pointer);
  return size < pointer ? size : pointer;
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
constexpr bool is_compact(size_t pointer) {
  return pointer == kCompactPointer || RUSHLIGHT_COMPACT_METHODS != 0;
}
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
