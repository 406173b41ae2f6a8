// SPDX-License-Identifier: BSD-3-Clause
// nextafter on bit patterns: IEEE 754 values of one sign are ordered like their bits read as integers, so the
// next value is the pattern plus or minus 1. One template serves all floating types, also 16-bit ones, which
// the C library lacks.
#include "kernels/checks/selection.h"
#include "kernels/elements/promotion.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

#ifdef __OPTIMIZE_SIZE__
// The next value after a towards b. From either zero it is the smallest subnormal with the sign of b.
template <class Bits>
Bits next(Bits a, Bits b, Bits infinity) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto magnitude = [](Bits x) { return static_cast<Bits>(x & static_cast<Bits>(~kSign)); };
  if (magnitude(a) > infinity) return a;  // NaN
  if (magnitude(b) > infinity || a == b) return b;
  if (magnitude(a) == 0) return magnitude(b) == 0 ? b : static_cast<Bits>((b & kSign) | 1);
  const bool same_sign = (a & kSign) == (b & kSign);
  const bool outwards = same_sign && magnitude(b) > magnitude(a);
  return static_cast<Bits>(outwards ? a + 1 : a - 1);
}
#else
// The same for loops that vectorize: all cases are computed and selected.
template <class Bits>
Bits next(Bits a, Bits b, Bits infinity) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  constexpr Bits kMagnitude = static_cast<Bits>(~kSign);
  const auto a_size = static_cast<Bits>(a & kMagnitude);
  const auto b_size = static_cast<Bits>(b & kMagnitude);
  const bool outwards = ((a ^ b) & kSign) == 0 && b_size > a_size;
  auto result = static_cast<Bits>(outwards ? a + 1 : a - 1);
  result = a_size == 0 ? static_cast<Bits>((b & kSign) | 1) : result;
  const bool is_other = (b_size > infinity) | (a == b) | ((a_size | b_size) == 0);  // NaN, too
  result = is_other ? b : result;
  return a_size > infinity ? a : result;
}
#endif

template <class Bits>
void row(const void* function, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  const auto infinity = static_cast<Bits>(*static_cast<const uint64_t*>(function));
#ifndef __OPTIMIZE_SIZE__
  constexpr auto kStep = static_cast<ptrdiff_t>(sizeof(Bits));
  if (strides[0] == kStep && strides[1] == kStep && strides[2] == kStep && ukernel::runs_loops()) {
    const auto f = [infinity](Bits a, Bits b) { return next(a, b, infinity); };
    return internal::dense_row<Bits, Bits, decltype(f), 0, 1>(f, pointers, n);
  }
#endif
  const auto at = [&](size_t operand, size_t i) {
    return reinterpret_cast<Bits*>(pointers[operand] + static_cast<ptrdiff_t>(i) * strides[operand]);
  };
  for (size_t i = 0; i < n; ++i) *at(0, i) = next(*at(1, i), *at(2, i), infinity);
}

}  // namespace

Error nextafter_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::nextafter.out") & types::kFloating;
  const ScalarType type = result_type(self, other);
  if (!contains(kTypes, type)) return unsupported_type(type);
  const Tensor* const inputs[] = {&self, &other};
  const auto run = [&](RowFunction function, uint64_t infinity) {
    return run_elementwise({inputs, 2}, out, {type, type, type, Numbers::kRounded, function, &infinity});
  };
  switch (type) {
    case ScalarType::Half:
      return run(row<uint16_t>, 0x7c00);
    case ScalarType::BFloat16:
      return run(row<uint16_t>, 0x7f80);
    case ScalarType::Float:
      return run(row<uint32_t>, 0x7f800000);
    default:
      return run(row<uint64_t>, 0x7ff0000000000000);
  }
}

}  // namespace rushlight::kernels
