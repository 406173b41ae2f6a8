// SPDX-License-Identifier: BSD-3-Clause
// The check macros of executorch/runtime/core/exec_aten/util/tensor_util.h, and their implementation.
// ET_CHECK_ macros log and abort; ET_LOG_ macros log and return false; ET_KERNEL_CHECK fails the kernel's
// context. Most pass their arguments to a function, so that a kernel holds a call and no message.
#pragma once

#include <limits>
#include <type_traits>

#include <c10/util/TypeSafeSignMath.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/platform/assert.h>

#include "compat/detail/convert.h"

// Part of the official header; rushlight's messages do not use the prefix.
#define ET_TENSOR_CHECK_PREFIX__ "Tensors do not match"
#define ET_MIN3(a, b, c) ET_MIN2(ET_MIN2(a, b), c)
#define ET_MIN2(a, b) (::std::min)((a), (b))
// Counts negative indices from the end. Not checked, and IX is evaluated twice.
#define ET_NORMALIZE_IX(IX, UPPER_BOUND) ((IX) + ((IX) < 0 ? (UPPER_BOUND) : 0))

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

// For macros: log and abort if the check fails. `list` has at least one tensor; all are compared with the
// first.
using TensorList = executorch::aten::ArrayRef<executorch::aten::Tensor>;
// Accepts -bound <= value < bound; `what` names the value in the message.
void check_in_range(const char* what, int64_t value, int64_t bound);
void check_same_shape(TensorList list);
void check_same_dtype(TensorList list);
void check_same_strides(TensorList list);
void check_contiguous(const executorch::aten::Tensor& tensor);
void check_usual_dim_order(const executorch::aten::Tensor& tensor);

// Collects handles of the arguments in a list for the check.
template <class... Tensors>
void check_all(void (*check)(TensorList), const Tensors&... tensors) {
  const executorch::aten::Tensor list[] = {tensors...};
  check(TensorList(list, sizeof...(tensors)));
}

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE

#define ET_CHECK_VALID_IX(IX, UPPER_BOUND) ::rushlight::compat::check_in_range("index", IX, UPPER_BOUND)
#define ET_CHECK_VALID_DIM(DIM, UPPER_BOUND) \
  ::rushlight::compat::check_in_range("dimension", DIM, UPPER_BOUND)
// Declares a variable `udim`, the normalized dimension, as the official macro does: at most once a scope.
#define ET_CHECK_NON_ZERO_DIM_SIZE(DIM, T)                                \
  const size_t udim = static_cast<size_t>(ET_NORMALIZE_IX(DIM, T.dim())); \
  ET_CHECK_MSG(T.size(udim) != 0, "dimension %zu: size 0", udim);

// Shapes of tensors with one element each count as equal, whatever their ranks.
#define ET_CHECK_SAME_SHAPE2(a, b) ::rushlight::compat::check_all(::rushlight::compat::check_same_shape, a, b)
#define ET_CHECK_SAME_SHAPE3(a, b, c) \
  ::rushlight::compat::check_all(::rushlight::compat::check_same_shape, a, b, c)
#define ET_CHECK_SAME_DTYPE2(a, b) ::rushlight::compat::check_all(::rushlight::compat::check_same_dtype, a, b)
#define ET_CHECK_SAME_DTYPE3(a, b, c) \
  ::rushlight::compat::check_all(::rushlight::compat::check_same_dtype, a, b, c)
#define ET_CHECK_SAME_STRIDES2(a, b) \
  ::rushlight::compat::check_all(::rushlight::compat::check_same_strides, a, b)
#define ET_CHECK_SAME_STRIDES3(a, b, c) \
  ::rushlight::compat::check_all(::rushlight::compat::check_same_strides, a, b, c)
#define ET_CHECK_SAME_SHAPE_AND_DTYPE2(a, b) (ET_CHECK_SAME_SHAPE2(a, b), ET_CHECK_SAME_DTYPE2(a, b))
#define ET_CHECK_SAME_SHAPE_AND_DTYPE3(a, b, c) (ET_CHECK_SAME_SHAPE3(a, b, c), ET_CHECK_SAME_DTYPE3(a, b, c))
// Row-major strides; and row-major or channels-last dim order.
#define ET_CHECK_CONTIGUOUS(a) ::rushlight::compat::check_contiguous(a)
#define ET_CHECK_DEFAULT_OR_CHANNELSLAST_DIMORDER(t) ::rushlight::compat::check_usual_dim_order(t)

// In a predicate: returns false from the enclosing function.
#define ET_LOG_AND_RETURN_IF_FALSE(cond) ET_LOG_MSG_AND_RETURN_IF_FALSE(cond, "")
#define ET_LOG_MSG_AND_RETURN_IF_FALSE(cond, ...) ET_CHECK_OR_RETURN_FALSE(cond, __VA_ARGS__)

// In a kernel: fails the context and returns `retval` (nothing if it is empty) from the enclosing function.
// `error` is an enumerator's name without Error::.
#define ET_KERNEL_CHECK(context, cond, error, retval) \
  RUSHLIGHT_KERNEL_CHECK(context, cond, error, retval, "kernel check failed: %s", #cond)
#define ET_KERNEL_CHECK_MSG(context, cond, error, retval, message, ...)                            \
  RUSHLIGHT_KERNEL_CHECK(context, cond, error, retval, "kernel check failed: %s: " message, #cond, \
                         ##__VA_ARGS__)
#define RUSHLIGHT_KERNEL_CHECK(context, cond, code, retval, ...) \
  do {                                                           \
    if (cond) break;                                             \
    (context).fail(::executorch::runtime::Error::code);          \
    ET_LOG(Error, __VA_ARGS__);                                  \
    return retval;                                               \
  } while (false)

// Reads a tensor of one element; aborts if it has another number of elements or the variable cannot hold it.
#define ET_EXTRACT_SCALAR_TENSOR(scalar_tensor, out_val)                                \
  do {                                                                                  \
    const bool rushlight_fits = extract_scalar_tensor((scalar_tensor), &(out_val));     \
    ET_CHECK_MSG(rushlight_fits, "%s: expected one element that fits", #scalar_tensor); \
  } while (0)

namespace executorch::ET_RUNTIME_NAMESPACE::internal {

// The type in which a value is compared: 16-bit floats as float.
template <class T>
using NumberOf = std::conditional_t<is_reduced_floating_point_v<T>, float, T>;

// Returns true if T can hold `value`; infinities and NaN count if T is a floating-point type. Ranges are
// compared, not precision: a rounded value fits.
template <class T, class From>
bool fits_number(From value) {
  if constexpr (std::is_integral_v<T>) {
    return !c10::less_than_lowest<T>(value) && !c10::greater_than_max<T>(value);
  } else {
    // Every T is contained in double, so the comparison is exact at its limits.
    const auto wide = static_cast<double>(static_cast<NumberOf<From>>(value));
    return !std::isfinite(wide) || (wide >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                                    wide <= static_cast<double>(std::numeric_limits<T>::max()));
  }
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE::internal
