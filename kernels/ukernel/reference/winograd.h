// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/winograd.h by its transform matrices, sums in double, for tests. With d the 4
// x 4 inputs, g the kernel and m the products, the matrices of Lavin and Gray are
//
//   inputs     B^T d B    kInputs = B^T
//   weights    G g G^T    kWeights = G
//   outputs    A^T m A    kOutputs = A^T
//
// Each result is one double sum over all 16 elements with products of two matrix elements, where variants
// transform rows and columns in turn. Tests allow 1e-6 for inputs, 1e-7 for weights and 5e-6 for outputs.
#pragma once

#include <cmath>

#include "kernels/ukernel/winograd.h"

namespace rushlight::ukernel::reference {

inline constexpr double kInputs[kWinogradIn][kWinogradIn] = {
    {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
inline constexpr double kWeights[kWinogradIn][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
inline constexpr double kOutputs[kWinogradOut][kWinogradIn] = {{1, 1, 1, 0}, {0, 1, -1, -1}};

// out of part 4 r + c = sum of B^T[r][i] B^T[c][j] d[i][j]. A null pointer is an input of zeros.
inline void winograd_input(const WinogradInput& tile) {
  for (size_t lane = 0; lane < tile.lanes; ++lane) {
    for (size_t part = 0; part < kWinogradParts; ++part) {
      double sum = 0;
      for (size_t i = 0; i < kWinogradIn; ++i) {
        for (size_t j = 0; j < kWinogradIn; ++j) {
          const float* in = tile.in[i * kWinogradIn + j];
          const double factor = kInputs[part / kWinogradIn][i] * kInputs[part % kWinogradIn][j];
          if (in != nullptr) sum += factor * in[lane];
        }
      }
      tile.out[static_cast<ptrdiff_t>(part) * tile.out_stride + static_cast<ptrdiff_t>(lane)] =
          static_cast<float>(sum);
    }
  }
}

// out of part 4 r + c = sum of G[r][i] G[c][j] g[i][j].
inline void winograd_weights(const WinogradWeights& weights) {
  for (size_t lane = 0; lane < weights.lanes; ++lane) {
    const float* in = weights.in + static_cast<ptrdiff_t>(lane) * weights.lane_stride;
    for (size_t part = 0; part < kWinogradParts; ++part) {
      double sum = 0;
      for (ptrdiff_t i = 0; i < 3; ++i) {
        for (ptrdiff_t j = 0; j < 3; ++j) {
          const double factor = kWeights[part / kWinogradIn][i] * kWeights[part % kWinogradIn][j];
          sum += factor * in[i * weights.row_stride + j * weights.column_stride];
        }
      }
      weights.out[static_cast<ptrdiff_t>(part) * weights.out_stride + static_cast<ptrdiff_t>(lane)] =
          static_cast<float>(sum);
    }
  }
}

// Returns false if an output is infinite or NaN as float32, before bias and residual. Parts with a factor of
// 0 are skipped, so that an infinite product counts only for outputs that depend on it. Outputs that are not
// stored count too.
inline bool winograd_output(const WinogradOutput& tile) {
  bool finite = true;
  for (size_t lane = 0; lane < tile.lanes; ++lane) {
    for (size_t k = 0; k < kWinogradOut * kWinogradOut; ++k) {
      double sum = 0;
      for (size_t part = 0; part < kWinogradParts; ++part) {
        const double factor =
            kOutputs[k / kWinogradOut][part / kWinogradIn] * kOutputs[k % kWinogradOut][part % kWinogradIn];
        if (factor == 0) continue;
        sum += factor * tile.in[static_cast<ptrdiff_t>(part) * tile.in_stride + static_cast<ptrdiff_t>(lane)];
      }
      finite = finite && std::isfinite(static_cast<float>(sum));
      if (tile.out[k] == nullptr) continue;
      if (tile.bias != nullptr) sum += tile.bias[lane];
      if (tile.residual != nullptr) sum += tile.residual[k][lane];
      const auto value = static_cast<float>(sum);
      const float raised = value < tile.low ? tile.low : value;
      tile.out[k][lane] = raised > tile.high ? tile.high : raised;
    }
  }
  return finite;
}

}  // namespace rushlight::ukernel::reference
