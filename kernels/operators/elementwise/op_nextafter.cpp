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

// The next value after a towards b. From either zero it is the smallest subnormal with the sign of b. All
// cases are computed and selected, so that loops vectorize. kInfinity is the pattern of infinity.
template <class Bits, Bits kInfinity>
struct Next {
  Bits operator()(Bits a, Bits b) const {
    constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    constexpr Bits kMagnitude = static_cast<Bits>(~kSign);
    const auto a_size = static_cast<Bits>(a & kMagnitude);
    const auto b_size = static_cast<Bits>(b & kMagnitude);
    const bool outwards = ((a ^ b) & kSign) == 0 && b_size > a_size;
    auto result = static_cast<Bits>(outwards ? a + 1 : a - 1);
    result = a_size == 0 ? static_cast<Bits>((b & kSign) | 1) : result;
    const bool is_other = (b_size > kInfinity) | (a == b) | ((a_size | b_size) == 0);  // NaN, too
    result = is_other ? b : result;
    return a_size > kInfinity ? a : result;
  }
};

template <class Bits, Bits kInfinity>
inline constexpr RowFunction kRow =
    &internal::elementwise_row<Bits, Bits, internal::SameForAllTypes<Next<Bits, kInfinity>>, 0, 1>;

}  // namespace

Error nextafter_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::nextafter.out") & types::kFloating;
  const ScalarType type = result_type(self, other);
  if (!contains(kTypes, type)) return unsupported_type(type);
  const Tensor* const inputs[] = {&self, &other};
  const auto run = [&](RowFunction function) {
    // The functions are empty, so their address is arbitrary.
    return run_elementwise({inputs, 2}, out, {type, type, type, Numbers::kRounded, function, &type});
  };
  switch (type) {
    case ScalarType::Half:
      return run(kRow<uint16_t, 0x7c00>);
    case ScalarType::BFloat16:
      return run(kRow<uint16_t, 0x7f80>);
    case ScalarType::Float:
      return run(kRow<uint32_t, 0x7f800000>);
    default:
      return run(kRow<uint64_t, 0x7ff0000000000000>);
  }
}

}  // namespace rushlight::kernels
