// SPDX-License-Identifier: BSD-3-Clause
// The magnitude of self with the sign of other, also if that is -0 or NaN. Builds for size compute in double,
// which is exact here, and all others take bits of the elements.
#include <cmath>

#include "kernels/elements/scalar_tensor.h"
#include "kernels/math/double_function.h"
#include "kernels/walk/elementwise.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

#ifndef __OPTIMIZE_SIZE__
template <class Bits>
struct CopySign {
  Bits operator()(Bits size, Bits sign) const {
    constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    return static_cast<Bits>((size & static_cast<Bits>(~kSign)) | (sign & kSign));
  }
};

template <class Bits>
inline constexpr RowFunction kRow =
    &internal::elementwise_row<Bits, Bits, internal::SameForAllTypes<CopySign<Bits>>, 0, 1>;
#endif

template <TypeSet kTypes, class B>
Error copysign(const Tensor& self, const B& other, const Tensor& out) {
#ifdef __OPTIMIZE_SIZE__
  return double_function<kTypes, std::copysign>(self, other, out);
#else
  const ScalarType given = result_type(self, other);
  const ScalarType type = floating_type(given);
  if (!contains(kTypes, given) || !contains(kTypes, type)) return unsupported_type(given);
  const auto run = [&](const Tensor& sign) {
    const Tensor* const inputs[] = {&self, &sign};
    const RowFunction row = type == ScalarType::Double  ? kRow<uint64_t>
                            : type == ScalarType::Float ? kRow<uint32_t>
                                                        : kRow<uint16_t>;
    // The functions are empty, so their address is arbitrary.
    return run_elementwise({inputs, 2}, out, {type, type, type, Numbers::kRounded, row, &type});
  };
  if constexpr (std::is_base_of_v<Tensor, B>) {
    return run(other);
  } else {
    return run(ScalarTensor(other, type));
  }
#endif
}

}  // namespace

Error copysign_out(KernelContext&, const Tensor& self, const Tensor& other, Tensor& out) {
  return copysign<selected_types("aten::copysign.out")>(self, other, out);
}

Error copysign_Scalar_out(KernelContext&, const Tensor& self, const Scalar& other, Tensor& out) {
  return copysign<selected_types("aten::copysign.Scalar_out")>(self, other, out);
}

}  // namespace rushlight::kernels
