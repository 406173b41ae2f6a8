// SPDX-License-Identifier: BSD-3-Clause
// References of kernels/ukernel/normalize.h for one element in double, for tests.
#pragma once

#include <cstddef>

namespace rushlight::ukernel::reference {

inline double normalized(float x, float mean, float rstd, float weight, float bias) {
  const double apart = static_cast<double>(x) - static_cast<double>(mean);
  return apart * static_cast<double>(rstd) * static_cast<double>(weight) + static_cast<double>(bias);
}

inline double scaled(float x, float scale, float shift) {
  return static_cast<double>(x) * static_cast<double>(scale) + static_cast<double>(shift);
}

}  // namespace rushlight::ukernel::reference
