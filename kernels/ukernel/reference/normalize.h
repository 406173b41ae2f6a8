// SPDX-License-Identifier: BSD-3-Clause
// References of kernels/ukernel/normalize.h for one element in double, for tests. A missing weight is passed
// as 1 and a missing bias as 0.
#pragma once

#include <cstddef>

namespace rushlight::ukernel::reference {

// The difference first, as in the definition.
inline double normalized(float x, float mean, float rstd, float weight, float bias) {
  const double apart = static_cast<double>(x) - static_cast<double>(mean);
  return apart * static_cast<double>(rstd) * static_cast<double>(weight) + static_cast<double>(bias);
}

inline double scaled(float x, float scale, float shift) {
  return static_cast<double>(x) * static_cast<double>(scale) + static_cast<double>(shift);
}

}  // namespace rushlight::ukernel::reference
