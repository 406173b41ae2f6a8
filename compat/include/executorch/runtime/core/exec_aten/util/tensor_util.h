// SPDX-License-Identifier: BSD-3-Clause
// Tensor utilities for kernels: predicates that log a failure, checks that abort or fail a kernel's context,
// resizing, indices, dim orders.
//
// A predicate returns false after a log line at level Error with the expected and the actual value, for use
// as ET_KERNEL_CHECK(context, tensor_is_rank(in, 2), InvalidArgument, out). Do not use one to select between
// valid cases. Tensors are handles, passed by value.
//
// The macros are in compat/detail/tensor_checks.h. ET_KERNEL_CHECK(context, condition, error, result) fails
// the context with Error::error and returns `result`; ET_KERNEL_CHECK_MSG also takes a message.
//
// Others abort; kernels should prefer the context: ET_CHECK_SAME_SHAPE2(a, b) and ET_CHECK_SAME_SHAPE3(a, b,
// c), the same for _DTYPE, _STRIDES and _SHAPE_AND_DTYPE, ET_CHECK_CONTIGUOUS(a), ET_CHECK_VALID_DIM(dim,
// rank) and ET_CHECK_VALID_IX(index, size), which accept negative values from the end.
//
// ET_NORMALIZE_IX(index, size) adds `size` to a negative index. ET_EXTRACT_SCALAR_TENSOR(tensor, variable) is
// extract_scalar_tensor(), and aborts if that fails.
#pragma once

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include <c10/util/irange.h>
#include <c10/util/safe_numerics.h>
#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>

#include "compat/detail/tensor_checks.h"

namespace executorch::ET_RUNTIME_NAMESPACE {

// Returns true if -upper_bound <= dim < upper_bound: negative dimensions count from the end.
bool dim_is_valid(int64_t dim, int64_t upper_bound);

// Rank and size, where a rank-0 tensor counts as rank 1 with size 1, as PyTorch's reductions treat it.
// nonempty_size() does not check `dim` for rank 0; for others it aborts if the dimension does not exist.
inline ssize_t nonzero_dim(const executorch::aten::Tensor& tensor) {
  return tensor.dim() == 0 ? 1 : tensor.dim();
}
inline ssize_t nonempty_size(const executorch::aten::Tensor& tensor, ssize_t dim) {
  return tensor.dim() == 0 ? 1 : tensor.size(dim);
}

// Predicates of the dtype. Their sets are named in scalar_type_util.h. The first one is canCast(): true if a
// result of the tensor's dtype may be stored as `dtype`.
bool tensor_can_cast_to(executorch::aten::Tensor a, executorch::aten::ScalarType dtype);
// True for Bool.
bool tensor_is_bool_type(executorch::aten::Tensor t);
// True for the given dtype, or for one of two or three.
bool tensor_is_type(executorch::aten::Tensor t, executorch::aten::ScalarType dtype);
bool tensor_is_type(executorch::aten::Tensor t, executorch::aten::ScalarType dtype,
                    executorch::aten::ScalarType dtype2);
bool tensor_is_type(executorch::aten::Tensor t, executorch::aten::ScalarType dtype,
                    executorch::aten::ScalarType dtype2, executorch::aten::ScalarType dtype3);
// True for Byte, Char, Short, Int and Long, and for Bool if `includeBool`.
bool tensor_is_integral_type(executorch::aten::Tensor t, bool includeBool = false);
// True for Half, Float, Double and BFloat16.
bool tensor_is_floating_type(executorch::aten::Tensor t);
// True for the integers, Float and Double; with H also for Half, with BF16 for BFloat16, with B for Bool.
bool tensor_is_real_type(executorch::aten::Tensor t);
bool tensor_is_realh_type(executorch::aten::Tensor t);
bool tensor_is_realhbf16_type(executorch::aten::Tensor t);
bool tensor_is_realhb_type(executorch::aten::Tensor t);
bool tensor_is_realhbbf16_type(executorch::aten::Tensor t);
// True for the complex dtypes; for the packed bits.
bool tensor_is_complex_type(executorch::aten::Tensor t);
bool tensor_is_bits_type(executorch::aten::Tensor t);
// True if two or three tensors have the same dtype; nothing is promoted.
bool tensors_have_same_dtype(executorch::aten::Tensor a, executorch::aten::Tensor b);
bool tensors_have_same_dtype(executorch::aten::Tensor a, executorch::aten::Tensor b,
                             executorch::aten::Tensor c);

// Predicates of the shape, which compare the rank with a number: equal to it.
bool tensor_is_rank(executorch::aten::Tensor t, size_t rank);
// True for a rank of at least, or at most, `rank`.
bool tensor_has_rank_greater_or_equal_to(executorch::aten::Tensor t, size_t rank);
bool tensor_has_rank_smaller_or_equal_to(executorch::aten::Tensor t, size_t rank);
// True if dimension d, or d counted from the end, exists. A rank-0 tensor has the dimensions 0 and -1.
bool tensor_has_dim(executorch::aten::Tensor t, int64_t d);
// True if it exists and has a size other than 0; a rank-0 tensor's counts as 1.
bool tensor_has_non_empty_dim(executorch::aten::Tensor t, int64_t d);
// True if -size <= ix < size of dimension d. Aborts if the tensor has no such dimension; a rank-0 tensor has
// none here.
bool tensor_dim_has_index(executorch::aten::Tensor t, int64_t d, int64_t ix);
// True if rank and all sizes are as expected.
bool tensor_has_expected_size(executorch::aten::Tensor a,
                              executorch::aten::ArrayRef<executorch::aten::SizesType> expected_sizes);
// True if the sizes of two dimensions are equal. False also if one does not exist; the dimensions are not
// counted from the end.
bool tensors_have_same_size_at_dims(executorch::aten::Tensor a, size_t dim_a, executorch::aten::Tensor b,
                                    size_t dim_b);
// True for equal sizes. Tensors with one element each count as having the same shape, whatever their ranks,
// as in ExecuTorch: (1, 1) and ().
bool tensors_have_same_shape(executorch::aten::Tensor a, executorch::aten::Tensor b);
bool tensors_have_same_shape(executorch::aten::Tensor a, executorch::aten::Tensor b,
                             executorch::aten::Tensor c);
// Both: the same dtype and the same shape, as above.
bool tensors_have_same_shape_and_dtype(executorch::aten::Tensor a, executorch::aten::Tensor b);
bool tensors_have_same_shape_and_dtype(executorch::aten::Tensor a, executorch::aten::Tensor b,
                                       executorch::aten::Tensor c);
// True for equal strides, and so equal ranks. The sizes may differ.
bool tensors_have_same_strides(executorch::aten::Tensor a, executorch::aten::Tensor b);
bool tensors_have_same_strides(executorch::aten::Tensor a, executorch::aten::Tensor b,
                               executorch::aten::Tensor c);
// True for equal ranks.
bool tensors_have_same_rank(executorch::aten::Tensor a, executorch::aten::Tensor b);
// Returns true if the tensor is row-major. Compares strides, so a dimension of size 1 with another stride
// makes it false.
bool tensor_is_contiguous(executorch::aten::Tensor t);
// True for rank 0, whose one element is the tensor. A tensor of shape (1) is not a scalar here.
inline bool tensor_is_scalar(executorch::aten::Tensor t) { return t.dim() == 0 && t.numel() == 1; }

// The product of the sizes before a dimension: the number of slices that outer dimensions form. 1 for dim 0.
// Aborts unless 0 <= dim <= rank; negative dimensions are not counted from the end.
size_t getLeadingDims(const executorch::aten::Tensor& tensor, int64_t dim);
// The product of the sizes after a dimension: in a row-major tensor the distance of neighbours along it, in
// elements. 1 for the last one; dim -1 gives all elements. Aborts unless -1 <= dim < rank.
size_t getTrailingDims(const executorch::aten::Tensor& tensor, int64_t dim);

// The row-major index of an element's coordinate, which has one index a dimension. It is logical: an offset
// in memory only for a row-major tensor. Indices are not checked against the sizes. O(rank), by Horner's
// scheme.
size_t coordinateToIndex(const executorch::aten::Tensor& tensor, const size_t* const coordinate);
// Writes the products of trailing sizes, which many conversions then share. The array has
// kTensorDimensionLimit entries, of which the first `rank` are written. Aborts for a higher rank.
void memoizeTrailingDims(const executorch::aten::Tensor& tensor,
                         size_t trailing_dims_memo[kTensorDimensionLimit]);
// The same as coordinateToIndex() with those products: rank multiplications that do not depend on each other.
size_t coordinateToIndexWithTrailingDimsMemo(const executorch::aten::Tensor& tensor,
                                             const size_t* const coordinate,
                                             const size_t trailing_dims_memo[kTensorDimensionLimit]);
// The coordinate of a row-major index; `coordinate` has an entry for each dimension. Costs a division per
// dimension. Aborts unless index < numel().
void indexToCoordinate(const executorch::aten::Tensor& tensor, size_t index, size_t* coordinate);
// The offset in memory, in elements, of a coordinate in a tensor with these strides, in any dim order.
inline size_t calculate_linear_index(const executorch::aten::SizesType* coordinate,
                                     const executorch::aten::StridesType* strides, const size_t ndim) {
  size_t index = 0;
  for (size_t i = 0; i < ndim; ++i) index += static_cast<size_t>(coordinate[i] * strides[i]);
  return index;
}

// Functions of the runtime and of tests; they do not compare dtypes or shapes.
namespace internal {
// Makes the target an alias of the source's memory, which must outlive it; the alias of a constant is not
// writable. Error: InvalidArgument (different sizes in bytes, the source has no memory).
ET_NODISCARD Error share_tensor_data(const executorch::aten::Tensor& t_dst,
                                     const executorch::aten::Tensor& t_src);
// Copies the bytes, also between the host and a device with a registered DeviceAllocator. A source without
// memory leaves the target unchanged. Errors: InvalidArgument (different sizes, the target has no memory),
// NotFound (no allocator), NotSupported (device to device), or the allocator's.
ET_NODISCARD Error copy_tensor_data(const executorch::aten::Tensor& t_dst,
                                    const executorch::aten::Tensor& t_src);
// Sets memory of at least the tensor's size, which the tensor does not own. Error: InvalidArgument (too few
// bytes).
ET_NODISCARD Error set_tensor_data(const executorch::aten::Tensor& t, void* buffer, size_t buffer_size);
// Removes the memory, without freeing it.
void reset_data_ptr(const executorch::aten::Tensor& tensor);

// As resize_tensor(), for the description.
#ifdef USE_ATEN_LIB
ET_NODISCARD Error resize_tensor_impl(executorch::aten::TensorImpl* impl,
                                      executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes);
#else
ET_NODISCARD inline Error resize_tensor_impl(
    executorch::aten::TensorImpl* impl, executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes) {
  return impl->internal_resize_contiguous(new_sizes);
}
#endif
}  // namespace internal

// Sets new sizes of the same rank and recomputes the strides for the tensor's dim order; memory and elements
// stay where they are, so resize before writing. A static tensor accepts its own sizes only. O(rank). Errors:
// InvalidArgument (negative size), NotSupported (another rank, static shape), OutOfResources (more elements
// than at construction).
ET_NODISCARD inline Error resize_tensor(executorch::aten::Tensor t,
                                        executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes) {
  return internal::resize_tensor_impl(t.unsafeGetTensorImpl(), new_sizes);
}

// The same for other integers, such as PyTorch's int64 sizes. Error also: InvalidArgument (more than
// kTensorDimensionLimit sizes, or one beyond int32, which ExecuTorch cuts to 32 bits).
template <class T, std::enable_if_t<!std::is_same_v<executorch::aten::SizesType, T>, int> = 0>
ET_NODISCARD inline Error resize_tensor(executorch::aten::Tensor t, executorch::aten::ArrayRef<T> new_sizes) {
  std::array<executorch::aten::SizesType, kTensorDimensionLimit> sizes{};
  ET_CHECK_OR_RETURN_ERROR(new_sizes.size() <= sizes.size(), InvalidArgument,
                           "dimensions: got %zu, expected at most %zu", new_sizes.size(), sizes.size());
  for (size_t i = 0; i < new_sizes.size(); ++i) {
    ET_CHECK_OR_RETURN_ERROR(internal::fits_number<executorch::aten::SizesType>(new_sizes[i]),
                             InvalidArgument, "resize: a size is negative or too large");
    sizes[i] = static_cast<executorch::aten::SizesType>(new_sizes[i]);
  }
  return internal::resize_tensor_impl(t.unsafeGetTensorImpl(), {sizes.data(), new_sizes.size()});
}

// The same; aborts on an error.
ET_DEPRECATED inline void resize(executorch::aten::Tensor t,
                                 executorch::aten::ArrayRef<executorch::aten::SizesType> new_sizes) {
  ET_CHECK_MSG(resize_tensor(t, new_sizes) == Error::Ok, "sizes: not possible for this tensor");
}

// Copies the dim order. `out_dim_order_size` must be the tensor's rank. Error: InvalidArgument.
ET_NODISCARD Error get_dim_order(const executorch::aten::Tensor& tensor,
                                 executorch::aten::DimOrderType* out_dim_order, size_t out_dim_order_size);
// Predicates of the layout. A dim order is compared as it is: where sizes are 1, two orders can describe the
// same layout and still differ. The first one is true for a permutation, which every tensor has.
bool tensor_has_valid_dim_order(executorch::aten::Tensor t);
// True for row-major or channels-last (rank 4 or 5), the two layouts that most kernels accept.
bool tensor_is_default_or_channels_last_dim_order(executorch::aten::Tensor t);
// True for row-major.
bool tensor_is_default_dim_order(executorch::aten::Tensor t);
// True for channels-last.
bool tensor_is_channels_last_dim_order(executorch::aten::Tensor t);

// Returns true if all tensors are row-major or all are channels-last; true for fewer than two. Kernels that
// walk several tensors by one linear index need this.
bool tensors_have_same_dim_order(const executorch::aten::ArrayRef<executorch::aten::Tensor> tensor_list);
inline bool tensors_have_same_dim_order(const executorch::aten::Tensor& a,
                                        const executorch::aten::Tensor& b) {
  const executorch::aten::Tensor list[] = {a, b};
  return tensors_have_same_dim_order(list);
}
inline bool tensors_have_same_dim_order(const executorch::aten::Tensor& a, const executorch::aten::Tensor& b,
                                        const executorch::aten::Tensor& c) {
  const executorch::aten::Tensor list[] = {a, b, c};
  return tensors_have_same_dim_order(list);
}
inline bool tensors_have_same_dim_order(const executorch::aten::Tensor& a, const executorch::aten::Tensor& b,
                                        const executorch::aten::Tensor& c,
                                        const executorch::aten::Tensor& d) {
  const executorch::aten::Tensor list[] = {a, b, c, d};
  return tensors_have_same_dim_order(list);
}

// Reads the only element, if the tensor has exactly one and it fits; bool only from bool, integers only from
// integers, floating-point types from both. Infinities and NaN fit a floating-point type. Returns false
// without a log line; `out_val` is then unchanged. Precondition: the tensor has memory. Unsigned integers of
// 16 bits and more, and complex and quantized types, are not read.
template <class T>
bool extract_scalar_tensor(executorch::aten::Tensor tensor, T* out_val) {
  if (tensor.numel() != 1) return false;
#define RUSHLIGHT_EXTRACT(cpp_type, name)                                        \
  case executorch::aten::ScalarType::name: {                                     \
    const cpp_type value = *tensor.const_data_ptr<cpp_type>();                   \
    if (!internal::fits_number<T>(value)) return false;                          \
    *out_val = static_cast<T>(static_cast<internal::NumberOf<cpp_type>>(value)); \
    return true;                                                                 \
  }
  switch (tensor.scalar_type()) {
    case executorch::aten::ScalarType::Bool:
      if constexpr (std::is_same_v<T, bool>) {
        *out_val = *tensor.const_data_ptr<bool>();
        return true;
      }
      return false;
    default:
      break;
  }
  if constexpr (std::is_same_v<T, bool>) return false;
  switch (tensor.scalar_type()) {
    ET_FORALL_INT_TYPES(RUSHLIGHT_EXTRACT)
    default:
      break;
  }
  if constexpr (!std::is_integral_v<T>) {
    switch (tensor.scalar_type()) {
      ET_FORALL_FLOATHBF16_TYPES(RUSHLIGHT_EXTRACT)
      default:
        break;
    }
  }
#undef RUSHLIGHT_EXTRACT
  return false;
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::calculate_linear_index;
using ::executorch::ET_RUNTIME_NAMESPACE::coordinateToIndex;
using ::executorch::ET_RUNTIME_NAMESPACE::dim_is_valid;
using ::executorch::ET_RUNTIME_NAMESPACE::extract_scalar_tensor;
using ::executorch::ET_RUNTIME_NAMESPACE::get_dim_order;
using ::executorch::ET_RUNTIME_NAMESPACE::getLeadingDims;
using ::executorch::ET_RUNTIME_NAMESPACE::getTrailingDims;
using ::executorch::ET_RUNTIME_NAMESPACE::indexToCoordinate;
using ::executorch::ET_RUNTIME_NAMESPACE::nonempty_size;
using ::executorch::ET_RUNTIME_NAMESPACE::nonzero_dim;
using ::executorch::ET_RUNTIME_NAMESPACE::resize;
using ::executorch::ET_RUNTIME_NAMESPACE::resize_tensor;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_can_cast_to;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_dim_has_index;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_has_dim;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_has_expected_size;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_has_non_empty_dim;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_has_rank_greater_or_equal_to;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_has_rank_smaller_or_equal_to;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_has_valid_dim_order;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_bits_type;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_bool_type;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_complex_type;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_contiguous;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_default_dim_order;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_default_or_channels_last_dim_order;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_floating_type;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_integral_type;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_rank;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_real_type;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_realh_type;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_realhb_type;
using ::executorch::ET_RUNTIME_NAMESPACE::tensor_is_scalar;
using ::executorch::ET_RUNTIME_NAMESPACE::tensors_have_same_dim_order;
using ::executorch::ET_RUNTIME_NAMESPACE::tensors_have_same_dtype;
using ::executorch::ET_RUNTIME_NAMESPACE::tensors_have_same_rank;
using ::executorch::ET_RUNTIME_NAMESPACE::tensors_have_same_shape;
using ::executorch::ET_RUNTIME_NAMESPACE::tensors_have_same_shape_and_dtype;
using ::executorch::ET_RUNTIME_NAMESPACE::tensors_have_same_size_at_dims;
using ::executorch::ET_RUNTIME_NAMESPACE::tensors_have_same_strides;
using ::executorch::runtime::kTensorDimensionLimit;
namespace internal {
using ::executorch::ET_RUNTIME_NAMESPACE::internal::copy_tensor_data;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::reset_data_ptr;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::resize_tensor_impl;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::set_tensor_data;
using ::executorch::ET_RUNTIME_NAMESPACE::internal::share_tensor_data;
}  // namespace internal
}  // namespace torch::executor
