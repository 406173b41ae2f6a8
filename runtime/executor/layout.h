// SPDX-License-Identifier: BSD-3-Clause
// How much of each thing a method holds: one walk over its values, which also proves that every
// tensor and list in it is sound. Counting and placing use the same numbers, so the arena's size is
// known exactly before anything is placed.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"
#include "runtime/program/flatbuffer.h"
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
};

// A tensor of the file, proven sound.
struct TensorView {
  ScalarType scalar_type;
  TensorShapeDynamism dynamism;
  Span<const SizesType> sizes;
  Span<const DimOrderType> dim_order;
  size_t nbytes;
};

// Errors: InvalidProgram naming what is wrong.
Error read_tensor(flatbuffer::Table tensor, TensorView* view);

// Error: InvalidProgram. After Ok every value has a kind, every tensor is sound, every list item and
// every index in inputs, outputs and instructions names an existing thing of the right kind.
Error count_plan(flatbuffer::Table plan, PlanCounts* counts);

}  // namespace rushlight
