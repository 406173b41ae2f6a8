// SPDX-License-Identifier: BSD-3-Clause
// Affine quantization: real = (quantized - zero_point) * scale. Computed in float, or in double where
// scales are, as the operators' definition in PyTorch has it; rounded half to even.
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

// What quantized and real numbers may be stored as, and the numbers that map between them.
inline constexpr TypeSet kQuantizedTypes =
    type_set(ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::UInt16);
inline constexpr TypeSet kRealTypes = type_set(ScalarType::Float) | types::kReducedFloat;
inline constexpr TypeSet kScaleTypes = type_set(ScalarType::Float, ScalarType::Double);
inline constexpr TypeSet kZeroPointTypes = types::kIntegral;

struct AffineRange {
  int64_t min;
  int64_t max;
};

// Where the zero point is added: before or after rounding. That decides halves of odd zero points.
enum class ZeroPoint : uint8_t { kAfterRounding, kBeforeRounding };

struct Affine {
  double scale;
  double zero_point;
};

// `dtype` is that of `quantized`, a type of kQuantizedTypes that holds the range. InvalidType,
// InvalidArgument.
Error check_quantized(const Tensor& quantized, int64_t dtype, const AffineRange& range);
// The same of what is only read: its range need not be one of the dtype, and is not looked at further.
Error check_dequantized(const Tensor& quantized, int64_t dtype, const AffineRange& range);

// InvalidType unless `dtype` is one of kQuantizedTypes, InvalidArgument unless it holds the range.
Error check_range(int64_t dtype, const AffineRange& range);

// InvalidType unless the tensor's dtype belongs to `types`.
Error check_type(const Tensor& tensor, TypeSet types, const char* name);

// The number at `index`, counted in memory. The tensor has a type of kScaleTypes or kZeroPointTypes.
double number_at(const Tensor& tensor, size_t index);

// One pair of numbers for each channel or token; without zero points they are 0.
struct AffineList {
  const Tensor& scales;
  const Tensor* zero_points;

  // InvalidArgument unless there are `count`, InvalidType.
  [[nodiscard]] Error check(size_t count) const;
  [[nodiscard]] Affine at(size_t index) const {
    return {number_at(scales, index), zero_points == nullptr ? 0 : number_at(*zero_points, index)};
  }
};

// Stores `number`, whole for an integer type, at such an index.
void write_number(const Tensor& tensor, size_t index, double number);

// The only number of a tensor. InvalidArgument when there are more or none, InvalidType.
Error read_single(const Tensor& tensor, TypeSet types, const char* name, double* number);

namespace internal {

// Floats of 2^23 and more are whole; below 2^22, adding 1.5 * 2^23 leaves no place for a fraction.
template <class C>
inline C round_half_to_even(C value) {
  constexpr C kLimit = std::is_same_v<C, float> ? C(0x1p22) : C(0x1p51);
  if (!(std::fabs(value) < kLimit)) return std::nearbyint(value);
  constexpr C kShift = kLimit * 3;
  return (value + kShift) - kShift;
}

}  // namespace internal

// Quantizes into Q with arithmetic in C.
template <class Q, class C>
class Quantizer {
 public:
  Quantizer(const Affine& affine, const AffineRange& range, ZeroPoint order)
      : inverse_scale_(static_cast<C>(1.0 / affine.scale)),
        before_(order == ZeroPoint::kBeforeRounding ? static_cast<C>(affine.zero_point) : C(0)),
        after_(order == ZeroPoint::kAfterRounding ? static_cast<C>(affine.zero_point) : C(0)),
        lowest_(static_cast<C>(range.min)),
        highest_(static_cast<C>(range.max)),
        min_(static_cast<Q>(range.min)),
        max_(static_cast<Q>(range.max)) {}

  [[nodiscard]] Q operator()(C value) const {
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

// Runs of elements between real and quantized, converting where the real tensor is not of the type
// that is computed in.
struct AffineRuns {
  ScalarType quantized;
  ScalarType real;
  ScalarType computed;  // Float or Double

  // InvalidType when this build cannot convert between real and computed.
  [[nodiscard]] Error check() const;
  // Views of the same shape. The types are those above, selected.
  [[nodiscard]] Error quantize(const View& target, const View& source, const Affine& affine,
                               const AffineRange& range, ZeroPoint order) const;
  [[nodiscard]] Error dequantize(const View& target, const View& source, const Affine& affine) const;
};

// The smallest and the largest number of floating elements, 0 among them.
struct Extent {
  float min = 0;
  float max = 0;
};

// InvalidArgument when there are no elements or one is NaN; InvalidType when they cannot be converted
// to float in this build.
Error find_extent(const View& elements, Extent* extent);

// Finds the dimension that `axis` names, counted from the end where it is negative, checks that the list has
// a pair for each index of it, and gives `out` the sizes of `input`. InvalidArgument, InvalidType.
inline Error plan_channels(const Tensor& input, int64_t axis, const AffineList& list, const Tensor& out,
                           size_t* dim) {
  RL_CHECK(axis >= -input.dim() && axis < input.dim(), Error::InvalidArgument,
           "axis: expected one from %d to %d, got %ld", -static_cast<int>(input.dim()),
           static_cast<int>(input.dim()) - 1, static_cast<long>(axis));
  *dim = static_cast<size_t>(axis < 0 ? axis + input.dim() : axis);
  RL_TRY(list.check(static_cast<size_t>(input.sizes()[*dim])));
  return resize_out(out, input.sizes());
}

// f(view of out, view of input, Affine) for every index of the dimension that plan_channels() found.
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

// Rows along the last dimension of tensors that are row major. InvalidArgument.
Error check_tokens(const Tensor& input, const char* name, size_t* tokens);

// The same for every token: the elements along the last dimension.
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
  for (size_t token = 0; token < tokens && size > 0; ++token) {
    RL_TRY(f(View::row_major(to, out.scalar_type(), {&size, 1}),
             View::row_major(from, input.scalar_type(), {&size, 1}), list.at(token)));
    from += static_cast<size_t>(size) * input.element_size();
    to += static_cast<size_t>(size) * out.element_size();
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
