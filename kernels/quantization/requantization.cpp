// SPDX-License-Identifier: BSD-3-Clause
// Proves once for each call that no accumulator or shift overflows for the given depth, bias, multipliers and
// shifts; microkernels rely on it. Costs two vectorized passes over the lists.
#include "kernels/quantization/requantization.h"

#include <type_traits>

#include "kernels/checks/checks.h"
#include "kernels/checks/overlap.h"
#include "kernels/checks/selection.h"

namespace rushlight::kernels {

namespace {

using ukernel::Rounding;

constexpr int64_t kLargestByte = 255;
constexpr int64_t kLargestShort = 32768;
// Nonzero multipliers are normalized to 31 bits, so that the shift alone sets the magnitude.
constexpr int32_t kLeastMultiplier = 1 << 30;

// Builds without int16 contain no code for it.
constexpr bool kSelectsShort = contains(kAnySelectedType, ScalarType::Short);
bool is_short(ScalarType type) { return kSelectsShort && type == ScalarType::Short; }

struct Limits {
  int64_t low;
  int64_t high;
};
Limits limits_of(ScalarType type) {
  if (is_short(type)) return {INT16_MIN, INT16_MAX};
  return type == ScalarType::Byte ? Limits{0, 255} : Limits{-128, 127};
}

// The largest magnitude of an element minus a zero point.
int64_t largest_of(ScalarType type) { return is_short(type) ? kLargestShort : kLargestByte; }

Error read_rounding(std::string_view name, Rounding* rounding) {
  // In the order of the enumeration.
  constexpr std::string_view kNames[] = {"single", "double", "float"};
  for (size_t i = 0; i < 3; ++i) {
    if (name == kNames[i]) {
      *rounding = static_cast<Rounding>(i);
      return Error::Ok;
    }
  }
  RL_CHECK(false, Error::InvalidArgument, "rounding: expected single, double or float, got %.*s",
           static_cast<int>(name.size() < 32 ? name.size() : 32), name.data());
  return Error::Ok;
}

// InvalidArgument or InvalidType unless the list has the dtype and one element, or one for each column.
Error check_list(const Tensor& list, ScalarType type, size_t columns, const char* name) {
  RL_CHECK(list.scalar_type() == type, Error::InvalidType, "%s: expected dtype %s, got %s", name,
           to_string(type), to_string(list.scalar_type()));
  RL_CHECK(list.dim() <= 1 && (list.numel() == 1 || list.numel() == columns), Error::InvalidArgument,
           "%s: expected one element or %lu, got %lu", name, static_cast<unsigned long>(columns),
           static_cast<unsigned long>(list.numel()));
  return Error::Ok;
}

// The bias is int32, or int64 for sums of int16 products.
Error check_bias(const std::optional<Tensor>& bias, ScalarType type, size_t columns) {
  if (!bias) return Error::Ok;
  RL_TRY(check_list(*bias, is_short(type) ? ScalarType::Long : ScalarType::Int, columns, "bias"));
  RL_CHECK(bias->numel() == columns, Error::InvalidArgument, "bias: expected %lu elements, got one",
           static_cast<unsigned long>(columns));
  return Error::Ok;
}

// The first invalid element, or null. Without a branch in the first loop, so that compilers vectorize it.
template <class T, class F>
const T* first_wrong(const T* numbers, size_t count, F is_wrong) {
  std::conditional_t<sizeof(T) == 1, int8_t, int32_t> wrong = 0;
  for (const T* number = numbers; number != numbers + count; ++number) wrong |= is_wrong(*number) ? 1 : 0;
  if (wrong == 0) return nullptr;
  while (!is_wrong(*numbers)) ++numbers;
  return numbers;
}

// The negated form also refuses NaN; & instead of && keeps the loop free of branches.
Error check_scales(const float* scales, size_t count) {
  const float* wrong =
      first_wrong(scales, count, [](float scale) { return !((scale > 0) & (scale <= __FLT_MAX__)); });
  RL_CHECK(wrong == nullptr, Error::InvalidArgument, "multipliers: expected finite values above 0, got %g",
           static_cast<double>(*wrong));
  return Error::Ok;
}

template <class T>
const T* elements_of(const std::optional<Tensor>& bias) {
  return bias ? bias->const_data_ptr<T>() : nullptr;
}

// The largest magnitude; null is an empty list, and gives 0. Saturates for INT64_MIN, whose magnitude does
// not fit.
template <class T>
int64_t most_of(const T* numbers, size_t count) {
  T low = 0, high = 0;
  for (size_t i = 0; numbers != nullptr && i < count; ++i) {
    low = numbers[i] < low ? numbers[i] : low;
    high = numbers[i] > high ? numbers[i] : high;
  }
  if constexpr (sizeof(T) == sizeof(int64_t)) {
    if (low == INT64_MIN) return INT64_MAX;
  }
  return -int64_t{low} > high ? -int64_t{low} : high;
}

Error check_depth(size_t depth) {
  RL_CHECK(depth <= INT32_MAX, Error::InvalidArgument, "weight: %lu products a sum are too many",
           static_cast<unsigned long>(depth));
  return Error::Ok;
}

// Sums of products of int16 and int8 have 48 bits.
Error bound_wide_sums(const std::optional<Tensor>& bias, size_t columns, size_t depth, int64_t* bound) {
  constexpr int64_t kLargest = kLargestShort * 128;
  const int64_t most = most_of(elements_of<int64_t>(bias), columns);
  RL_TRY(check_depth(depth));
  // The product of depth and kLargest is at most 2^53, so this difference does not overflow.
  RL_CHECK(most <= ukernel::kMostWideSum - static_cast<int64_t>(depth) * kLargest, Error::InvalidArgument,
           "bias and weight: sums of %lu products and a bias may have more than 48 bits",
           static_cast<unsigned long>(depth));
  *bound = ukernel::kMostWideSum;  // kernels requantize every such sum as a wide one
  return Error::Ok;
}

// The largest shift: a 32-bit sum that rounding "double" shifts left must keep its value.
int most_shift(Rounding rounding, int64_t bound) {
  if (kSelectsShort && bound > INT32_MAX) {
    return rounding == Rounding::kDouble ? ukernel::kMostWideDoubleShift : ukernel::kMostWideShift;
  }
  int most = ukernel::kMostShift;
  if (rounding == Rounding::kDouble) {
    // 64 bits hold a 32-bit bound shifted by any valid shift.
    while (most > 0 && (bound << most) > INT32_MAX) --most;
  }
  return most;
}

// Proves the arguments for sums of at most `bound`.
Error prove(const RequantizationArguments& arguments, const Tensor& out, size_t columns, int64_t bound,
            ukernel::Requantization* to) {
  const QuantizedRange& range = arguments.range;
  RL_TRY(check_quantized_range(range, out.scalar_type()));
  to->zero_point = static_cast<int32_t>(range.zero_point);
  to->low = static_cast<int32_t>(range.low);
  to->high = static_cast<int32_t>(range.high);
  RL_TRY(read_rounding(arguments.rounding, &to->rounding));
  const Tensor& multipliers = arguments.multipliers;
  const bool is_float = to->rounding == Rounding::kFloat;
  RL_TRY(check_list(multipliers, is_float ? ScalarType::Float : ScalarType::Int, columns, "multipliers"));
  to->step = multipliers.numel() == 1 ? 0 : 1;
  // The proven values are read again while results are written, so `out` must not overlap them.
  RL_TRY(check_no_overlap(multipliers, out, "multipliers"));
  if (arguments.bias) RL_TRY(check_no_overlap(*arguments.bias, out, "bias"));
  if (arguments.shifts) RL_TRY(check_no_overlap(*arguments.shifts, out, "shifts"));
  RL_CHECK(arguments.shifts.has_value() != is_float, Error::InvalidArgument,
           "shifts: expected %s for rounding %s", is_float ? "none" : "some",
           is_float ? "float" : "of integers");
  if (is_float) {
    to->scales = multipliers.const_data_ptr<float>();
    return check_scales(to->scales, multipliers.numel());
  }
  RL_TRY(check_list(*arguments.shifts, ScalarType::Char, columns, "shifts"));
  RL_CHECK(arguments.shifts->numel() == multipliers.numel(), Error::InvalidArgument,
           "shifts: expected as many as multipliers, %lu, got %lu",
           static_cast<unsigned long>(multipliers.numel()),
           static_cast<unsigned long>(arguments.shifts->numel()));
  to->multipliers = multipliers.const_data_ptr<int32_t>();
  to->shifts = arguments.shifts->const_data_ptr<int8_t>();
  return check_fixed_point(*to, multipliers.numel(), bound);
}

}  // namespace

Error bound_sums(const int32_t* bias, size_t columns, size_t depth, int64_t largest, int64_t* bound) {
  // The magnitude of a sum is at most that of the bias plus `depth` times that of a product.
  const int64_t most = most_of(bias, columns);
  RL_TRY(check_depth(depth));
  *bound = most + static_cast<int64_t>(depth) * largest;
  RL_CHECK(*bound <= INT32_MAX, Error::InvalidArgument,
           "bias and weight: sums of %lu products and a bias of up to %ld may have more than 32 bits",
           static_cast<unsigned long>(depth), static_cast<long>(most));
  return Error::Ok;
}

Error check_fixed_point(const ukernel::Requantization& to, size_t count, int64_t bound) {
  // Tests each range with one unsigned comparison: number - kLeast wraps around for smaller numbers.
  const int32_t* multiplier = first_wrong(to.multipliers, count, [](int32_t number) {
    constexpr auto kLeast = static_cast<uint32_t>(kLeastMultiplier);
    return (number != 0) & (static_cast<uint32_t>(number) - kLeast >= kLeast);
  });
  RL_CHECK(multiplier == nullptr, Error::InvalidArgument, "multipliers: expected 0 or 2^30 at least, got %ld",
           static_cast<long>(*multiplier));
  const int most = most_shift(to.rounding, bound);
  const auto span = static_cast<uint8_t>(most - ukernel::kLeastShift);
  const int8_t* shift = first_wrong(to.shifts, count, [span](int8_t number) {
    return static_cast<uint8_t>(number - ukernel::kLeastShift) > span;
  });
  RL_CHECK(shift == nullptr, Error::InvalidArgument, "shifts: expected %d to %d, got %d",
           ukernel::kLeastShift, most, static_cast<int>(*shift));
  return Error::Ok;
}

Error check_zero_point(int64_t value, ScalarType type, const char* name) {
  // 16-bit tensors are symmetric: their zero point is 0.
  const Limits limits = is_short(type) ? Limits{0, 0} : limits_of(type);
  RL_CHECK(value >= limits.low && value <= limits.high, Error::InvalidArgument,
           "%s: expected %ld to %ld, got %ld", name, static_cast<long>(limits.low),
           static_cast<long>(limits.high), static_cast<long>(value));
  return Error::Ok;
}

Error check_quantized_range(const QuantizedRange& range, ScalarType type) {
  const Limits limits = limits_of(type);
  RL_CHECK(!is_short(type) || range.zero_point == 0, Error::InvalidArgument,
           "output_zero_point: expected 0 for int16, got %ld", static_cast<long>(range.zero_point));
  RL_CHECK(limits.low <= range.low && range.low <= range.zero_point && range.zero_point <= range.high &&
               range.high <= limits.high,
           Error::InvalidArgument,
           "output_min, output_zero_point, output_max: expected %ld <= min <= zero point <= max <= %ld, got "
           "%ld, %ld, %ld",
           static_cast<long>(limits.low), static_cast<long>(limits.high), static_cast<long>(range.low),
           static_cast<long>(range.zero_point), static_cast<long>(range.high));
  return Error::Ok;
}

Error make_requantization(const RequantizationArguments& arguments, const Tensor& out, size_t columns,
                          size_t depth, ukernel::Requantization* to) {
  int64_t bound = 0;
  RL_TRY(check_bias(arguments.bias, out.scalar_type(), columns));
  RL_TRY(is_short(out.scalar_type())
             ? bound_wide_sums(arguments.bias, columns, depth, &bound)
             : bound_sums(elements_of<int32_t>(arguments.bias), columns, depth, kLargestProduct, &bound));
  return prove(arguments, out, columns, bound, to);
}

Error make_requantization_of_sums(const RequantizationArguments& arguments, const Tensor& out, size_t count,
                                  ukernel::Requantization* to) {
  // count * largest must fit in 32 bits: the sums have no bias.
  const int64_t largest = largest_of(out.scalar_type());
  const auto most = static_cast<size_t>(INT32_MAX / largest);
  RL_CHECK(count <= most, Error::InvalidArgument, "input: expected sums of at most %lu values, got %lu",
           static_cast<unsigned long>(most), static_cast<unsigned long>(count));
  return prove(arguments, out, 1, static_cast<int64_t>(count) * largest, to);
}

}  // namespace rushlight::kernels
