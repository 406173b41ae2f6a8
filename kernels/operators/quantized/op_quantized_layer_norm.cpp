// SPDX-License-Identifier: BSD-3-Clause
// Layer normalization of integers: dequantize, layer_norm and quantize in one, without a float.
//
// With n elements x in a group, S their sum and V = n * sum of squares - S^2, both exact, the normalized
// element is (n x - S) / sqrt(V + epsilon), whatever scale and zero point x has; epsilon is the float
// operator's times n^2 / scale^2. One integer square root and one division a group make the reciprocal, to 30
// bits. The element has kFraction bits behind the point, then
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

constexpr TypeSet kTypes = selected_types("rushlight::quantized_layer_norm.out") & kByteTypes;
constexpr int kFraction = 19;
constexpr size_t kMostElements = 1 << 22;
constexpr int64_t kMostEpsilon = int64_t{1} << 62;
constexpr int64_t kMostShift = 62;
constexpr int64_t kMostBiasShift = 30;
constexpr int kSpreadBits = 14;  // V < n^2 * 2^14

enum Group { kGroupInput, kGroupOutput, kGroupOperands };
enum Element { kInput, kOutput, kWeight, kBias, kElementOperands };

struct Layout {
  JointAxes<kGroupOperands> groups;
  JointAxes<kElementOperands> elements;
  size_t count = 1;
};

struct LayerNormScale {
  uint64_t epsilon;
  int epsilon_shift;
  int shift;
  int bias_shift;
  int32_t zero_point;
  int32_t low;
  int32_t high;
};

Error plan(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out, Layout* layout) {
  const size_t rank = input.sizes().size();
  const size_t normalized = weight.sizes().size();
  RL_CHECK(weight.scalar_type() == ScalarType::Int && bias.scalar_type() == ScalarType::Int,
           Error::InvalidType, "weight and bias: expected dtype int32, got %s and %s",
           to_string(weight.scalar_type()), to_string(bias.scalar_type()));
  RL_CHECK(normalized >= 1 && normalized <= rank, Error::InvalidArgument,
           "weight: expected rank 1 to %lu, got %lu", static_cast<unsigned long>(rank),
           static_cast<unsigned long>(normalized));
  const size_t first = rank - normalized;
  const auto shape = input.sizes().subspan(first, normalized);
  RL_TRY(check_parameter_shape(weight, shape, "weight"));
  RL_TRY(check_parameter_shape(bias, shape, "bias"));
  RL_TRY(resize_out(out, input.sizes()));
  for (size_t i = rank; i-- > 0;) {
    const size_t d = input.dim_order()[i];
    const auto size = static_cast<size_t>(input.sizes()[d]);
    const ptrdiff_t from = byte_stride(input, d), to = byte_stride(out, d);
    if (d < first) {
      layout->groups.add({size, {from, to}});
    } else {
      layout->count *= size;
      layout->elements.add({size, {from, to, byte_stride(weight, d - first), byte_stride(bias, d - first)}});
    }
  }
  RL_CHECK(layout->count <= kMostElements, Error::InvalidArgument,
           "weight: expected at most %lu elements, got %lu", static_cast<unsigned long>(kMostElements),
           static_cast<unsigned long>(layout->count));
  return Error::Ok;
}

// The largest integer whose square is at most `value`.
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

// 1 / sqrt(value / 4^halvings) = multiplier * 2^-shift, for normalized elements with kFraction bits behind
// the point. 0 where that is too large: of elements that are all equal.
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

// `out` may lie over anything: no sum overflows in unsigned numbers, whatever the two passes see.
template <class T>
void normalize_group(const Layout& layout, char* const* start, const LayerNormScale& to) {
  const auto& run = layout.elements.inner();
  int64_t sum = 0, squares = 0;
  layout.elements.walk(start, 1, [&](char* const* pointers) {
    const char* value = pointers[kInput];
    for (size_t i = 0; i < run.size; ++i, value += run.strides[kInput]) {
      const int32_t x = *reinterpret_cast<const T*>(value);
      sum += x;
      squares += x * x;
    }
  });
  const auto count = static_cast<int64_t>(layout.count);
  const auto spread = static_cast<uint64_t>(count * squares - sum * sum);
  const Reciprocal reciprocal((spread << to.epsilon_shift) + to.epsilon, to.epsilon_shift / 2);
  const int64_t half = int64_t{1} << (reciprocal.shift - 1);
  const uint64_t last_half = uint64_t{1} << (to.shift - 1);
  layout.elements.walk(start, 1, [&](char* const* pointers) {
    for (size_t i = 0; i < run.size; ++i) {
      const auto at = [&](size_t k) { return pointers[k] + static_cast<ptrdiff_t>(i) * run.strides[k]; };
      const int64_t distance = count * *reinterpret_cast<const T*>(at(kInput)) - sum;
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

}  // namespace

Error quantized_layer_norm_out(KernelContext&, const Tensor& input, const Tensor& weight, const Tensor& bias,
                               int64_t epsilon, int64_t epsilon_shift, int64_t shift, int64_t bias_shift,
                               int64_t output_zero_point, int64_t output_min, int64_t output_max,
                               Tensor& out) {
  RL_TRY(check_type(input, kTypes, "input"));
  RL_TRY(check_same_dtype(input, out, "input and out"));
  RL_CHECK(epsilon >= 0 && epsilon <= kMostEpsilon, Error::InvalidArgument,
           "epsilon: expected 0 to 2^62, got %ld", static_cast<long>(epsilon));
  RL_CHECK(epsilon_shift >= 0 && epsilon_shift <= kMostShift && epsilon_shift % 2 == 0,
           Error::InvalidArgument, "epsilon_shift: expected an even number from 0 to 62, got %ld",
           static_cast<long>(epsilon_shift));
  RL_CHECK(shift >= 1 && shift <= kMostShift, Error::InvalidArgument, "shift: expected 1 to 62, got %ld",
           static_cast<long>(shift));
  RL_CHECK(bias_shift >= 0 && bias_shift <= kMostBiasShift, Error::InvalidArgument,
           "bias_shift: expected 0 to 30, got %ld", static_cast<long>(bias_shift));
  RL_TRY(check_quantized_range({output_zero_point, output_min, output_max}, out.scalar_type()));
  Layout layout;
  RL_TRY(plan(input, weight, bias, out, &layout));
  if (out.numel() == 0) return Error::Ok;
  const uint64_t most = static_cast<uint64_t>(layout.count) * layout.count << kSpreadBits;
  RL_CHECK(most >> (kMostShift - epsilon_shift) == 0, Error::InvalidArgument,
           "epsilon_shift: squares of %lu elements have more than 62 bits with %ld more",
           static_cast<unsigned long>(layout.count), static_cast<long>(epsilon_shift));
  const LayerNormScale to{static_cast<uint64_t>(epsilon),
                          static_cast<int>(epsilon_shift),
                          static_cast<int>(shift),
                          static_cast<int>(bias_shift),
                          static_cast<int32_t>(output_zero_point),
                          static_cast<int32_t>(output_min),
                          static_cast<int32_t>(output_max)};
  char* const start[] = {input.mutable_data_ptr<char>(), out.mutable_data_ptr<char>()};
  return dispatch<kTypes>(input.scalar_type(), [&](auto type) {
    layout.groups.walk(start, 0, [&](char* const* group) {
      char* const elements[] = {group[kGroupInput], group[kGroupOutput], weight.mutable_data_ptr<char>(),
                                bias.mutable_data_ptr<char>()};
      normalize_group<typename decltype(type)::Element>(layout, elements, to);
    });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
