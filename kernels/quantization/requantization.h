// SPDX-License-Identifier: BSD-3-Clause
// Arguments of operators that compute in integers: how sums become quantized numbers.
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

// Quantized tensors of these operators. Those of 16 bits count from 0: their zero points are 0.
inline constexpr TypeSet kByteTypes = type_set(ScalarType::Char, ScalarType::Byte);
inline constexpr TypeSet kQuantizedNumbers = kByteTypes | type_set(ScalarType::Short);

// What sums of products with such numbers are held in, and the bias of such sums.
template <class T>
using ProductSum = std::conditional_t<sizeof(T) == 1, int32_t, int64_t>;

// The range that a quantized tensor uses of its dtype.
struct QuantizedRange {
  int64_t zero_point;
  int64_t low;
  int64_t high;
};

// As operators are called with it. Multipliers are int32, with int8 shifts, for "single" and "double",
// float32 without shifts for "float", one for all columns or one for each. The bias is a ProductSum, one for
// each column.
struct RequantizationArguments {
  const std::optional<Tensor>& bias;
  const Tensor& multipliers;
  const std::optional<Tensor>& shifts;
  std::string_view rounding;
  QuantizedRange range;
};

// InvalidArgument unless `value`, the argument named, is a zero point of the dtype, one of kQuantizedNumbers.
Error check_zero_point(int64_t value, ScalarType type, const char* name);

// InvalidArgument unless the range is one of the dtype, one of kQuantizedNumbers, with the zero point in it.
Error check_quantized_range(const QuantizedRange& range, ScalarType type);

// Proves the arguments for results of `out`'s dtype, which are sums of `depth` products of an element of such
// a dtype and one of int8: no sum overflows. Of int16 these are sums of 48 bits, see requantize_wide(). Costs
// a few instructions a column. InvalidArgument, InvalidType.
Error make_requantization(const RequantizationArguments& arguments, const Tensor& out, size_t columns,
                          size_t depth, ukernel::Requantization* to);

// The same for one column of sums of `count` numbers of `out`'s dtype, less a zero point each: means and
// pools. They have 32 bits.
Error make_requantization_of_sums(const RequantizationArguments& arguments, const Tensor& out, size_t count,
                                  ukernel::Requantization* to);

// The parts that these are made of, for operators whose arguments say the same in other words.
//
// The largest magnitude of a sum of `depth` products, each at most `largest`, and a bias, which is null or
// has `columns` numbers. InvalidArgument if that is more than 32 bits hold.
inline constexpr int64_t kLargestProduct = int64_t{255} * 128;
Error bound_sums(const int32_t* bias, size_t columns, size_t depth, int64_t largest, int64_t* bound);
// InvalidArgument unless `to`, of fixed point, has `count` multipliers and shifts for sums of at most
// `bound`.
Error check_fixed_point(const ukernel::Requantization& to, size_t count, int64_t bound);

// Of the columns from `first` on.
[[nodiscard]] inline ukernel::Requantization columns_from(ukernel::Requantization to, size_t first) {
  const ptrdiff_t offset = to.step * static_cast<ptrdiff_t>(first);
  if (to.multipliers != nullptr) to.multipliers += offset;
  if (to.shifts != nullptr) to.shifts += offset;
  if (to.scales != nullptr) to.scales += offset;
  return to;
}

}  // namespace rushlight::kernels
