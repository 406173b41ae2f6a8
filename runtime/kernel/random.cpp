// SPDX-License-Identifier: BSD-3-Clause
// SplitMix64 (Steele, Lea and Flood 2014): a counter with a mixing function; 64 bits of state, and each state
// is visited once.
#include "runtime/kernel/random.h"

#include <atomic>

namespace rushlight {

namespace {

constexpr uint64_t kStep = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio, rounded to an odd value

uint64_t process_seed = kDefaultSeed;
std::atomic<uint32_t> streams;  // number of streams so far; kernels may run in several threads

uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

}  // namespace

void set_seed(uint64_t seed) {
  // Streams restart, so that a seed gives the same values in a process that has drawn before.
  process_seed = seed;
  streams.store(0, std::memory_order_relaxed);
}

// Mixed twice, so that consecutive streams do not start near each other.
RandomStream::RandomStream()
    : state_(mix(mix(process_seed) + kStep * streams.fetch_add(1, std::memory_order_relaxed))) {}

uint64_t RandomStream::next() {
  state_ += kStep;
  return mix(state_);
}

}  // namespace rushlight
