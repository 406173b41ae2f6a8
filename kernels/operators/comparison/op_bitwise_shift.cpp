// SPDX-License-Identifier: BSD-3-Clause
// A shift by a negative count, or by at least the width of the type, is undefined in C++. Here it gives the
// result of shifting out every bit: 0, or -1 for a right shift of a negative value. Where code size matters,
// the loops are over int64 for every integer dtype: a narrower result drops its high bits when it is stored,
// which also zeroes left shifts by more than its width. Counts are bounded instead of tested, so that loops
// vectorize.
#include <type_traits>

#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kLeftTypes = selected_types("aten::bitwise_left_shift.Tensor_out") |
                               selected_types("aten::bitwise_left_shift.Tensor_Scalar_out") |
                               selected_types("aten::bitwise_left_shift.Scalar_Tensor_out");
constexpr TypeSet kRightTypes = selected_types("aten::bitwise_right_shift.Tensor_out") |
                                selected_types("aten::bitwise_right_shift.Tensor_Scalar_out") |
                                selected_types("aten::bitwise_right_shift.Scalar_Tensor_out");

// The type in which shifts of T are computed, and its unsigned type: processors shift vectors of 32 and 64
// bits.
template <class T>
using Shifted =
    std::conditional_t<sizeof(T) == 8, T, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>;
template <class T>
using Bits = std::make_unsigned_t<Shifted<T>>;

// x shifted by 0 to 7 bits, where processors have vectors of bytes: by 4, 2 and 1 bits, each of which is
// selected or not. `shift` shifts by a constant.
template <class T, class F>
T in_steps(T x, T bits, F shift) {
  x = (bits & 4) != 0 ? static_cast<T>(shift(x, 4)) : x;
  x = (bits & 2) != 0 ? static_cast<T>(shift(x, 2)) : x;
  return (bits & 1) != 0 ? static_cast<T>(shift(x, 1)) : x;
}

// True if a shift by this many bits is defined for T.
template <class T>
bool has_bit(T bit) {
  return bit >= T(0) && static_cast<uint64_t>(bit) < 8 * sizeof(T);
}

Error shift_left(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  const auto shift = [](auto x, auto bits) {
    using T = decltype(x);
    if constexpr (sizeof(T) == 1) {
      const auto left = [](uint8_t value, int count) { return static_cast<unsigned>(value) << count; };
      const uint8_t moved = in_steps(static_cast<uint8_t>(x), static_cast<uint8_t>(bits), left);
      return static_cast<T>(has_bit(bits) ? moved : uint8_t{0});
    }
    constexpr Bits<T> kMost = 8 * sizeof(Bits<T>) - 1;
    // Shifts an unsigned value: a left shift of a negative or an overflowing signed one is undefined in
    // C++17.
    const Bits<T> moved = static_cast<Bits<T>>(x) << (static_cast<Bits<T>>(bits) & kMost);
    return static_cast<T>(has_bit(bits) ? moved : 0);
  };
  return elementwise<(kLeftTypes & types::kIntegral)>(compute, out, shift, self, other);
}

Error shift_right(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  const auto shift = [](auto x, auto bits) {
    using T = decltype(x);
    if constexpr (sizeof(T) == 1) {
      const T moved = in_steps(x, bits, [](T value, int count) { return value >> count; });
      const T beyond = std::is_signed_v<T> && x < T(0) ? T(-1) : T(0);
      return has_bit(bits) ? moved : beyond;
    }
    constexpr Bits<T> kMost = 8 * sizeof(Bits<T>) - 1;
    // A shift by all bits but the sign leaves copies of it.
    const Bits<T> count = has_bit(bits) ? static_cast<Bits<T>>(bits) : kMost;
    const Shifted<T> moved = static_cast<Shifted<T>>(x) >> count;
    return static_cast<T>(std::is_signed_v<T> || has_bit(bits) ? moved : 0);
  };
  return elementwise<(kRightTypes & types::kIntegral)>(compute, out, shift, self, other);
}

}  // namespace

Error bitwise_left_shift_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return shift_left(result_type(self, other), self, other, out);
}

Error bitwise_left_shift_Tensor_Scalar_out(KernelContext&, const Tensor& self, const Scalar& other,
                                           Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return shift_left(compute, self, ScalarTensor(other, compute), out);
}

Error bitwise_left_shift_Scalar_Tensor_out(KernelContext&, const Scalar& self, const Tensor& other,
                                           Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return shift_left(compute, ScalarTensor(self, compute), other, out);
}

Error bitwise_right_shift_Tensor_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return shift_right(result_type(self, other), self, other, out);
}

Error bitwise_right_shift_Tensor_Scalar_out(KernelContext&, const Tensor& self, const Scalar& other,
                                            Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return shift_right(compute, self, ScalarTensor(other, compute), out);
}

Error bitwise_right_shift_Scalar_Tensor_out(KernelContext&, const Scalar& self, const Tensor& other,
                                            Tensor& out) {
  const ScalarType compute = result_type(self, other);
  return shift_right(compute, ScalarTensor(self, compute), other, out);
}

}  // namespace rushlight::kernels
