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

  // Returns 64 independent bits.
  uint64_t next();

 private:
  uint64_t state_;
};

}  // namespace rushlight
