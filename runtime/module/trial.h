// SPDX-License-Identifier: BSD-3-Clause
// Checks a decision by measurement: some executions alternate between two alternatives that give the same
// results, and the faster one stays for a while.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace rushlight {

// Times two alternatives in turn. The first time of each counts for nothing, because caches and pages are
// cold. The new alternative stays if the median of its times is below kGain of the usual one's.
//
// The load of the machine changes the result, so the measurement is repeated: after kFirstStay executions,
// then after twice as many, and so on up to kLongestStay. It costs kRounds + 1 executions of the slower
// alternative.
class Trial {
 public:
  static constexpr size_t kRounds = 5;  // counted times of each
  static constexpr double kGain = 0.97;
  static constexpr size_t kFirstStay = 64;
  static constexpr size_t kLongestStay = size_t{1} << 16;

  // Returns true while executions are to be timed.
  [[nodiscard]] bool is_open() const { return rounds_ < 2 * (kRounds + 1); }
  // Returns true if the next execution takes the new alternative.
  [[nodiscard]] bool takes_new() const { return is_open() ? rounds_ % 2 == 1 : new_is_faster_; }

  // Notes the time of an execution, in any unit, of the alternative that takes_new() told. Precondition:
  // is_open().
  void note(double time) {
    const size_t round = rounds_ / 2;
    if (round > 0) times_[rounds_ % 2][round - 1] = time;
    ++rounds_;
    if (is_open()) return;
    new_is_faster_ = median(&times_[1]) < kGain * median(&times_[0]);
    left_ = stay_;
    stay_ = std::min(2 * stay_, kLongestStay);
  }

  // Counts an execution that was not timed; the last one of a stay opens the trial again.
  void pass() {
    if (--left_ == 0) rounds_ = 0;
  }

 private:
  static double median(std::array<double, kRounds>* times) {
    std::nth_element(times->begin(), times->begin() + kRounds / 2, times->end());
    return (*times)[kRounds / 2];
  }

  size_t rounds_ = 0;
  size_t left_ = 0;  // executions until the next measurement
  size_t stay_ = kFirstStay;
  bool new_is_faster_ = false;
  std::array<std::array<double, kRounds>, 2> times_ = {};
};

}  // namespace rushlight
