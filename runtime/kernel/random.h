// SPDX-License-Identifier: BSD-3-Clause
// Random numbers for kernels. The process has one seed. Each call of a kernel that draws numbers gets its own
// stream, derived from the seed and from the count of such calls so far. Equal seeds and equal sequences of
// calls give equal numbers on every target. They are not PyTorch's numbers.
//
// Generator: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
#pragma once

#include <cstdint>

namespace rushlight {

inline constexpr uint64_t kDefaultSeed = 67280421310721;  // torch.default_generator's default seed

// Sets the seed and restarts the count of streams. Must not be called while methods execute.
void set_seed(uint64_t seed);

// A counter whose bits are mixed. Not for cryptography.
class RandomStream {
 public:
  RandomStream();  // the next stream of the process

  // Returns 64 independent bits. Inline, as loops draw one number after the other.
  uint64_t next() {
    state_ += kStep;
    return mix(state_);
  }

 private:
  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio, rounded to odd

  static uint64_t mix(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

  uint64_t state_;
};

}  // namespace rushlight
