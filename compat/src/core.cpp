// SPDX-License-Identifier: BSD-3-Clause
// Out-of-line parts of the core types: construction of TensorImpl, names of tags and shapes.
#include <algorithm>
#include <bitset>
#include <cstdio>
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_shape_to_c_string.h>
#include <executorch/runtime/core/portable_type/tensor_impl.h>
#include <executorch/runtime/core/tag.h>
#include <executorch/runtime/core/tensor_layout.h>

namespace executorch::runtime RUSHLIGHT_TENSOR_MODE {

namespace {

// Cannot overflow: the limit has ten digits and a separator for each dimension, and larger sizes print as
// BIG.
template <class Size>
std::array<char, kTensorShapeStringSizeLimit> shape_text(Span<const Size> shape) {
  std::array<char, kTensorShapeStringSizeLimit> text;
  if (shape.size() > kTensorDimensionLimit) {
    snprintf(text.data(), text.size(), "(ERR: tensor ndim exceeds limit)");
    return text;
  }
  size_t used = static_cast<size_t>(snprintf(text.data(), text.size(), "("));
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool printable =
        shape[i] >= 0 && static_cast<size_t>(shape[i]) <= internal::kMaximumPrintableTensorShapeElement;
    char* end = text.data() + used;
    const size_t left = text.size() - used;
    const char* separator = i == 0 ? "" : ", ";
    used += static_cast<size_t>(
        printable ? snprintf(end, left, "%s%lld", separator, static_cast<long long>(shape[i]))
                  : snprintf(end, left, "%s%s", separator, shape[i] < 0 ? "ERR" : "BIG"));
  }
  snprintf(text.data() + used, text.size() - used, ")");
  return text;
}

}  // namespace

std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(Span<const std::int32_t> shape) {
  return shape_text(shape);
}
std::array<char, kTensorShapeStringSizeLimit> tensor_shape_to_c_string(Span<const std::int64_t> shape) {
  return shape_text(shape);
}

}  // namespace executorch::runtimeRUSHLIGHT_TENSOR_MODE

namespace executorch::ET_RUNTIME_NAMESPACE {

Result<const TensorLayout> TensorLayout::create(Span<const int32_t> sizes, Span<const uint8_t> dim_order,
                                                executorch::aten::ScalarType scalar_type) {
  ET_CHECK_OR_RETURN_ERROR(sizes.size() == dim_order.size(), InvalidArgument,
                           "layout: got %zu sizes and a dim order of %zu", sizes.size(), dim_order.size());
  ET_CHECK_OR_RETURN_ERROR(validate_dim_order(dim_order.data(), dim_order.size()), InvalidArgument,
                           "dim order: expected a permutation");
  ET_CHECK_OR_RETURN_ERROR(runtime::isValid(scalar_type), InvalidArgument, "unknown dtype %d",
                           static_cast<int>(scalar_type));
  // Sizes come from files: the product may overflow.
  size_t nbytes = runtime::elementSize(scalar_type);
  for (const int32_t size : sizes) {
    ET_CHECK_OR_RETURN_ERROR(size >= 0, InvalidArgument, "size: expected at least 0, got %d",
                             static_cast<int>(size));
    ET_CHECK_OR_RETURN_ERROR(!c10::mul_overflows(nbytes, static_cast<size_t>(size), &nbytes), InvalidArgument,
                             "tensor: size in bytes overflows");
  }
  return TensorLayout(scalar_type, nbytes, sizes.size(), sizes.data(), dim_order.data());
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE

#ifndef USE_ATEN_LIB  // the rest is the same in both modes

namespace executorch::runtime {

// The length without the zero byte, also if the buffer is too small for it, like snprintf().
size_t tag_to_string(Tag tag, char* buffer, size_t buffer_size) {
  return static_cast<size_t>(snprintf(buffer, buffer_size, "%s", rushlight::to_string(tag)));
}

namespace etensor {

namespace {

// The rank is a byte in rushlight::TensorImpl.
constexpr size_t kMostDimensions = UINT8_MAX;

// Fills the whole array: it may be evaluated before checked_rank() checks the rank.
uint8_t* filled(uint8_t (&own)[kTensorDimensionLimit]) {
  for (size_t i = 0; i < kTensorDimensionLimit; ++i) own[i] = static_cast<uint8_t>(i);
  return own;
}

// A bit per dimension: each is named once and is below the rank.
bool is_permutation(const TensorImpl::DimOrderType* order, ssize_t dim) {
  std::bitset<kMostDimensions> seen;
  for (ssize_t i = 0; i < dim; ++i) {
    if (order[i] >= dim || seen[order[i]]) return false;
    seen.set(order[i]);
  }
  return true;
}

// Returns the rank after checking everything that rushlight::TensorImpl assumes. Kernels accept no tensor
// beyond kTensorDimensionLimit dimensions; describing one only needs memory.
ssize_t checked_rank(ssize_t dim, const TensorImpl::SizesType* sizes, const TensorImpl::DimOrderType* order,
                     const TensorImpl::StridesType* strides) {
  const bool has_memory = order != nullptr && strides != nullptr;
  const auto most = static_cast<ssize_t>(has_memory ? kMostDimensions : kTensorDimensionLimit);
  ET_CHECK_MSG(dim >= 0 && dim <= most, "rank %zd: out of range", dim);
  size_t numel = 0;
  ET_CHECK_MSG(dim == 0 || sizes != nullptr, "tensor of rank %zd: expected sizes, got null", dim);
  ET_CHECK_MSG(rushlight::checked_numel({sizes, static_cast<size_t>(dim)}, &numel),
               "sizes: got a negative size, or too many elements");
  ET_CHECK_MSG(order == nullptr || is_permutation(order, dim), "dim order: expected a permutation");
  return dim;
}

}  // namespace

// The order in which arguments are evaluated is unspecified, so each tolerates an invalid rank until
// checked_rank() has aborted.
TensorImpl::TensorImpl(ScalarType type, ssize_t dim, SizesType* sizes, void* data, DimOrderType* dim_order,
                       StridesType* strides, TensorShapeDynamism dynamism, DeviceType device_type,
                       DeviceIndex device_index)
    : Base(rushlight::compat::ours(type), checked_rank(dim, sizes, dim_order, strides), sizes, data,
           dim_order != nullptr ? dim_order : filled(own_dim_order_),
           strides != nullptr ? strides : own_strides_, dynamism) {
  set_device(rushlight::compat::our_device(Device(device_type, device_index)));
}

TensorImpl::Base TensorImpl::description_of(const TensorImpl& other, DimOrderType* own_dim_order,
                                            StridesType* own_strides) {
  auto* dim_order = const_cast<DimOrderType*>(other.dim_order().data());
  auto* strides = const_cast<StridesType*>(other.strides().data());
  const bool stores_dim_order = dim_order == other.own_dim_order_;
  const bool stores_strides = strides == other.own_strides_;
  if (!stores_dim_order && !stores_strides) return other;
  const auto rank = static_cast<size_t>(other.dim());
  if (stores_dim_order) {
    std::copy_n(dim_order, rank, own_dim_order);
    dim_order = own_dim_order;
  }
  if (stores_strides) {
    std::copy_n(strides, rank, own_strides);
    strides = own_strides;
  }
  Base copy(other.Base::scalar_type(), rank, const_cast<SizesType*>(other.sizes().data()), dim_order, strides,
            other.Base::numel(), other.mutable_data(), other.storage(), other.shape_dynamism());
  copy.set_device(other.Base::device());
  return copy;
}

TensorImpl::TensorImpl(const TensorImpl& other) : Base(description_of(other, own_dim_order_, own_strides_)) {}

Error TensorImpl::internal_resize_contiguous(ArrayRef<SizesType> sizes) {
  ET_CHECK_OR_RETURN_ERROR(sizes.size() == static_cast<size_t>(dim()), NotSupported,
                           "rank: expected %zd, got %zu", dim(), sizes.size());
  return rushlight::compat::official(Base::resize(sizes));
}

size_t TensorImpl::nbytes() const { return static_cast<size_t>(numel()) * elementSize(scalar_type()); }

ssize_t TensorImpl::element_size() const { return static_cast<ssize_t>(elementSize(scalar_type())); }

ssize_t compute_numel(const TensorImpl::SizesType* sizes, ssize_t dim) {
  ET_CHECK_MSG(dim == 0 || sizes != nullptr, "tensor of rank %zd: expected sizes, got null", dim);
  size_t product = 1;  // unsigned, so that overflow is defined
  for (ssize_t i = 0; i < dim; ++i) {
    ET_CHECK_MSG(sizes[i] >= 0, "size %zd: expected at least 0, got %d", i, static_cast<int>(sizes[i]));
    product *= static_cast<size_t>(sizes[i]);
  }
  return static_cast<ssize_t>(product);
}

Result<ssize_t> safe_numel(const TensorImpl::SizesType* sizes, ssize_t dim) {
  ET_CHECK_OR_RETURN_ERROR(dim == 0 || sizes != nullptr, InvalidArgument,
                           "tensor of rank %zd: expected sizes, got null", dim);
  ssize_t numel = 1;
  for (ssize_t i = 0; i < dim; ++i) {
    ET_CHECK_OR_RETURN_ERROR(sizes[i] >= 0, InvalidArgument, "size %zd: expected at least 0, got %d", i,
                             static_cast<int>(sizes[i]));
    ET_CHECK_OR_RETURN_ERROR(!c10::mul_overflows(numel, static_cast<ssize_t>(sizes[i]), &numel),
                             InvalidArgument, "number of elements overflows");
  }
  return numel;
}

}  // namespace etensor

}  // namespace executorch::runtime

#endif
