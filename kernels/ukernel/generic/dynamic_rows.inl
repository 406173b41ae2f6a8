// SPDX-License-Identifier: BSD-3-Clause
// Shared by the variants of dynamic_gemm: ranges and quantized rows, as branch-free loops that compilers
// vectorize.
#include "kernels/ukernel/dynamic_gemm.h"
#include "kernels/ukernel/generic/rounding.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// The start of a quantized row.
struct RowHeader {
  float scale;
  int32_t zero_point;  // zero point of the stored elements
};

// Quantized values plus an offset. The clamp between product and sum keeps them from being fused.
template <class T, class Real>
RL_INLINE void quantize_span(size_t n, const float* __restrict x, const DynamicQuantization& how,
                             int32_t offset, T* __restrict to) {
  constexpr bool kIsWide = sizeof(Real) > sizeof(float);
  const auto inverse = static_cast<Real>(how.inverse_scale);
  const auto zero_point = static_cast<Real>(how.zero_point);
  const auto low = static_cast<Real>(how.low - how.zero_point);
  const auto high = static_cast<Real>(how.high - how.zero_point);
  const auto shift = kIsWide ? Real(0) : zero_point;  // added after rounding
  const auto nothing = kIsWide ? Real(0) : -zero_point;
  for (size_t i = 0; i < n; ++i) {
    Real value = static_cast<Real>(x[i]) * inverse;
    const bool is_number = value == value;
    if constexpr (kIsWide) {
      value = value < low - 1 ? low - 1 : value;
      value = value > high + 1 ? high + 1 : value;
      value += zero_point;
      value = value < low + zero_point ? low + zero_point : value;
      value = value > high + zero_point ? high + zero_point : value;
    } else {
      value = value < low ? low : value;
      value = value > high ? high : value;
    }
    value = is_number ? value : nothing;
    to[i] = static_cast<T>(nearest(value) + static_cast<int32_t>(shift) + offset);
  }
}

template <class T>
void quantize_group(size_t n, const float* x, const DynamicQuantization& how, int32_t offset, T* to) {
  if (how.is_wide) {
    quantize_span<T, double>(n, x, how, offset, to);
  } else {
    quantize_span<T, float>(n, x, how, offset, to);
  }
}

}  // namespace

bool find_extent(size_t n, const float* x, float* min, float* max) {
  constexpr size_t kChains = 4 * (kLanes > 1 ? kLanes : 4);
  float least[kChains], most[kChains];
  int32_t strange[kChains];
  for (size_t j = 0; j < kChains; ++j) {
    least[j] = *min;
    most[j] = *max;
    strange[j] = 0;
  }
  const auto take = [&](size_t j, float value) __attribute__((always_inline)) {
    least[j] = value < least[j] ? value : least[j];
    most[j] = value > most[j] ? value : most[j];
    strange[j] |= value != value ? 1 : 0;
  };
  size_t i = 0;
  for (; i + kChains <= n; i += kChains) {
    for (size_t j = 0; j < kChains; ++j) take(j, x[i + j]);
  }
  for (; i < n; ++i) take(0, x[i]);
  int32_t any = 0;
  for (size_t j = 0; j < kChains; ++j) {
    *min = least[j] < *min ? least[j] : *min;
    *max = most[j] > *max ? most[j] : *max;
    any |= strange[j];
  }
  return any == 0;
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
