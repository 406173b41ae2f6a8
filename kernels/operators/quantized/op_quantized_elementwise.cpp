// SPDX-License-Identifier: BSD-3-Clause
// Sums and products of two quantized tensors, each with a scale of its own. They broadcast.
//
// A sum is computed as XNNPACK adds:
//
//   out = clamp(((self * self_multiplier + other * other_multiplier + offset) >> shift) + zero point, min,
//   max)
//
// in 32 bits, or 64 for int16, which the arguments are proven to suffice for. The offset holds what the zero
// points of both come to, and half of what is shifted out. A difference has a negative multiplier.
//
// A product is that of the numbers less their zero points, 17 bits, or 31 of int16, requantized by
// self scale * other scale / output scale.
#include "kernels/backs/backs.h"
#include "kernels/backs/quantized_elementwise.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "kernels/quantization/one_scale.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/broadcast.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kSumTypes = selected_types("rushlight::quantized_add.out") & kQuantizedNumbers;
constexpr TypeSet kProductTypes = selected_types("rushlight::quantized_mul.out") & kQuantizedNumbers;
constexpr int64_t kMostShift = 30;

// Sums of int16: |multipliers| < 2^31, so that both products and the offset together have 64 bits.
Error check_wide_sum(int64_t a, int64_t b, int64_t offset, int64_t shift) {
  constexpr int64_t kMost = INT32_MAX, kMostOffset = int64_t{1} << 62;
  constexpr int64_t kMostWideShift = 62;
  RL_CHECK(shift >= 0 && shift <= kMostWideShift, Error::InvalidArgument, "shift: expected 0 to 62, got %ld",
           static_cast<long>(shift));
  RL_CHECK(a >= -kMost && a <= kMost && b >= -kMost && b <= kMost && offset >= -kMostOffset &&
               offset <= kMostOffset,
           Error::InvalidArgument, "multipliers and offset: expected 32 bits and 63, got %ld, %ld and %ld",
           static_cast<long>(a), static_cast<long>(b), static_cast<long>(offset));
  return Error::Ok;
}

// InvalidArgument unless sums of elements of such a dtype have 32 bits on the way, too.
Error check_sum(ScalarType type, int64_t a, int64_t b, int64_t offset, int64_t shift) {
  const int64_t largest = type == ScalarType::Byte ? 255 : 128;
  constexpr int64_t kMost = INT32_MAX;
  RL_CHECK(shift >= 0 && shift <= kMostShift, Error::InvalidArgument, "shift: expected 0 to 30, got %ld",
           static_cast<long>(shift));
  const auto fits = [](int64_t number) { return number >= -kMost && number <= kMost; };
  const auto size = [](int64_t number) { return number < 0 ? -number : number; };
  RL_CHECK(fits(a) && fits(b) && fits(offset) && largest * (size(a) + size(b)) + size(offset) <= kMost,
           Error::InvalidArgument,
           "multipliers and offset: sums of elements times %ld and %ld, and %ld may have more than 32 bits",
           static_cast<long>(a), static_cast<long>(b), static_cast<long>(offset));
  return Error::Ok;
}

// `function` is a copy: results are bytes, which might lie over what a reference names. Strides are in bytes.
template <class T, class F>
void compute_row(const F function, char* const* at, const BroadcastAxis& axis) {
  auto* out = reinterpret_cast<T*>(at[0]);
  const auto* a = reinterpret_cast<const T*>(at[1]);
  const auto* b = reinterpret_cast<const T*>(at[2]);
  constexpr ptrdiff_t kSize = sizeof(T);
  if (axis.strides[0] == kSize && axis.strides[1] == kSize && axis.strides[2] == kSize) {
    for (size_t i = 0; i < axis.size; ++i) out[i] = static_cast<T>(function(a[i], b[i]));
    return;
  }
  for (size_t i = 0; i < axis.size; ++i) {
    *out = static_cast<T>(function(*a, *b));
    out += axis.strides[0] / kSize;
    a += axis.strides[1] / kSize;
    b += axis.strides[2] / kSize;
  }
}

// Each element of `out`, which has the broadcast shape, from those of `a` and `b`.
template <class T, class F>
void compute(const F& function, const Tensor& a, const Tensor& b, const Tensor& out) {
  const Tensor* operands[] = {&out, &a, &b};
  BroadcastAxis axes[kTensorDimensionLimit];
  const size_t count = plan_broadcast(operands, 3, axes);
  if (out.numel() == 0) return;
  const BroadcastAxis one{1, {}};
  const BroadcastAxis& row = count == 0 ? one : axes[0];
  char* at[3] = {out.mutable_data_ptr<char>(), a.mutable_data_ptr<char>(), b.mutable_data_ptr<char>()};
  size_t index[kTensorDimensionLimit] = {};
  while (true) {
    compute_row<T>(function, at, row);
    size_t d = 1;
    for (; d < count; ++d) {
      const BroadcastAxis& axis = axes[d];
      const bool goes_on = ++index[d] < axis.size;
      const auto steps = goes_on ? ptrdiff_t{1} : 1 - static_cast<ptrdiff_t>(axis.size);
      for (size_t k = 0; k < 3; ++k) at[k] += steps * axis.strides[k];
      if (goes_on) break;
      index[d] = 0;
    }
    if (d >= count) return;
  }
}

Error check_types(TypeSet types, const Tensor& self, const Tensor& other, const Tensor& out) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(self, other, "self and other"));
  return check_same_dtype(self, out, "self and out");
}

Error resize_to_both(const Tensor& self, const Tensor& other, const Tensor& out) {
  Shape shape;
  RL_TRY(broadcast_shape(self.sizes(), other.sizes(), &shape));
  return resize_out(out, shape.span());
}

template <TypeSet kTypes, class F>
Error compute_in(const F& function, const Tensor& self, const Tensor& other, const Tensor& out) {
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    compute<typename decltype(type)::Element>(function, self, other, out);
    return Error::Ok;
  });
}

}  // namespace

Error add_quantized_out(KernelContext& context, const Tensor& self, const Tensor& other,
                        int64_t self_multiplier, int64_t other_multiplier, int64_t offset, int64_t shift,
                        int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  RL_TRY(check_types(kSumTypes, self, other, out));
  RL_TRY(check_quantized_range({output_zero_point, output_min, output_max}, self.scalar_type()));
  const auto narrow = [](int64_t number) { return static_cast<int32_t>(number); };
  if (contains(kSumTypes, ScalarType::Short) && self.scalar_type() == ScalarType::Short) {
    RL_TRY(check_wide_sum(self_multiplier, other_multiplier, offset, shift));
    RL_TRY(resize_to_both(self, other, out));
    const ukernel::QuantizedSumIn<int64_t> wide{{narrow(self_multiplier), narrow(other_multiplier)},
                                                offset,
                                                narrow(shift),
                                                narrow(output_zero_point),
                                                narrow(output_min),
                                                narrow(output_max)};
    return compute_in < kSumTypes & type_set(ScalarType::Short) > (wide, self, other, out);
  }
  RL_TRY(check_sum(self.scalar_type(), self_multiplier, other_multiplier, offset, shift));
  RL_TRY(resize_to_both(self, other, out));
  const ukernel::QuantizedSum sum{{narrow(self_multiplier), narrow(other_multiplier)},
                                  narrow(offset),
                                  narrow(shift),
                                  narrow(output_zero_point),
                                  narrow(output_min),
                                  narrow(output_max)};
  const QuantizedAddProblem problem{{self, other, out}, sum};
  return backs::add_quantized_out(
      context, problem, [&] { return compute_in < kSumTypes & kByteTypes > (sum, self, other, out); });
}

Error quantized_mul_out(KernelContext& context, const Tensor& self, int64_t self_zero_point,
                        const Tensor& other, int64_t other_zero_point, const Tensor& multipliers,
                        const std::optional<Tensor>& shifts, std::string_view rounding,
                        int64_t output_zero_point, int64_t output_min, int64_t output_max, Tensor& out) {
  RL_TRY(check_types(kProductTypes, self, other, out));
  RL_TRY(check_zero_point(self_zero_point, self.scalar_type(), "self_zero_point"));
  RL_TRY(check_zero_point(other_zero_point, self.scalar_type(), "other_zero_point"));
  RL_TRY(resize_to_both(self, other, out));
  // A product is as large as a sum of so many.
  const bool is_short = contains(kProductTypes, ScalarType::Short) && self.scalar_type() == ScalarType::Short;
  const size_t largest = is_short ? 32768 : 255;
  ukernel::Requantization proven;
  RL_TRY(make_requantization_of_sums(
      {std::nullopt, multipliers, shifts, rounding, {output_zero_point, output_min, output_max}}, out,
      largest, &proven));
  const OneScale scale(proven);
  const ukernel::QuantizedProduct product{
      {static_cast<int32_t>(self_zero_point), static_cast<int32_t>(other_zero_point)}, scale.get()};
  const QuantizedMulProblem problem{{self, other, out}, product};
  return backs::quantized_mul_out(context, problem,
                                  [&] { return compute_in<kProductTypes>(product, self, other, out); });
}

}  // namespace rushlight::kernels
