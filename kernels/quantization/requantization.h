// SPDX-License-Identifier: BSD-3-Clause
// Arguments of integer operators: the requantization of sums to quantized elements. The functions prove once
// for each call that no sum or shift overflows, so that microkernels need no checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The dtypes of quantized tensors in these operators. 16-bit tensors have zero point 0.
inline constexpr TypeSet kByteTypes = type_set(ScalarType::Char, ScalarType::Byte);
inline constexpr TypeSet kQuantizedElements = kByteTypes | type_set(ScalarType::Short);

// The accumulator of sums of products of such elements, and the type of their bias: 32 bits for 8-bit
// elements.
template <class T>
using ProductSum = std::conditional_t<sizeof(T) == 1, int32_t, int64_t>;

// The part of its dtype's range that a quantized tensor uses: a fused relu, for instance, raises `low` to the
// zero point.
struct QuantizedRange {
  int64_t zero_point;
  int64_t low;
  int64_t high;
};

// The operators' arguments. Multipliers are int32 with int8 shifts for rounding "single" and "double", and
// float32 without shifts for "float"; one for all columns, or one for each. The bias has one ProductSum for
// each column.
struct RequantizationArguments {
  const std::optional<Tensor>& bias;
  const Tensor& multipliers;
  const std::optional<Tensor>& shifts;
  std::string_view rounding;
  QuantizedRange range;
};

// InvalidArgument unless `value`, the argument `name`, is a zero point of the dtype, which is in
// kQuantizedElements: any value of a byte, 0 for int16.
Error check_zero_point(int64_t value, ScalarType type, const char* name);

// InvalidArgument unless the dtype, which is in kQuantizedElements, can hold the range, and the range
// contains the zero point.
Error check_quantized_range(const QuantizedRange& range, ScalarType type);

// Proves that no sum overflows for results of `out`'s dtype that are sums of `depth` products of an element
// of that dtype and an int8 one, and sets `to`. For int16 the sums have 48 bits, see requantize_wide(). The
// lists must not overlap `out`, since they are read again while it is written. `to` refers to the arguments'
// tensors. Cost: a few instructions for each column. InvalidArgument, InvalidType.
Error make_requantization(const RequantizationArguments& arguments, const Tensor& out, size_t columns,
                          size_t depth, ukernel::Requantization* to);

// The same for one column of sums of `count` elements of `out`'s dtype minus a zero point: means and pools.
// The sums have 32 bits.
Error make_requantization_of_sums(const RequantizationArguments& arguments, const Tensor& out, size_t count,
                                  ukernel::Requantization* to);

// The steps of these functions, for operators with other arguments.
//
// The largest magnitude of a sum of `depth` products, each at most `largest`, and a bias, which is null or
// has `columns` elements. InvalidArgument if it exceeds 32 bits.
inline constexpr int64_t kLargestProduct = int64_t{255} * 128;
Error bound_sums(const int32_t* bias, size_t columns, size_t depth, int64_t largest, int64_t* bound);
// InvalidArgument unless the `count` fixed-point multipliers and shifts of `to` are valid for sums of at most
// `bound`.
Error check_fixed_point(const ukernel::Requantization& to, size_t count, int64_t bound);

// The requantization of the columns from `first` on: the same with advanced pointers; one scale for all
// stays.
[[nodiscard]] inline ukernel::Requantization columns_from(ukernel::Requantization to, size_t first) {
  // Step 0 leaves all pointers as they are.
  const ptrdiff_t offset = to.step * static_cast<ptrdiff_t>(first);
  if (to.multipliers != nullptr) to.multipliers += offset;
  if (to.shifts != nullptr) to.shifts += offset;
  if (to.scales != nullptr) to.scales += offset;
  return to;
}

}  // namespace rushlight::kernels
