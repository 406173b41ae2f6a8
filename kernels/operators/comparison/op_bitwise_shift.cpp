// SPDX-License-Identifier: BSD-3-Clause
// A shift by a negative count, or by at least the width of the type, is undefined in C++. Here it gives the
// result of shifting out every bit: 0, or -1 for a right shift of a negative value. The loops are over int64
// for every integer dtype: a narrower result drops its high bits when it is stored, which also zeroes left
// shifts by more than its width.
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

// True if a shift by this many bits is defined for T.
template <class T>
bool has_bit(T bit) {
  return bit >= T(0) && static_cast<uint64_t>(bit) < 8 * sizeof(T);
}

Error shift_left(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  const auto shift = [](auto x, auto bits) {
    using T = decltype(x);
    if (!has_bit(bits)) return T(0);
    // Shifts an unsigned value: a left shift of a negative or an overflowing signed one is undefined in
    // C++17.
    return static_cast<T>(static_cast<uint64_t>(x) << static_cast<unsigned>(bits));
  };
  return elementwise<(kLeftTypes & types::kIntegral)>(compute, out, shift, self, other);
}

Error shift_right(ScalarType compute, const Tensor& self, const Tensor& other, Tensor& out) {
  const auto shift = [](auto x, auto bits) {
    using T = decltype(x);
    if (has_bit(bits)) return static_cast<T>(x >> static_cast<unsigned>(bits));
    return static_cast<T>(std::is_signed_v<T> && x < T(0) ? -1 : 0);
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
