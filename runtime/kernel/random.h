// SPDX-License-Identifier: BSD-3-Clause
// The random numbers of kernels. The process has one seed; every call of a kernel that draws numbers has a
// stream of its own, which follows from the seed and from how many such calls came before. Equal seeds and
// equal calls give equal numbers on every target.
#pragma once

#include <cstdint>

namespace rushlight {

inline constexpr uint64_t kDefaultSeed = 67280421310721;  // torch's

// Starts again: the next call of a kernel is the first with this seed. Not while methods run.
void set_seed(uint64_t seed);

// SplitMix64: a counter, and a function that mixes its bits. Not for secrets.
class RandomStream {
 public:
  RandomStream();  // the process's next one

  // 64 independent bits.
  uint64_t next();

 private:
  uint64_t state_;
};

}  // namespace rushlight
