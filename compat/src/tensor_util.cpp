// SPDX-License-Identifier: BSD-3-Clause
// Predicates, indices and memory of tensors for official kernels. Predicates return false and log both
// values; the calling kernel fails its context with ET_KERNEL_CHECK. Nothing here allocates, so boards link
// it, too.
#include <cstring>

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include "runtime/tensor/device.h"

namespace executorch::ET_RUNTIME_NAMESPACE {

namespace aten = executorch::aten;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;

namespace {

// Logs the dtype and the wanted one unless the condition holds.
bool is_dtype(bool condition, [[maybe_unused]] const Tensor& t, [[maybe_unused]] const char* wanted) {
  ET_CHECK_OR_RETURN_FALSE(condition, "dtype: got %s, expected %s", runtime::toString(t.scalar_type()),
                           wanted);
  return true;
}

#ifdef USE_ATEN_LIB

// The dim order of PyTorch's strides; none for too many dimensions.
struct DimOrder {
  explicit DimOrder(const Tensor& t) : size(static_cast<size_t>(t.dim())) {
    ET_CHECK_MSG(get_dim_order(t, entries, size) == Error::Ok, "tensor: no dim order");
  }
  aten::DimOrderType entries[kTensorDimensionLimit];
  size_t size;
};

bool is_default(const Tensor& t) {
  const DimOrder order(t);
  return is_contiguous_dim_order(order.entries, order.size);
}

bool is_channels_last(const Tensor& t) {
  const DimOrder order(t);
  return is_channels_last_dim_order(order.entries, order.size);
}

#else

bool is_default(const Tensor& t) {
  return is_contiguous_dim_order(t.dim_order().data(), t.dim_order().size());
}

bool is_channels_last(const Tensor& t) {
  return is_channels_last_dim_order(t.dim_order().data(), t.dim_order().size());
}

#endif

}  // namespace

bool dim_is_valid(int64_t dim, int64_t upper_bound) {
  ET_CHECK_OR_RETURN_FALSE(dim >= -upper_bound && dim < upper_bound,
                           "dimension %" PRId64 " is outside of -%" PRId64 " to %" PRId64 " - 1", dim,
                           upper_bound, upper_bound);
  return true;
}

bool tensor_can_cast_to(Tensor a, ScalarType dtype) {
  return is_dtype(runtime::canCast(a.scalar_type(), dtype), a, runtime::toString(dtype));
}
bool tensor_is_bool_type(Tensor t) { return tensor_is_type(t, ScalarType::Bool); }
bool tensor_is_type(Tensor t, ScalarType dtype) {
  return is_dtype(t.scalar_type() == dtype, t, runtime::toString(dtype));
}
bool tensor_is_type(Tensor t, ScalarType dtype, ScalarType dtype2) {
  ET_CHECK_OR_RETURN_FALSE(t.scalar_type() == dtype || t.scalar_type() == dtype2,
                           "dtype: got %s, expected %s or %s", runtime::toString(t.scalar_type()),
                           runtime::toString(dtype), runtime::toString(dtype2));
  return true;
}
bool tensor_is_type(Tensor t, ScalarType dtype, ScalarType dtype2, ScalarType dtype3) {
  ET_CHECK_OR_RETURN_FALSE(t.scalar_type() == dtype || t.scalar_type() == dtype2 || t.scalar_type() == dtype3,
                           "dtype: got %s, expected %s, %s or %s", runtime::toString(t.scalar_type()),
                           runtime::toString(dtype), runtime::toString(dtype2), runtime::toString(dtype3));
  return true;
}
bool tensor_is_integral_type(Tensor t, bool includeBool) {
  return is_dtype(runtime::isIntegralType(t.scalar_type(), includeBool), t, "an integer dtype");
}
bool tensor_is_floating_type(Tensor t) {
  return is_dtype(runtime::isFloatingType(t.scalar_type()), t, "a floating-point dtype");
}
bool tensor_is_real_type(Tensor t) {
  return is_dtype(runtime::isRealType(t.scalar_type()), t, "a real dtype");
}
bool tensor_is_realh_type(Tensor t) {
  return is_dtype(runtime::isRealHType(t.scalar_type()), t, "a real dtype");
}
bool tensor_is_realhbf16_type(Tensor t) {
  return is_dtype(runtime::isRealHBF16Type(t.scalar_type()), t, "a real dtype");
}
bool tensor_is_realhb_type(Tensor t) {
  return is_dtype(runtime::isRealHBType(t.scalar_type()), t, "a real dtype or bool");
}
bool tensor_is_realhbbf16_type(Tensor t) {
  return is_dtype(runtime::isRealHBBF16Type(t.scalar_type()), t, "a real dtype or bool");
}
bool tensor_is_complex_type(Tensor t) {
  return is_dtype(runtime::isComplexType(t.scalar_type()), t, "a complex dtype");
}
bool tensor_is_bits_type(Tensor t) {
  return is_dtype(runtime::isBitsType(t.scalar_type()), t, "a bits dtype");
}
bool tensors_have_same_dtype(Tensor a, Tensor b) {
  return is_dtype(a.scalar_type() == b.scalar_type(), a, runtime::toString(b.scalar_type()));
}
bool tensors_have_same_dtype(Tensor a, Tensor b, Tensor c) {
  return tensors_have_same_dtype(a, b) && tensors_have_same_dtype(b, c);
}

bool tensor_is_rank(Tensor t, size_t rank) {
  ET_CHECK_OR_RETURN_FALSE(static_cast<size_t>(t.dim()) == rank, "rank: got %zd, expected %zu", t.dim(),
                           rank);
  return true;
}
bool tensor_has_rank_greater_or_equal_to(Tensor t, size_t rank) {
  ET_CHECK_OR_RETURN_FALSE(static_cast<size_t>(t.dim()) >= rank, "rank: got %zd, expected at least %zu",
                           t.dim(), rank);
  return true;
}
bool tensor_has_rank_smaller_or_equal_to(Tensor t, size_t rank) {
  ET_CHECK_OR_RETURN_FALSE(static_cast<size_t>(t.dim()) <= rank, "rank: got %zd, expected at most %zu",
                           t.dim(), rank);
  return true;
}
// A scalar has dimension 0 here, as in PyTorch.
bool tensor_has_dim(Tensor t, int64_t d) { return dim_is_valid(d, nonzero_dim(t)); }
bool tensor_has_non_empty_dim(Tensor t, int64_t d) {
  if (!tensor_has_dim(t, d)) return false;
  const int64_t dim = ET_NORMALIZE_IX(d, nonzero_dim(t));
  ET_LOG_AND_RETURN_IF_FALSE(nonempty_size(t, static_cast<ssize_t>(dim)) != 0);
  return true;
}
bool tensor_dim_has_index(Tensor t, int64_t d, int64_t ix) {
  // The dimension is the caller's responsibility: aborts if there is none.
  const int64_t dim = ET_NORMALIZE_IX(d, t.dim());
  ET_CHECK(dim >= 0 && dim < t.dim());
  const int64_t size = t.size(static_cast<ssize_t>(dim));
  ET_CHECK_OR_RETURN_FALSE(ix >= -size && ix < size,
                           "index %" PRId64 " is outside of a dimension of size %" PRId64, ix, size);
  return true;
}
bool tensor_has_expected_size(Tensor a, aten::ArrayRef<aten::SizesType> expected_sizes) {
  ET_CHECK_OR_RETURN_FALSE(a.sizes() == expected_sizes, "sizes: differ from the expected sizes");
  return true;
}
bool tensors_have_same_size_at_dims(Tensor a, size_t dim_a, Tensor b, size_t dim_b) {
  ET_LOG_AND_RETURN_IF_FALSE(dim_a < static_cast<size_t>(a.dim()));
  ET_LOG_AND_RETURN_IF_FALSE(dim_b < static_cast<size_t>(b.dim()));
  const ssize_t size_a = a.size(static_cast<ssize_t>(dim_a));
  const ssize_t size_b = b.size(static_cast<ssize_t>(dim_b));
  ET_CHECK_OR_RETURN_FALSE(size_a == size_b,
                           "sizes: expected equal ones, got %zd (dimension %zu) and %zd (dimension %zu)",
                           size_a, dim_a, size_b, dim_b);
  return true;
}
bool tensors_have_same_shape(Tensor a, Tensor b) {
  // As in ExecuTorch: [1, 1] and [1] count as equal, as PyTorch's operators treat them.
  if (a.numel() == 1 && b.numel() == 1) return true;
  ET_CHECK_OR_RETURN_FALSE(a.sizes() == b.sizes(),
                           "shapes: expected equal ones, got %zd and %zd elements, ranks %zd and %zd",
                           a.numel(), b.numel(), a.dim(), b.dim());
  return true;
}
bool tensors_have_same_shape(Tensor a, Tensor b, Tensor c) {
  return tensors_have_same_shape(a, b) && tensors_have_same_shape(b, c);
}
bool tensors_have_same_shape_and_dtype(Tensor a, Tensor b) {
  return tensors_have_same_dtype(a, b) && tensors_have_same_shape(a, b);
}
bool tensors_have_same_shape_and_dtype(Tensor a, Tensor b, Tensor c) {
  return tensors_have_same_shape_and_dtype(a, b) && tensors_have_same_shape_and_dtype(b, c);
}
bool tensors_have_same_strides(Tensor a, Tensor b) {
  ET_LOG_AND_RETURN_IF_FALSE(a.strides() == b.strides());
  return true;
}
bool tensors_have_same_strides(Tensor a, Tensor b, Tensor c) {
  return tensors_have_same_strides(a, b) && tensors_have_same_strides(b, c);
}
bool tensors_have_same_rank(Tensor a, Tensor b) {
  ET_CHECK_OR_RETURN_FALSE(a.dim() == b.dim(), "ranks: expected equal ones, got %zd and %zd", a.dim(),
                           b.dim());
  return true;
}
// Strides of a row-major tensor; a dimension of size 0 does not change the product.
bool tensor_is_contiguous(Tensor t) {
  executorch::aten::StridesType stride = 1;
  for (size_t d = t.sizes().size(); d-- > 0;) {
    ET_CHECK_OR_RETURN_FALSE(t.strides()[d] == stride, "stride: got %d in dimension %zu, expected %d",
                             static_cast<int>(t.strides()[d]), d, static_cast<int>(stride));
    if (t.sizes()[d] != 0) stride *= t.sizes()[d];
  }
  return true;
}

// Number of positions in front of a dimension, and behind it: products of sizes.
size_t getLeadingDims(const Tensor& tensor, int64_t dim) {
  ET_CHECK_MSG(dim >= 0 && dim <= tensor.dim(), "leading dimensions: dimension %" PRId64 " of %zd", dim,
               tensor.dim());
  size_t product = 1;
  for (ssize_t i = 0; i < dim; ++i) product *= static_cast<size_t>(tensor.size(i));
  return product;
}

size_t getTrailingDims(const Tensor& tensor, int64_t dim) {
  ET_CHECK_MSG(dim >= -1 && dim < tensor.dim(), "trailing dimensions: dimension %" PRId64 " of %zd", dim,
               tensor.dim());
  size_t product = 1;
  for (auto i = static_cast<ssize_t>(dim + 1); i < tensor.dim(); ++i) {
    product *= static_cast<size_t>(tensor.size(i));
  }
  return product;
}

// Horner's scheme: ((c0 * s1 + c1) * s2 + c2) ..., row-major whatever the dim order.
size_t coordinateToIndex(const Tensor& tensor, const size_t* const coordinate) {
  size_t index = 0;
  for (size_t d = 0; d < tensor.sizes().size(); ++d) {
    index = index * static_cast<size_t>(tensor.sizes()[d]) + coordinate[d];
  }
  return index;
}

void memoizeTrailingDims(const Tensor& tensor, size_t trailing_dims_memo[kTensorDimensionLimit]) {
  ET_CHECK_MSG(tensor.sizes().size() <= kTensorDimensionLimit, "rank %zd: exceeds the limit", tensor.dim());
  size_t product = 1;
  for (size_t d = tensor.sizes().size(); d-- > 0;) {
    trailing_dims_memo[d] = product;
    product *= static_cast<size_t>(tensor.sizes()[d]);
  }
}

// The same with products of the inner sizes from memoizeTrailingDims(): for many coordinates of one tensor.
size_t coordinateToIndexWithTrailingDimsMemo(const Tensor& tensor, const size_t* const coordinate,
                                             const size_t trailing_dims_memo[kTensorDimensionLimit]) {
  size_t index = 0;
  for (size_t d = 0; d < tensor.sizes().size(); ++d) index += coordinate[d] * trailing_dims_memo[d];
  return index;
}

// The inverse of coordinateToIndex(), from the innermost dimension outwards.
void indexToCoordinate(const Tensor& tensor, size_t index, size_t* coordinate) {
  ET_CHECK(index < static_cast<size_t>(tensor.numel()));
  for (size_t d = tensor.sizes().size(); d-- > 0;) {
    const auto size = static_cast<size_t>(tensor.sizes()[d]);
    coordinate[d] = index % size;
    index /= size;
  }
}

#ifndef USE_ATEN_LIB  // see compat/aten/tensor_memory.cpp
Error get_dim_order(const Tensor& tensor, executorch::aten::DimOrderType* out_dim_order,
                    size_t out_dim_order_size) {
  ET_CHECK_OR_RETURN_ERROR(out_dim_order_size == tensor.dim_order().size(), InvalidArgument,
                           "dim order: expected as many items as dimensions, got %zu for %zd",
                           out_dim_order_size, tensor.dim());
  std::copy(tensor.dim_order().begin(), tensor.dim_order().end(), out_dim_order);
  return Error::Ok;
}
#endif

bool tensor_has_valid_dim_order(Tensor t) {
#ifdef USE_ATEN_LIB
  const DimOrder order(t);
  ET_LOG_AND_RETURN_IF_FALSE(validate_dim_order(order.entries, order.size));
#else
  ET_LOG_AND_RETURN_IF_FALSE(validate_dim_order(t.dim_order().data(), t.dim_order().size()));
#endif
  return true;
}
bool tensor_is_default_dim_order(Tensor t) {
  ET_LOG_AND_RETURN_IF_FALSE(is_default(t));
  return true;
}
bool tensor_is_channels_last_dim_order(Tensor t) {
  ET_LOG_AND_RETURN_IF_FALSE(is_channels_last(t));
  return true;
}
bool tensor_is_default_or_channels_last_dim_order(Tensor t) {
  ET_LOG_AND_RETURN_IF_FALSE(is_default(t) || is_channels_last(t));
  return true;
}

bool tensors_have_same_dim_order(const aten::ArrayRef<Tensor> tensor_list) {
  if (tensor_list.size() < 2) return true;
  // Equal means here: all row-major, or all channels-last (rank 4 and 5). Any other dim order is refused,
  // also if all tensors have it.
  bool all_default = true;
  bool all_channels_last = true;
  for (const Tensor& tensor : tensor_list) {
    all_default = all_default && is_default(tensor);
    all_channels_last = all_channels_last && is_channels_last(tensor);
  }
  ET_CHECK_OR_RETURN_FALSE(all_default || all_channels_last, "dim orders: expected equal ones in %zu tensors",
                           tensor_list.size());
  return true;
}

#ifndef USE_ATEN_LIB
namespace internal {

// Makes the target use the source's memory.
Error share_tensor_data(const Tensor& t_dst, const Tensor& t_src) {
  ET_CHECK_OR_RETURN_ERROR(t_dst.nbytes() == t_src.nbytes(), InvalidArgument,
                           "memory: got %zu bytes, expected %zu", t_src.nbytes(), t_dst.nbytes());
  ET_CHECK_OR_RETURN_ERROR(t_src.mutable_data_ptr() != nullptr || t_src.nbytes() == 0, InvalidArgument,
                           "source: has no memory");
  t_dst.unsafeGetTensorImpl()->share_data(*t_src.unsafeGetTensorImpl());
  return Error::Ok;
}

Error copy_tensor_data(const Tensor& t_dst, const Tensor& t_src) {
  ET_CHECK_OR_RETURN_ERROR(t_src.nbytes() == t_dst.nbytes(), InvalidArgument,
                           "copy_tensor_data: expected %zu bytes, got %zu", t_dst.nbytes(), t_src.nbytes());
  const bool has_target = t_dst.const_data_ptr() != nullptr || t_dst.nbytes() == 0;
  ET_CHECK_OR_RETURN_ERROR(has_target, InvalidArgument, "copy_tensor_data: the target has no memory");
  // A source without memory leaves the target's elements unchanged.
  if (t_src.const_data_ptr() == nullptr) return Error::Ok;
  // Also copies between the CPU and a device.
  return rushlight::compat::official(
      rushlight::copy_bytes(*t_src.unsafeGetTensorImpl(), *t_dst.unsafeGetTensorImpl()));
}

// The tensor may hold fewer bytes than the buffer; they are not owned.
Error set_tensor_data(const Tensor& t, void* buffer, size_t buffer_size) {
  ET_CHECK_OR_RETURN_ERROR(buffer_size >= t.nbytes(), InvalidArgument, "memory: got %zu bytes, expected %zu",
                           buffer_size, t.nbytes());
  t.unsafeGetTensorImpl()->set_data(buffer);
  return Error::Ok;
}

void reset_data_ptr(const Tensor& tensor) { tensor.unsafeGetTensorImpl()->set_data(nullptr); }

}  // namespace internal
#endif

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

namespace et = executorch::ET_RUNTIME_NAMESPACE;

void check_in_range([[maybe_unused]] const char* what, int64_t value, int64_t bound) {
  ET_CHECK_MSG(value >= -bound && value < bound,
               "%s %" PRId64 " is outside of -%" PRId64 " to %" PRId64 " - 1", what, value, bound, bound);
}

void check_same_shape(TensorList list) {
  for (const auto& tensor : list) ET_CHECK(et::tensors_have_same_shape(list[0], tensor));
}

void check_same_dtype(TensorList list) {
  for (const auto& tensor : list) ET_CHECK(et::tensors_have_same_dtype(list[0], tensor));
}

void check_same_strides(TensorList list) {
  for (const auto& tensor : list) ET_CHECK(et::tensors_have_same_strides(list[0], tensor));
}

void check_contiguous(const executorch::aten::Tensor& tensor) { ET_CHECK(et::tensor_is_contiguous(tensor)); }

void check_usual_dim_order(const executorch::aten::Tensor& tensor) {
  ET_CHECK(et::tensor_is_default_or_channels_last_dim_order(tensor));
}

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE
