// SPDX-License-Identifier: BSD-3-Clause
// Affine quantization: real = (quantized - zero_point) * scale. Arithmetic is float, or double if the scales
// are, as PyTorch defines the operators; rounds half to even. Quantization multiplies by the inverse of the
// scale instead of dividing, as PyTorch does, so results can differ from a division by one step.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/walk/view.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// The dtypes of quantized tensors, real tensors, scales and zero points.
inline constexpr TypeSet kQuantizedTypes =
    type_set(ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::UInt16);
inline constexpr TypeSet kRealTypes = type_set(ScalarType::Float) | types::kReducedFloat;
inline constexpr TypeSet kScaleTypes = type_set(ScalarType::Float, ScalarType::Double);
inline constexpr TypeSet kZeroPointTypes = types::kIntegral;

// The range that quantization clamps to, inclusive.
struct AffineRange {
  int64_t min;
  int64_t max;
};

// The order of rounding and adding the zero point: results for halves differ if the zero point is odd,
// because halves round to even.
enum class ZeroPoint : uint8_t { kAfterRounding, kBeforeRounding };

// The parameters of one mapping, as doubles for all dtypes.
struct Affine {
  double scale;
  double zero_point;
};

// InvalidType unless `dtype` is the dtype of `quantized` and in kQuantizedTypes; InvalidArgument unless it
// can hold the range, which has at least one value.
Error check_quantized(const Tensor& quantized, int64_t dtype, const AffineRange& range);
// The same for dequantization, which ignores the range: the dtype need not hold it.
Error check_dequantized(const Tensor& quantized, int64_t dtype, const AffineRange& range);

// InvalidType unless kQuantizedTypes contains `dtype`; InvalidArgument unless it can hold the range.
Error check_range(int64_t dtype, const AffineRange& range);

// InvalidType unless `types` contains the tensor's dtype.
Error check_type(const Tensor& tensor, TypeSet types, const char* name);

// The element at `index` in memory order. Precondition: its dtype is in kScaleTypes or kZeroPointTypes. Cost:
// a switch.
double number_at(const Tensor& tensor, size_t index);

// A scale and a zero point for each channel or token; absent zero points are 0. Refers to the tensors, whose
// elements are in memory order.
struct AffineList {
  const Tensor& scales;
  const Tensor* zero_points;

  // InvalidArgument unless there are `count` of each, InvalidType.
  [[nodiscard]] Error check(size_t count) const;
  [[nodiscard]] Affine at(size_t index) const {
    return {number_at(scales, index), zero_points == nullptr ? 0 : number_at(*zero_points, index)};
  }
};

// Stores `number` at `index` in memory order; it must be an integer for integer dtypes.
void write_number(const Tensor& tensor, size_t index, double number);

// Reads the only element of a tensor. InvalidArgument for another number of elements, InvalidType.
Error read_single(const Tensor& tensor, TypeSet types, const char* name, double* number);

namespace internal {

// Floats from 2^23 on are integers; below 2^22, adding 1.5 * 2^23 leaves no bits for a fraction: the addition
// itself rounds, halves to even. For double the powers are 52 and 51.
template <class C>
inline C round_half_to_even(C value) {
  constexpr C kLimit = std::is_same_v<C, float> ? C(0x1p22) : C(0x1p51);
  if (!(std::fabs(value) < kLimit)) return std::nearbyint(value);
  constexpr C kShift = kLimit * 3;
  return (value + kShift) - kShift;
}

}  // namespace internal

// Quantizes C to Q; NaN becomes 0, infinities and values out of range the end of the range.
template <class Q, class C>
class Quantizer {
 public:
  // The scale is inverted in double, then rounded to C.
  Quantizer(const Affine& affine, const AffineRange& range, ZeroPoint order)
      : Quantizer(1.0 / affine.scale, affine.zero_point, range, order) {}
  // Multiplies by `inverse_scale` rounded to C.
  Quantizer(double inverse_scale, double zero_point, const AffineRange& range, ZeroPoint order)
      : inverse_scale_(static_cast<C>(inverse_scale)),
        before_(order == ZeroPoint::kBeforeRounding ? static_cast<C>(zero_point) : C(0)),
        after_(order == ZeroPoint::kAfterRounding ? static_cast<C>(zero_point) : C(0)),
        lowest_(static_cast<C>(range.min)),
        highest_(static_cast<C>(range.max)),
        min_(static_cast<Q>(range.min)),
        max_(static_cast<Q>(range.max)) {}

  [[nodiscard]] Q operator()(C value) const {
    // In the range, which fits in int32 for all quantized dtypes.
    const C result = internal::round_half_to_even(value * inverse_scale_ + before_) + after_;
    if (result > lowest_ && result < highest_) return static_cast<Q>(static_cast<int32_t>(result));
    if (result != result) return Q(0);
    return result > lowest_ ? max_ : min_;
  }

 private:
  C inverse_scale_;
  C before_;
  C after_;
  C lowest_;
  C highest_;
  Q min_;
  Q max_;
};

// Conversion of whole tensors between real and quantized, in blocks of 32 elements on the stack, with dtype
// conversion if the real dtype is not the compute dtype. Any layouts.
struct AffineSpans {
  ScalarType quantized;
  ScalarType real;
  ScalarType computed;  // Float or Double

  // InvalidType if this build cannot convert between the dtypes.
  [[nodiscard]] Error check() const;
  // The views have equal shapes and the dtypes above. Precondition: check().
  [[nodiscard]] Error quantize(const View& target, const View& source, const Affine& affine,
                               const AffineRange& range, ZeroPoint order) const;
  [[nodiscard]] Error dequantize(const View& target, const View& source, const Affine& affine) const;
};

// The smallest and largest of the elements and 0, so that 0 is always representable.
struct RealExtent {
  float min = 0;
  float max = 0;
};

// Finds the extent. InvalidArgument if there are no elements or one is NaN; InvalidType if this build cannot
// convert them to float. One pass, in any layout.
Error find_extent(const View& elements, RealExtent* extent);

// Resolves `axis` (negative: from the end), checks that the list has an entry for each index of it, and
// resizes `out` to the sizes of `input`. InvalidArgument, InvalidType.
inline Error plan_channels(const Tensor& input, int64_t axis, const AffineList& list, const Tensor& out,
                           size_t* dim) {
  RL_CHECK(axis >= -input.dim() && axis < input.dim(), Error::InvalidArgument,
           "axis: expected one from %d to %d, got %ld", -static_cast<int>(input.dim()),
           static_cast<int>(input.dim()) - 1, static_cast<long>(axis));
  *dim = static_cast<size_t>(axis < 0 ? axis + input.dim() : axis);
  RL_TRY(list.check(static_cast<size_t>(input.sizes()[*dim])));
  return resize_out(out, input.sizes());
}

// Calls f(view of out, view of input, Affine) for every index of dimension `dim`, which plan_channels()
// found; the views lack that dimension. Stops at an error of f.
template <class F>
Error for_each_channel(const Tensor& input, size_t dim, const AffineList& list, const Tensor& out, F f) {
  const auto channels = static_cast<size_t>(input.sizes()[dim]);
  const View source = View::of(input);
  const View target = View::of(out);
  for (size_t channel = 0; channel < channels; ++channel) {
    const auto index = static_cast<ptrdiff_t>(channel);
    RL_TRY(f(View(target).select(dim, index), View(source).select(dim, index), list.at(channel)));
  }
  return Error::Ok;
}

// The number of rows along the last dimension. InvalidArgument unless the tensor is row-major with rank 1 at
// least. `name` is the argument in messages.
Error check_tokens(const Tensor& input, const char* name, size_t* tokens);

// Calls f(view of out, view of input, Affine) for every token, a row along the last dimension. Also checks
// the list and resizes `out`. InvalidArgument, InvalidType.
template <class F>
Error for_each_token(const Tensor& input, const AffineList& list, const Tensor& out, F f) {
  size_t tokens = 0;
  RL_TRY(check_tokens(input, "input", &tokens));
  RL_TRY(list.check(tokens));
  RL_TRY(resize_out(out, input.sizes()));
  RL_TRY(check_tokens(out, "out", &tokens));
  const SizesType size = input.sizes()[input.sizes().size() - 1];
  char* from = input.mutable_data_ptr<char>();
  char* to = out.mutable_data_ptr<char>();
  // Tokens follow each other in memory; the views have rank 1.
  for (size_t token = 0; token < tokens && size > 0; ++token) {
    RL_TRY(f(View::row_major(to, out.scalar_type(), {&size, 1}),
             View::row_major(from, input.scalar_type(), {&size, 1}), list.at(token)));
    from += static_cast<size_t>(size) * input.element_size();
    to += static_cast<size_t>(size) * out.element_size();
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
