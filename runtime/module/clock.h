// SPDX-License-Identifier: BSD-3-Clause
// The clock by which hosts time executions.
#pragma once

#include <ctime>

namespace rushlight {

// Nanoseconds since some moment; never goes back.
inline double now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace rushlight
