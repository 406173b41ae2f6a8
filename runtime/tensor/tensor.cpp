// SPDX-License-Identifier: BSD-3-Clause
// Strides follow from sizes and dim order, innermost dimension first. They are recomputed on each resize, in
// O(rank), rather than stored in programs.
#include "runtime/tensor/tensor.h"

#include "runtime/base/checked.h"
#include "runtime/base/log.h"

namespace rushlight {

TensorImpl::TensorImpl(ScalarType type, ptrdiff_t dim, SizesType* sizes, void* data, DimOrderType* dim_order,
                       StridesType* strides, TensorShapeDynamism dynamism)
    : sizes_(sizes),
      dim_order_(dim_order),
      strides_(strides),
      data_(data),
      numel_(1),
      dim_(static_cast<uint8_t>(dim)),
      type_(type),
      dynamism_(dynamism),
      device_(kHost),
      storage_(data == nullptr ? Storage::None : Storage::Planned),
      marked_(false) {
  compute_strides();
  // The sizes at construction are the largest: resize() compares with them.
  numel_bound_ = numel_;
}

void TensorImpl::compute_strides() {
  size_t numel = 1;
  // A size of 0 counts as 1 in the strides of outer dimensions, as in PyTorch.
  size_t stride = 1;
  for (size_t i = dim_; i-- > 0;) {
    const DimOrderType d = dim_order_[i];
    strides_[d] = static_cast<StridesType>(stride);
    stride *= sizes_[d] > 1 ? static_cast<size_t>(sizes_[d]) : 1;
    numel *= static_cast<size_t>(sizes_[d]);
  }
  numel_ = numel;
}

Error TensorImpl::resize(Span<const SizesType> sizes) {
  RL_CHECK(sizes.size() == dim_, Error::InvalidArgument, "resize: expected rank %d, got %d",
           static_cast<int>(dim_), static_cast<int>(sizes.size()));
  bool same = true;
  for (size_t i = 0; i < dim_; ++i) same = same && sizes[i] == sizes_[i];
  if (same) return Error::Ok;
  RL_CHECK(dynamism_ != TensorShapeDynamism::STATIC, Error::NotSupported,
           "resize: the shape is static and differs");
  size_t numel = 0;
  RL_CHECK(checked_numel(sizes, &numel), Error::InvalidArgument, "resize: a size is negative or too large");
  RL_CHECK(numel <= numel_bound_, Error::OutOfResources, "resize: expected at most %lu elements, got %lu",
           static_cast<unsigned long>(numel_bound_), static_cast<unsigned long>(numel));
  // sizes_ is written last, so a failed resize changes nothing. Static tensors return before: their sizes may
  // be in read-only memory.
  for (size_t i = 0; i < dim_; ++i) sizes_[i] = sizes[i];
  compute_strides();
  return Error::Ok;
}

// Lent memory and aliases are as large as the current elements, so only a static tensor may be written there.
bool TensorImpl::is_writable() const {
  const bool has_capacity = storage_ == Storage::Planned || storage_ == Storage::Given;
  const bool fits_as_it_is = storage_ == Storage::Lent || storage_ == Storage::View;
  return has_capacity || (fits_as_it_is && dynamism_ == TensorShapeDynamism::STATIC);
}

Error TensorImpl::make_view(const TensorImpl& base, Span<const SizesType> sizes) {
  RL_TRY(resize(sizes));
  RL_CHECK(base.type_ == type_ && base.numel_ == numel_, Error::InvalidArgument,
           "view: expected %lu elements of %s, got %lu of %s", static_cast<unsigned long>(base.numel_),
           to_string(base.type_), static_cast<unsigned long>(numel_), to_string(type_));
  // A planned alias has the base's address already, by the memory plan.
  if (storage_ == Storage::Planned || storage_ == Storage::Constant) {
    RL_CHECK(data_ == base.data_, Error::InvalidArgument, "view: has separate memory");
    return Error::Ok;
  }
  const bool constant = base.storage_ == Storage::Constant || base.storage_ == Storage::ConstantView;
  set_data(base.data_, constant ? Storage::ConstantView : Storage::View);
  return Error::Ok;
}

bool is_contiguous_dim_order(Span<const DimOrderType> order) {
  // The identity order: row-major.
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

bool is_channels_last_dim_order(Span<const DimOrderType> order) {
  // Batch first, channels innermost: [0, 2, 3, 1] for rank 4, [0, 2, 3, 4, 1] for rank 5.
  const size_t n = order.size();
  if (n != 4 && n != 5) return false;
  if (order[0] != 0 || order[n - 1] != 1) return false;
  for (size_t i = 1; i + 1 < n; ++i) {
    if (order[i] != i + 1) return false;
  }
  return true;
}

bool checked_numel(Span<const SizesType> sizes, size_t* numel) {
  // The product of the nonzero sizes must fit as well, because strides are computed from it.
  size_t product = 1;
  bool has_zero = false;
  for (const SizesType size : sizes) {
    if (size < 0) return false;
    if (size == 0) {
      has_zero = true;
    } else if (!checked_mul(product, static_cast<size_t>(size), &product)) {
      return false;
    }
  }
  *numel = has_zero ? 0 : product;
  return product <= static_cast<size_t>(INT32_MAX);
}

}  // namespace rushlight
