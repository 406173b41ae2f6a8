// SPDX-License-Identifier: BSD-3-Clause
// A view describes elements in memory by sizes and strides, and need not be dense as a tensor is: slices,
// permutations and expansions are views. Operators that select or reorder elements build a view of the input
// and copy it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Does not own the elements. `data` may be null if there are none. Strides may be negative (a flipped
// dimension) or 0.
struct View {
  char* data;
  ScalarType type;
  size_t dim;
  SizesType sizes[kTensorDimensionLimit];
  ptrdiff_t strides[kTensorDimensionLimit];  // in bytes; 0 repeats an element

  // All elements of a tensor, with its rank. Elements of a const tensor must only be read.
  [[nodiscard]] static View of(const Tensor& tensor);
  // Contiguous row-major elements of shape `sizes` from `data` on. Sizes of 0 count as 1 for the strides.
  [[nodiscard]] static View row_major(void* data, ScalarType type, Span<const SizesType> sizes);

  // These modify the view and return *this. Preconditions: dimensions and positions exist; insert() needs a
  // rank below kTensorDimensionLimit. They compute addresses only.
  View& select(size_t d, ptrdiff_t index);  // removes the dimension
  // The elements start, start + step, ... of dimension d. A length of 0 leaves the address as it is.
  View& slice(size_t d, ptrdiff_t start, ptrdiff_t length, ptrdiff_t step = 1);
  View& insert(size_t d, SizesType size, ptrdiff_t stride);  // a new dimension before d
  View& swap(size_t a, size_t b);
};

// The fewest nested loops over the pairs of elements of two views of one shape. Ordered by the strides of the
// target, innermost first, so that memory is written in ascending order. Merges loops whose strides continue
// in both views. Dimensions of size 1 are dropped. Keeps addresses, not the views.
class PairedLoops {
 public:
  struct Loop {
    ptrdiff_t size;
    ptrdiff_t target;  // strides in bytes
    ptrdiff_t source;
  };

  // Precondition: equal sizes. The views may have different dtypes.
  PairedLoops(const View& target, const View& source);

  // The loops, innermost first; none if the views have no element, one of size 1 if they have one.
  [[nodiscard]] Span<const Loop> loops() const { return {loops_, dim_}; }

  // Exchanges the two innermost loops if the inner one has fewer than 8 steps and the other has more. Writes
  // then have strides, which costs nothing on cores without caches, and fewer calls are needed.
  void lengthen_spans();

  // Calls run(target, source, loop) with char pointers for every span of the innermost loop: loop.size
  // elements, loop.target and loop.source bytes apart.
  template <class Run>
  void for_each_span(Run run) const {
    if (dim_ == 0) return;
    char* target = target_;
    const char* source = source_;
    ptrdiff_t index[kTensorDimensionLimit] = {};
    while (true) {
      run(target, source, loops_[0]);
      size_t d = 1;
      for (; d < dim_; ++d) {
        const Loop& loop = loops_[d];
        target += loop.target;
        source += loop.source;
        if (++index[d] < loop.size) break;
        target -= loop.target * loop.size;
        source -= loop.source * loop.size;
        index[d] = 0;
      }
      if (d >= dim_) return;
    }
  }

 private:
  // insert(): keeps the loops sorted by the target's stride. merge(): joins loops that continue each other.
  void insert(const Loop& loop);
  void merge();

  char* target_;
  const char* source_;
  Loop loops_[kTensorDimensionLimit];
  size_t dim_ = 0;  // 0 if the views have no element
};

}  // namespace rushlight::kernels
