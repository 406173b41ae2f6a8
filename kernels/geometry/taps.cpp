// SPDX-License-Identifier: BSD-3-Clause
// Evaluates the separable sum recursively, innermost dimension first: no intermediate image is needed, at the
// cost of repeated products.
//
//   sum over i of wz[i] * (sum over j of wy[j] * (sum over k of wx[k] * input[z[i], y[j], x[k]]))
#include "kernels/geometry/taps.h"

#include <algorithm>
#include <cmath>

namespace rushlight::kernels {

namespace {

template <class W>
W sum_of(const Taps<W>* taps, size_t dims, const char* at, const Access<W>& access, SumRounding rounding) {
  W sum = 0;
  for (ptrdiff_t i = 0; i < taps->count; ++i) {
    if (taps->offset[i] < 0) continue;
    const char* next = at + taps->offset[i];
    const W value = dims == 1 ? access.load(next) : sum_of(taps + 1, dims - 1, next, access, rounding);
    sum += taps->weight[i] * value;
  }
  return rounding == SumRounding::kToBytes ? round_to_byte(sum) : sum;
}

}  // namespace

template <class W>
void linear_weights(W fraction, W* weight) {
  weight[0] = W(1) - fraction;
  weight[1] = fraction;
}

template <class W>
void cubic_weights(W fraction, W* weight) {
  // Keys, "Cubic convolution interpolation for digital image processing", 1981, with a = -0.75 as in PyTorch.
  // near() is for distances up to 1, far() from 1 to 2.
  constexpr W kA = W(-0.75);
  const auto near = [](W x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](W x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  weight[0] = far(fraction + 1);
  weight[1] = near(fraction);
  weight[2] = near(1 - fraction);
  weight[3] = far(2 - fraction);
}

template <class W>
W round_to_byte(W value) {
  return std::min(std::max(std::floor(value + W(0.5)), W(0)), W(255));
}

double byte_weight_levels(double largest) {
  constexpr double kMost = 1 << 15;  // limit of int16
  // The largest power of two, up to 2^22, by which the largest weight still fits in int16.
  double levels = 1;
  while (levels < (1 << 22) && std::floor(0.5 + largest * 2 * levels) < kMost) levels *= 2;
  return levels;
}

template <class W>
W weighted_sum(const Taps<W>* taps, const char* at, const Access<W>& access, SumRounding rounding) {
  return sum_of(taps, kVolume, at, access, rounding);
}

template void linear_weights(float, float*);
template void linear_weights(double, double*);
template void cubic_weights(float, float*);
template void cubic_weights(double, double*);
template float round_to_byte(float);
template double round_to_byte(double);
template float weighted_sum(const Taps<float>*, const char*, const Access<float>&, SumRounding);
template double weighted_sum(const Taps<double>*, const char*, const Access<double>&, SumRounding);

}  // namespace rushlight::kernels
