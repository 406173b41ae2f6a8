// SPDX-License-Identifier: BSD-3-Clause
// PairedLoops sorts dimensions by the target's stride (insertion sort: few dimensions) and merges those whose
// strides continue in both views.
#include "kernels/walk/view.h"

#include "runtime/base/assert.h"

namespace rushlight::kernels {

View View::of(const Tensor& tensor) {
  View view;
  view.data = tensor.mutable_data_ptr<char>();
  view.type = tensor.scalar_type();
  view.dim = static_cast<size_t>(tensor.dim());
  const auto element = static_cast<ptrdiff_t>(tensor.element_size());
  for (size_t d = 0; d < view.dim; ++d) {
    view.sizes[d] = tensor.sizes()[d];
    view.strides[d] = tensor.strides()[d] * element;
  }
  return view;
}

View View::row_major(void* data, ScalarType type, Span<const SizesType> sizes) {
  View view;
  view.data = static_cast<char*>(data);
  view.type = type;
  view.dim = sizes.size();
  auto stride = static_cast<ptrdiff_t>(element_size(type));
  for (size_t d = view.dim; d-- > 0;) {
    view.sizes[d] = sizes[d];
    view.strides[d] = stride;
    stride *= sizes[d] > 1 ? sizes[d] : 1;
  }
  return view;
}

// Removes the dimension; the order of the others stays.
View& View::select(size_t d, ptrdiff_t index) {
  RL_DCHECK(d < dim);
  if (data != nullptr) data += strides[d] * index;
  // With swaps, because compilers replace a shift by a call of memmove, which many boards do not use
  // otherwise.
  for (size_t i = d; i + 1 < dim; ++i) swap(i, i + 1);
  --dim;
  return *this;
}

// An empty slice keeps the address, since its start may be behind the last element.
View& View::slice(size_t d, ptrdiff_t start, ptrdiff_t length, ptrdiff_t step) {
  RL_DCHECK(d < dim);
  if (data != nullptr && length > 0) data += strides[d] * start;
  sizes[d] = static_cast<SizesType>(length);
  strides[d] = length > 1 ? strides[d] * step : strides[d];
  return *this;
}

// With size 1 the stride is never used; with stride 0 the elements repeat.
View& View::insert(size_t d, SizesType size, ptrdiff_t stride) {
  RL_DCHECK(d <= dim && dim < kTensorDimensionLimit);
  for (size_t i = dim++; i > d; --i) {
    sizes[i] = sizes[i - 1];
    strides[i] = strides[i - 1];
  }
  sizes[d] = size;
  strides[d] = stride;
  return *this;
}

View& View::swap(size_t a, size_t b) {
  RL_DCHECK(a < dim && b < dim);
  const SizesType size = sizes[a];
  const ptrdiff_t stride = strides[a];
  sizes[a] = sizes[b];
  strides[a] = strides[b];
  sizes[b] = size;
  strides[b] = stride;
  return *this;
}

PairedLoops::PairedLoops(const View& target, const View& source)
    : target_(target.data), source_(source.data) {
  RL_DCHECK(target.dim == source.dim);
  for (size_t d = target.dim; d-- > 0;) {
    RL_DCHECK(target.sizes[d] == source.sizes[d]);
    if (target.sizes[d] == 0) {
      dim_ = 0;
      return;
    }
    if (target.sizes[d] != 1) insert({target.sizes[d], target.strides[d], source.strides[d]});
  }
  // All sizes are 1: one element.
  if (dim_ == 0) insert({1, 0, 0});
  merge();
}

void PairedLoops::lengthen_spans() {
  // A short inner loop costs more than strided access: the longer one becomes the inner.
  constexpr ptrdiff_t kFew = 8;
  if (dim_ < 2 || loops_[0].size >= kFew || loops_[1].size <= loops_[0].size) return;
  const Loop inner = loops_[0];
  loops_[0] = loops_[1];
  loops_[1] = inner;
}

// Dimensions come from the last to the first, and equal strides keep that order, so row-major views need no
// exchange.
void PairedLoops::insert(const Loop& loop) {
  size_t at = dim_++;
  for (; at > 0 && loops_[at - 1].target > loop.target; --at) loops_[at] = loops_[at - 1];
  loops_[at] = loop;
}

// One pass: each loop either continues the one before it in both views or starts a new one.
void PairedLoops::merge() {
  size_t kept = 0;
  for (size_t i = 1; i < dim_; ++i) {
    Loop& inner = loops_[kept];
    const Loop& outer = loops_[i];
    if (outer.target == inner.target * inner.size && outer.source == inner.source * inner.size) {
      inner.size *= outer.size;
    } else {
      loops_[++kept] = outer;
    }
  }
  dim_ = kept + 1;
}

}  // namespace rushlight::kernels
