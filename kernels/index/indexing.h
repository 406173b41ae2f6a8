// SPDX-License-Identifier: BSD-3-Clause
// Advanced indexing, as in self[:, i, mask]: integer tensors and masks that broadcast against each other, and
// whole dimensions without an index. The portable method, element by element or span by span.
//
//   Indexing indexing;
//   RL_TRY(indexing.plan(self, indices));
//   RL_TRY(resize_out(out, indexing.result().span()));
//   return indexing.run(self, View::of(out), Indexing::kRead, copy_elements);
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/checks/checks.h"
#include "kernels/walk/paired_axes.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The plan of one call. Holds pointers to the index tensors, but none to `self`: run() takes any tensor of
// the planned shape.
class Indexing {
 public:
  enum Direction : uint8_t { kRead, kWrite };

  // Moves a span of n elements; has the parameters of copy_elements().
  using Move = void (*)(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                        size_t n, size_t element);

  // Checks shapes and dtypes. Precondition: `indices` outlive the plan. Errors: InvalidArgument (shapes),
  // InvalidType (dtype of an index). Cost: one pass over masks.
  Error plan(const Tensor& self, Span<const std::optional<Tensor>> indices);

  // The shape of the selection.
  [[nodiscard]] const Shape& result() const { return result_; }

  // Moves every selected element of `self`, which has the planned shape, to its position in `selected`, which
  // has the shape of the result; kWrite moves in the other direction. Indices are checked as they are used:
  // InvalidArgument, naming index and bound, if one is out of range.
  Error run(const Tensor& self, const View& selected, Direction direction, Move move);

 private:
  // One index tensor. A mask counts as the list of its true elements, in row-major order.
  struct Item {
    const Tensor* index;
    SizesType size;  // of its last broadcast dimension; of a mask, the number of true elements
    uint8_t dim;     // first dimension of self that it covers
    bool is_mask;
    size_t position;  // mask only: current true element, row-major
    const char* at;   // integers only: the next index of the last broadcast dimension, and its stride
    ptrdiff_t stride;
  };

  // add(): appends an item and broadcasts its shape. plan_result(): PyTorch's rule for the position of the
  // broadcast dimensions. offset_of(): adds the bytes that an item selects at a broadcast position.
  Error add(const Tensor& self, const Tensor& index, size_t dim);
  Error plan_result(const Tensor& self);
  Error offset_of(Item& item, const Tensor& self, const SizesType* at, ptrdiff_t* offset) const;

  Item items_[kTensorDimensionLimit];
  size_t count_ = 0;
  uint32_t indexed_ = 0;  // bit set of the dimensions of self that an index covers
  Shape broadcast_;
  Shape result_;
  size_t front_ = 0;  // first broadcast dimension in the result
};

}  // namespace rushlight::kernels
