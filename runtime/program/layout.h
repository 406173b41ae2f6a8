// SPDX-License-Identifier: BSD-3-Clause
// Computes the exact size of a method's arena. One pass over the values counts the elements of each part and
// verifies every tensor and list; the executor then uses the same counts to lay the parts out.
//
// The parts and the sizes of their elements are data, generated from python/rushlight/program/arena.py, so
// that Python can state a method's memory before it is loaded, also for targets with another pointer size.
// The executor asserts that its types have these sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/program/arena_parts.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/tensor_layout.h"
#include "runtime/tensor/tensor.h"

// Enables compact methods on 64-bit hosts, for tests.
#ifndef RUSHLIGHT_COMPACT_METHODS
#define RUSHLIGHT_COMPACT_METHODS 0
#endif

namespace rushlight {

// Bytes of one element of `part` on a target with pointers of `pointer` bytes (4 or 8).
constexpr size_t arena_element_size(ArenaPart part, size_t pointer) {
  const ElementSize size = kElementSizes[static_cast<size_t>(part)];
  return size.pointers * pointer + size.bytes;
}

// Alignment of `part` in bytes.
constexpr size_t arena_element_alignment(ArenaPart part, size_t pointer) {
  if ((kWideParts >> static_cast<unsigned>(part) & 1) != 0) return 8;
  const size_t size = arena_element_size(part, pointer);
  return size < pointer ? size : pointer;
}

// The number of elements of each part.
struct PlanCounts {
  // True if the calls write only tensors, and there are no moves or jumps: every other value is then
  // constant.
  bool plain = true;
  size_t of[kArenaParts] = {};

  size_t& operator[](ArenaPart part) { return of[static_cast<size_t>(part)]; }
  size_t operator[](ArenaPart part) const { return of[static_cast<size_t>(part)]; }
};

// Returns true if the arenas of plain methods are compact: they hold only tensors, inputs and outputs, and
// the arguments of each call are rebuilt from the program. That halves the arena and costs up to 10 ns per
// argument. Targets with 64 bits therefore keep all values, and so do methods that are not plain.
constexpr bool is_compact(size_t pointer) {
  return pointer == kCompactPointer || RUSHLIGHT_COMPACT_METHODS != 0;
}
inline constexpr bool kCompact = is_compact(sizeof(void*));

// Offsets of the parts in the arena and its total size, in bytes.
struct ArenaLayout {
  uint64_t offset[kArenaParts];
  uint64_t size;
};

// Lays the parts out. The arena must be aligned to 8 bytes.
ArenaLayout lay_out_arena(const PlanCounts& counts, size_t pointer);

// A verified tensor of the file.
struct TensorView {
  TensorLayout layout;
  TensorShapeDynamism dynamism;
  bool is_external;  // its data is in a data file, under its fully qualified name
};

// Reads and verifies a tensor's description. Errors: InvalidProgram, NotSupported (layout, device, storage
// offset).
Error read_tensor(flatbuffer::Table tensor, TensorView* view);

// Verifies a plan and counts its elements. After Ok every value has a kind, every tensor is valid, and every
// index in lists, inputs, outputs and instructions names an existing object of the right kind. Errors:
// InvalidProgram, NotSupported.
Error count_plan(flatbuffer::Table plan, PlanCounts* counts);

}  // namespace rushlight
