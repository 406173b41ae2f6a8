// SPDX-License-Identifier: BSD-3-Clause
// SplitMix64 (Steele, Lea and Flood 2014): a counter with a mixing function; 64 bits of state, and each state
// is visited once.
#include "runtime/kernel/random.h"

#include <atomic>

namespace rushlight {

namespace {

uint64_t process_seed = kDefaultSeed;
std::atomic<uint32_t> streams;  // number of streams so far; kernels may run in several threads

}  // namespace

void set_seed(uint64_t seed) {
  // Streams restart, so that a seed gives the same values in a process that has drawn before.
  process_seed = seed;
  streams.store(0, std::memory_order_relaxed);
}

// Mixed twice, so that consecutive streams do not start near each other.
RandomStream::RandomStream()
    : state_(mix(mix(process_seed) + kStep * streams.fetch_add(1, std::memory_order_relaxed))) {}

}  // namespace rushlight
