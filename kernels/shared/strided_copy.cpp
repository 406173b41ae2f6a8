// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/strided_copy.h"

#include <cstring>

#include "kernels/shared/convert.h"
#include "kernels/shared/selection.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

struct Axis {
  ptrdiff_t size;
  ptrdiff_t target;  // strides in bytes
  ptrdiff_t source;
};

// The axes of both views from innermost to outermost, as few as describe the same elements. The
// order is that of the target: memory is written in one direction.
struct Plan {
  Axis axes[kTensorDimensionLimit];
  size_t dim = 0;

  void insert(const Axis& axis) {
    size_t at = dim++;
    for (; at > 0 && axes[at - 1].target > axis.target; --at) axes[at] = axes[at - 1];
    axes[at] = axis;
  }

  void merge() {
    size_t kept = 0;
    for (size_t i = 1; i < dim; ++i) {
      Axis& inner = axes[kept];
      const Axis& outer = axes[i];
      if (outer.target == inner.target * inner.size && outer.source == inner.source * inner.size) {
        inner.size *= outer.size;
      } else {
        axes[++kept] = outer;
      }
    }
    dim = kept + 1;
  }
};

// Returns false when there is nothing to copy.
bool make_plan(const View& target, const View& source, Plan* plan) {
  for (size_t d = target.dim; d-- > 0;) {
    if (target.sizes[d] == 0) return false;
    if (target.sizes[d] != 1) plan->insert({target.sizes[d], target.strides[d], source.strides[d]});
  }
  if (plan->dim == 0) plan->insert({1, 0, 0});
  plan->merge();
  return true;
}

template <size_t kSize>
void copy_elements(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                   ptrdiff_t n) {
  constexpr size_t kAlignment = kSize < 8 ? kSize : 8;
  for (ptrdiff_t i = 0; i < n; ++i) {
    std::memcpy(__builtin_assume_aligned(target, kAlignment), __builtin_assume_aligned(source, kAlignment),
                kSize);
    target += target_stride;
    source += source_stride;
  }
}

void copy_run(char* target, const char* source, size_t element, const Axis& axis) {
  if (axis.target == static_cast<ptrdiff_t>(element) && axis.source == axis.target) {
    std::memmove(target, source, element * static_cast<size_t>(axis.size));
    return;
  }
  switch (element) {
    case 1:
      return copy_elements<1>(target, axis.target, source, axis.source, axis.size);
    case 2:
      return copy_elements<2>(target, axis.target, source, axis.source, axis.size);
    case 4:
      return copy_elements<4>(target, axis.target, source, axis.source, axis.size);
    case 8:
      return copy_elements<8>(target, axis.target, source, axis.source, axis.size);
    default:
      return copy_elements<16>(target, axis.target, source, axis.source, axis.size);
  }
}

template <class Run>
void for_each_run(const Plan& plan, char* target, const char* source, Run run) {
  ptrdiff_t index[kTensorDimensionLimit] = {};
  while (true) {
    run(target, source);
    size_t d = 1;
    for (; d < plan.dim; ++d) {
      const Axis& axis = plan.axes[d];
      target += axis.target;
      source += axis.source;
      if (++index[d] < axis.size) break;
      target -= axis.target * axis.size;
      source -= axis.source * axis.size;
      index[d] = 0;
    }
    if (d >= plan.dim) return;
  }
}

// Byte offsets of a tensor's elements in row major order.
class Cursor {
 public:
  explicit Cursor(const Tensor& tensor) : view_(View::of(tensor)) {}

  [[nodiscard]] char* get() const { return view_.data; }
  void advance() {
    for (size_t d = view_.dim; d-- > 0;) {
      view_.data += view_.strides[d];
      if (++index_[d] < view_.sizes[d]) return;
      view_.data -= view_.strides[d] * view_.sizes[d];
      index_[d] = 0;
    }
  }

 private:
  View view_;
  SizesType index_[kTensorDimensionLimit] = {};
};

}  // namespace

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

View& View::select(size_t d, ptrdiff_t index) {
  RL_DCHECK(d < dim);
  data += strides[d] * index;
  --dim;
  for (size_t i = d; i < dim; ++i) {
    sizes[i] = sizes[i + 1];
    strides[i] = strides[i + 1];
  }
  return *this;
}

View& View::slice(size_t d, ptrdiff_t start, ptrdiff_t length, ptrdiff_t step) {
  RL_DCHECK(d < dim);
  data += length > 0 ? strides[d] * start : 0;
  sizes[d] = static_cast<SizesType>(length);
  strides[d] = length > 1 ? strides[d] * step : strides[d];
  return *this;
}

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

Error copy_view(const View& target, const View& source) {
  const bool converts = target.type != source.type;
  if (converts) {
    if (!contains(kConvertibleTypes, target.type)) return unsupported_type(target.type);
    if (!contains(kConvertibleTypes, source.type)) return unsupported_type(source.type);
  }
  Plan plan;
  if (!make_plan(target, source, &plan)) return Error::Ok;
  const Axis& inner = plan.axes[0];
  const size_t element = element_size(target.type);
  for_each_run(plan, target.data, source.data, [&](char* to, const char* from) {
    if (converts) {
      convert_run(to, inner.target, target.type, from, inner.source, source.type,
                  static_cast<size_t>(inner.size));
    } else {
      copy_run(to, from, element, inner);
    }
  });
  return Error::Ok;
}

void copy_reshaped(const Tensor& target, const Tensor& source) {
  RL_DCHECK(target.numel() == source.numel() && target.scalar_type() == source.scalar_type());
  const ScalarType type = target.scalar_type();
  Error error = Error::Ok;
  if (is_contiguous_dim_order(target.dim_order())) {
    error = copy_view(View::row_major(target.mutable_data_ptr(), type, source.sizes()), View::of(source));
  } else if (is_contiguous_dim_order(source.dim_order())) {
    error = copy_view(View::of(target), View::row_major(source.mutable_data_ptr(), type, target.sizes()));
  } else {
    const size_t element = target.element_size();
    Cursor to(target);
    Cursor from(source);
    for (size_t i = 0; i < target.numel(); ++i, to.advance(), from.advance()) {
      std::memcpy(to.get(), from.get(), element);
    }
  }
  RL_DCHECK(error == Error::Ok);
  static_cast<void>(error);
}

}  // namespace rushlight::kernels
