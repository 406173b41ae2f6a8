// SPDX-License-Identifier: BSD-3-Clause
// Reference of kernels/ukernel/winograd.h by its transform matrices, sums in double, for tests.
#pragma once

#include <cmath>

#include "kernels/ukernel/winograd.h"

namespace rushlight::ukernel::reference {

inline constexpr double kInputs[kWinogradIn][kWinogradIn] = {
    {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
inline constexpr double kOutputs[kWinogradOut][kWinogradIn] = {{1, 1, 1, 0}, {0, 1, -1, -1}};

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
