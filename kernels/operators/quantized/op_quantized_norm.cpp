// SPDX-License-Identifier: BSD-3-Clause
// Layer, group and RMS normalization of integers: dequantize, normalize and quantize fused, without float
// arithmetic.
//
// With n elements x in a group, their sum S, and V = n * (sum of squares) - S^2, both exact, the normalized
// element is (n x - S) / sqrt(V + epsilon), for every scale and zero point of x; epsilon is the float
// operator's times n^2 / scale^2. RMS normalization subtracts the zero point from x and uses S = 0. One
// integer square root and one division per group give the reciprocal to 30 bits. The element has kFraction
// fraction bits, then
//
//   out = clamp(((element * weight + bias * 2^bias_shift + 2^(shift - 1)) >> shift) + zero point, min, max)
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/normalization/normalization.h"
#include "kernels/quantization/affine.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/joint_axes.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kLayerTypes = selected_types("rushlight::quantized_layer_norm.out") & kByteTypes;
constexpr TypeSet kGroupTypes = selected_types("rushlight::quantized_group_norm.out") & kByteTypes;
constexpr TypeSet kRmsTypes = selected_types("rushlight::quantized_rms_norm.out") & kByteTypes;
constexpr TypeSet kTypes = kLayerTypes | kGroupTypes | kRmsTypes;
constexpr int kFraction = 19;
// Limits under which no intermediate overflows: V and epsilon have at most 62 bits each, so their sum fits in
// uint64.
constexpr size_t kMostElements = 1 << 22;
constexpr int64_t kMostEpsilon = int64_t{1} << 62;
constexpr int64_t kMostShift = 62;
constexpr int64_t kMostBiasShift = 30;
constexpr int kSpreadBits = 14;  // V < n^2 * 2^14
constexpr int kSquareBits = 16;  // the same bound for S = 0

enum Operand { kInput, kOutput, kWeight, kBias, kOperands };

// Axes of the groups, and of the elements of a group, for all operands. Parameters do not move from group to
// group of a layer norm, and have stride 0 along axes that they do not vary with.
struct Layout {
  JointAxes<kOperands> groups;
  JointAxes<kOperands> elements;
  size_t count = 1;
};

// The scalar arguments of an operator.
struct NormArguments {
  int64_t epsilon;
  int64_t epsilon_shift;
  int64_t shift;
  int64_t bias_shift;
  QuantizedRange range;
};

struct NormScale {
  uint64_t epsilon;
  int epsilon_shift;
  int shift;
  int bias_shift;
  int32_t zero_point;
  int32_t low;
  int32_t high;
  int32_t center = 0;  // subtracted from inputs
  bool has_mean = true;
};

// Weight and bias, int32. A missing bias is 0.
struct NormParameters {
  const Tensor& weight;
  const Tensor* bias;

  [[nodiscard]] Error check_types() const {
    const ScalarType other = bias == nullptr ? ScalarType::Int : bias->scalar_type();
    RL_CHECK(weight.scalar_type() == ScalarType::Int && other == ScalarType::Int, Error::InvalidType,
             "weight and bias: expected dtype int32, got %s and %s", to_string(weight.scalar_type()),
             to_string(other));
    return Error::Ok;
  }
  [[nodiscard]] Error check_shape(Span<const SizesType> shape) const {
    RL_TRY(check_parameter_shape(weight, shape, "weight"));
    return bias == nullptr ? Error::Ok : check_parameter_shape(*bias, shape, "bias");
  }
  [[nodiscard]] ptrdiff_t bias_stride(size_t d) const { return bias == nullptr ? 0 : byte_stride(*bias, d); }
};

// Layout of groups over the last dimensions, as many as the weight has.
Error plan_last(const Tensor& input, const NormParameters& parameters, const Tensor& out, Layout* layout) {
  const Tensor& weight = parameters.weight;
  const size_t rank = input.sizes().size();
  const size_t normalized = weight.sizes().size();
  RL_TRY(parameters.check_types());
  RL_CHECK(normalized >= 1 && normalized <= rank, Error::InvalidArgument,
           "weight: expected rank 1 to %lu, got %lu", static_cast<unsigned long>(rank),
           static_cast<unsigned long>(normalized));
  const size_t first = rank - normalized;
  const auto shape = input.sizes().subspan(first, normalized);
  RL_TRY(parameters.check_shape(shape));
  RL_TRY(resize_out(out, input.sizes()));
  for (size_t i = rank; i-- > 0;) {
    const size_t d = input.dim_order()[i];
    const auto size = static_cast<size_t>(input.sizes()[d]);
    const ptrdiff_t from = byte_stride(input, d), to = byte_stride(out, d);
    if (d < first) {
      layout->groups.add({size, {from, to, 0, 0}});
    } else {
      layout->count *= size;
      layout->elements.add(
          {size, {from, to, byte_stride(weight, d - first), parameters.bias_stride(d - first)}});
    }
  }
  return Error::Ok;
}

// Layout of groups of channels [N, C, ...]; weight and bias have one element for each channel. The channels
// split in two axes: within a group, and from group to group.
Error plan_groups(const Tensor& input, const NormParameters& parameters, int64_t groups, const Tensor& out,
                  Layout* layout) {
  const size_t rank = input.sizes().size();
  RL_TRY(parameters.check_types());
  RL_CHECK(rank >= 2, Error::InvalidArgument, "input: expected rank 2 at least, got %lu",
           static_cast<unsigned long>(rank));
  const auto channels = input.sizes().subspan(1, 1);
  RL_CHECK(groups >= 1 && channels[0] % groups == 0, Error::InvalidArgument,
           "groups: expected a divisor of %ld channels, got %ld", static_cast<long>(channels[0]),
           static_cast<long>(groups));
  RL_TRY(parameters.check_shape(channels));
  RL_TRY(resize_out(out, input.sizes()));
  const auto share = static_cast<ptrdiff_t>(channels[0] / groups);
  for (size_t i = rank; i-- > 0;) {
    const size_t d = input.dim_order()[i];
    const auto size = static_cast<size_t>(d == 1 ? share : input.sizes()[d]);
    const ptrdiff_t from = byte_stride(input, d), to = byte_stride(out, d);
    const ptrdiff_t of_weight = d == 1 ? byte_stride(parameters.weight, 0) : 0;
    const ptrdiff_t of_bias = d == 1 ? parameters.bias_stride(0) : 0;
    if (d == 0) {
      layout->groups.add({size, {from, to, 0, 0}});
    } else {
      layout->count *= size;
      layout->elements.add({size, {from, to, of_weight, of_bias}});
    }
    if (d == 1) {
      layout->groups.add(
          {static_cast<size_t>(groups), {from * share, to * share, of_weight * share, of_bias * share}});
    }
  }
  return Error::Ok;
}

// The largest integer whose square is at most `value`, digit by digit in base 4: 32 steps without a
// multiplication.
uint64_t square_root(uint64_t value) {
  uint64_t root = 0;
  for (int bit = 62; bit >= 0; bit -= 2) {
    const uint64_t next = root + (uint64_t{1} << bit);
    root >>= 1;
    if (value >= next) {
      value -= next;
      root += uint64_t{1} << bit;
    }
  }
  return root;
}

// 1 / sqrt(value / 4^halvings) = multiplier * 2^-shift, so that normalized elements have kFraction fraction
// bits. The multiplier is 0 if the reciprocal is too large, that is if all elements are equal. The value is
// first doubled until it has 63 or 64 bits, for a root of 32 bits.
struct Reciprocal {
  int64_t multiplier = 0;
  int shift = 1;

  Reciprocal(uint64_t value, int halvings) {
    if (value == 0) return;
    const int doublings = __builtin_clzll(value) / 2;
    const int found = 62 - kFraction - doublings - halvings;
    if (found < 1) return;
    const auto root = static_cast<int64_t>(square_root(value << (2 * doublings)));
    multiplier = std::min<int64_t>((int64_t{1} << 62) / root, INT32_MAX);
    shift = found;
  }
};

// Two passes: sums, then elements. `out` may alias the inputs, so that the two passes may read different
// values: the final sum uses unsigned arithmetic, in which overflow is defined.
template <class T>
void normalize_group(const Layout& layout, char* const* start, const NormScale& to) {
  const auto& run = layout.elements.inner();
  int64_t sum = 0, squares = 0;
  layout.elements.walk(start, 1, [&](char* const* pointers) {
    const char* value = pointers[kInput];
    for (size_t i = 0; i < run.size; ++i, value += run.strides[kInput]) {
      const int32_t x = *reinterpret_cast<const T*>(value) - to.center;
      sum += x;
      squares += x * x;
    }
  });
  const auto count = static_cast<int64_t>(layout.count);
  if (!to.has_mean) sum = 0;
  // V is at least 0 (Cauchy-Schwarz) and below 2^62, as check_count() has proven.
  const auto spread = static_cast<uint64_t>(count * squares - sum * sum);
  const Reciprocal reciprocal((spread << to.epsilon_shift) + to.epsilon, to.epsilon_shift / 2);
  const int64_t half = int64_t{1} << (reciprocal.shift - 1);
  const uint64_t last_half = uint64_t{1} << (to.shift - 1);
  layout.elements.walk(start, 1, [&](char* const* pointers) {
    for (size_t i = 0; i < run.size; ++i) {
      const auto at = [&](size_t k) { return pointers[k] + static_cast<ptrdiff_t>(i) * run.strides[k]; };
      const int64_t distance = count * (*reinterpret_cast<const T*>(at(kInput)) - to.center) - sum;
      const int64_t element = (distance * reciprocal.multiplier + half) >> reciprocal.shift;
      const int64_t weight = *reinterpret_cast<const int32_t*>(at(kWeight));
      const int64_t bias = *reinterpret_cast<const int32_t*>(at(kBias));
      const uint64_t scaled = static_cast<uint64_t>(element) * static_cast<uint64_t>(weight) +
                              (static_cast<uint64_t>(bias) << to.bias_shift) + last_half;
      const int64_t steps = static_cast<int64_t>(scaled) >> to.shift;
      *reinterpret_cast<T*>(at(kOutput)) =
          static_cast<T>(ukernel::clamp_quantized(steps + to.zero_point, to.low, to.high));
    }
  });
}

Error check_scale(const NormArguments& given, const Tensor& out) {
  RL_CHECK(given.epsilon >= 0 && given.epsilon <= kMostEpsilon, Error::InvalidArgument,
           "epsilon: expected 0 to 2^62, got %ld", static_cast<long>(given.epsilon));
  RL_CHECK(given.epsilon_shift >= 0 && given.epsilon_shift <= kMostShift && given.epsilon_shift % 2 == 0,
           Error::InvalidArgument, "epsilon_shift: expected an even number from 0 to 62, got %ld",
           static_cast<long>(given.epsilon_shift));
  RL_CHECK(given.shift >= 1 && given.shift <= kMostShift, Error::InvalidArgument,
           "shift: expected 1 to 62, got %ld", static_cast<long>(given.shift));
  RL_CHECK(given.bias_shift >= 0 && given.bias_shift <= kMostBiasShift, Error::InvalidArgument,
           "bias_shift: expected 0 to 30, got %ld", static_cast<long>(given.bias_shift));
  return check_quantized_range(given.range, out.scalar_type());
}

// Checks that count^2 * 2^bits, the bound of V, still fits in 62 bits after the shift by epsilon_shift.
Error check_count(size_t count, int64_t epsilon_shift, int bits) {
  RL_CHECK(count <= kMostElements, Error::InvalidArgument, "weight: expected at most %lu elements, got %lu",
           static_cast<unsigned long>(kMostElements), static_cast<unsigned long>(count));
  const uint64_t most = static_cast<uint64_t>(count) * count << bits;
  RL_CHECK(most >> (kMostShift - epsilon_shift) == 0, Error::InvalidArgument,
           "epsilon_shift: squares of %lu elements have more than 62 bits with %ld more",
           static_cast<unsigned long>(count), static_cast<long>(epsilon_shift));
  return Error::Ok;
}

NormScale scale_of(const NormArguments& given) {
  return {static_cast<uint64_t>(given.epsilon),
          static_cast<int>(given.epsilon_shift),
          static_cast<int>(given.shift),
          static_cast<int>(given.bias_shift),
          static_cast<int32_t>(given.range.zero_point),
          static_cast<int32_t>(given.range.low),
          static_cast<int32_t>(given.range.high)};
}

Error check_types(TypeSet own, const Tensor& input, const Tensor& out) {
  RL_TRY(check_type(input, own, "input"));
  return check_same_dtype(input, out, "input and out");
}

Error normalize(const Layout& layout, const Tensor& input, const NormParameters& parameters,
                const NormScale& to, const Tensor& out) {
  int32_t zero = 0;
  char* const start[] = {input.mutable_data_ptr<char>(), out.mutable_data_ptr<char>(),
                         parameters.weight.mutable_data_ptr<char>(),
                         parameters.bias == nullptr ? reinterpret_cast<char*>(&zero)
                                                    : parameters.bias->mutable_data_ptr<char>()};
  return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
    layout.groups.walk(start, 0, [&](char* const* group) {
      normalize_group<typename decltype(type)::Element>(layout, group, to);
    });
    return Error::Ok;
  });
}

}  // namespace

Error quantized_layer_norm_out(KernelContext&, const Tensor& input, const Tensor& weight, const Tensor& bias,
                               int64_t epsilon, int64_t epsilon_shift, int64_t shift, int64_t bias_shift,
                               int64_t output_zero_point, int64_t output_min, int64_t output_max,
                               Tensor& out) {
  const NormArguments given{
      epsilon, epsilon_shift, shift, bias_shift, {output_zero_point, output_min, output_max}};
  RL_TRY(check_types(kLayerTypes, input, out));
  RL_TRY(check_scale(given, out));
  Layout layout;
  RL_TRY(plan_last(input, {weight, &bias}, out, &layout));
  if (out.numel() == 0) return Error::Ok;
  RL_TRY(check_count(layout.count, epsilon_shift, kSpreadBits));
  return normalize(layout, input, {weight, &bias}, scale_of(given), out);
}

Error quantized_group_norm_out(KernelContext&, const Tensor& input, const Tensor& weight, const Tensor& bias,
                               int64_t groups, int64_t epsilon, int64_t epsilon_shift, int64_t shift,
                               int64_t bias_shift, int64_t output_zero_point, int64_t output_min,
                               int64_t output_max, Tensor& out) {
  const NormArguments given{
      epsilon, epsilon_shift, shift, bias_shift, {output_zero_point, output_min, output_max}};
  RL_TRY(check_types(kGroupTypes, input, out));
  RL_TRY(check_scale(given, out));
  Layout layout;
  RL_TRY(plan_groups(input, {weight, &bias}, groups, out, &layout));
  if (out.numel() == 0) return Error::Ok;
  RL_TRY(check_count(layout.count, epsilon_shift, kSpreadBits));
  return normalize(layout, input, {weight, &bias}, scale_of(given), out);
}

Error quantized_rms_norm_out(KernelContext&, const Tensor& input, int64_t input_zero_point,
                             const Tensor& weight, int64_t epsilon, int64_t epsilon_shift, int64_t shift,
                             int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  const NormArguments given{epsilon, epsilon_shift, shift, 0, {output_zero_point, output_min, output_max}};
  RL_TRY(check_types(kRmsTypes, input, out));
  RL_TRY(check_zero_point(input_zero_point, input.scalar_type(), "input_zero_point"));
  RL_TRY(check_scale(given, out));
  Layout layout;
  RL_TRY(plan_last(input, {weight, nullptr}, out, &layout));
  if (out.numel() == 0) return Error::Ok;
  RL_TRY(check_count(layout.count, epsilon_shift, kSquareBits));
  NormScale to = scale_of(given);
  to.center = static_cast<int32_t>(input_zero_point);
  to.has_mean = false;
  return normalize(layout, input, {weight, nullptr}, to, out);
}

}  // namespace rushlight::kernels
