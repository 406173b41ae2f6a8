// SPDX-License-Identifier: BSD-3-Clause
// Checks a decision by measurement: the first executions alternate between two ways that give the same
// results, and the faster one stays.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace rushlight {

// Times two ways, the usual and the new one, in turn. The first time of each counts for nothing, because
// caches and pages are cold. The new way stays if the median of its times is below kGain of the other's.
class Trial {
 public:
  static constexpr size_t kRounds = 5;  // counted times of each way
  static constexpr double kGain = 0.97;

  // Returns true until both ways were timed.
  [[nodiscard]] bool is_open() const { return rounds_ < 2 * (kRounds + 1); }
  // Returns true if the next execution takes the new way.
  [[nodiscard]] bool takes_new() const { return is_open() ? rounds_ % 2 == 1 : new_is_faster_; }

  // Notes the time of an execution, in any unit, in the way that takes_new() told.
  void note(double time) {
    const size_t round = rounds_ / 2;
    if (round > 0) times_[rounds_ % 2][round - 1] = time;
    ++rounds_;
    if (!is_open()) new_is_faster_ = median(&times_[1]) < kGain * median(&times_[0]);
  }

 private:
  static double median(std::array<double, kRounds>* times) {
    std::nth_element(times->begin(), times->begin() + kRounds / 2, times->end());
    return (*times)[kRounds / 2];
  }

  size_t rounds_ = 0;
  bool new_is_faster_ = false;
  std::array<std::array<double, kRounds>, 2> times_ = {};
};

}  // namespace rushlight
