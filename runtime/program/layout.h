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

namespace rushlight {

struct PlanCounts {
  size_t values = 0;
  size_t tensors = 0;
  size_t dims = 0;          // of all tensors: one stride each
  size_t dynamic_dims = 0;  // of tensors whose sizes change
  size_t ints = 0;          // items of all integer lists
  size_t int_lists = 0;
  size_t list_tensors = 0;  // items of all tensor lists
  size_t tensor_lists = 0;
  size_t optional_tensors = 0;  // items of all lists of optional tensors
  size_t optional_tensor_lists = 0;
  size_t operators = 0;
  size_t max_arguments = 0;
  size_t delegates = 0;
  size_t compile_specs = 0;  // of all delegates
  size_t externals = 0;      // tensors whose data lies outside the program
};

// What lies in a method's arena, in this order.
enum class ArenaPart : uint8_t {
  Values,
  Tensors,
  IntLists,
  IntListValues,
  IntListItems,
  TensorLists,
  TensorListValues,
  TensorListItems,
  OptionalTensorLists,
  OptionalTensorListValues,
  OptionalTensorListItems,
  Kernels,
  Delegates,
  CompileSpecs,
  ExternalData,
  Arguments,
  Strides,
  Sizes,
};
inline constexpr size_t kArenaParts = 18;

// Bytes that one element of a part takes where pointers have `pointer` bytes (4 or 8); the executor
// asserts that its types are of these sizes. Elements are aligned to 8 if they are values or int64,
// and else to the smaller of their size and `pointer`.
constexpr size_t arena_element_size(ArenaPart part, size_t pointer) {
  switch (part) {
    case ArenaPart::Values:
      return 16;
    case ArenaPart::Tensors:
      return 7 * pointer;
    case ArenaPart::IntLists:
    case ArenaPart::TensorLists:
    case ArenaPart::OptionalTensorLists:
    case ArenaPart::OptionalTensorListItems:
      return 2 * pointer;
    case ArenaPart::IntListItems:
      return sizeof(int64_t);
    case ArenaPart::Delegates:
      return 6 * pointer;
    case ArenaPart::CompileSpecs:
      return 3 * pointer;
    case ArenaPart::ExternalData:
      return 4 * pointer;
    case ArenaPart::Strides:
    case ArenaPart::Sizes:
      return sizeof(int32_t);
    default:
      return pointer;
  }
}

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
