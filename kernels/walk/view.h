// SPDX-License-Identifier: BSD-3-Clause
// A view describes elements in memory by sizes and strides, free of the rule that a tensor is dense:
// slices, permutations and expansions are views of a tensor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

struct View {
  char* data;
  ScalarType type;
  size_t dim;
  SizesType sizes[kTensorDimensionLimit];
  ptrdiff_t strides[kTensorDimensionLimit];  // in bytes; 0 repeats an element

  // A tensor's elements where they are. What is reached through a const tensor is only read.
  [[nodiscard]] static View of(const Tensor& tensor);
  // Elements of shape `sizes` that lie row major from `data` on.
  [[nodiscard]] static View row_major(void* data, ScalarType type, Span<const SizesType> sizes);

  // Each returns *this. Callers have checked that dimensions and positions exist.
  View& select(size_t d, ptrdiff_t index);  // removes the dimension
  View& slice(size_t d, ptrdiff_t start, ptrdiff_t length, ptrdiff_t step = 1);
  View& insert(size_t d, SizesType size, ptrdiff_t stride);  // a new dimension before d
  View& swap(size_t a, size_t b);
};

// Two views of the same shape, as the fewest nested loops that visit the same pairs of elements. The
// innermost comes first; the order is that of the target, so that memory is written in one direction.
class PairedLoops {
 public:
  struct Loop {
    ptrdiff_t size;
    ptrdiff_t target;  // strides in bytes
    ptrdiff_t source;
  };

  PairedLoops(const View& target, const View& source);

  // The loops, innermost first; none when there is no element.
  [[nodiscard]] Span<const Loop> loops() const { return {loops_, dim_}; }

  // Makes short runs long: exchanges the two innermost loops where the inner one has few elements. Memory is
  // then written with steps, which costs cores without caches nothing.
  void lengthen_runs();

  // Calls run(target, source, loop) with char pointers for every run of the innermost loop.
  template <class Run>
  void for_each_run(Run run) const {
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
  void insert(const Loop& loop);
  void merge();

  char* target_;
  const char* source_;
  Loop loops_[kTensorDimensionLimit];
  size_t dim_ = 0;  // 0 when there is no element
};

}  // namespace rushlight::kernels
