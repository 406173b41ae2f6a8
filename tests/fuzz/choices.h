// SPDX-License-Identifier: BSD-3-Clause
// Decisions that follow from a string of bytes: first from the bytes themselves, so that a fuzzer can control
// them, then from a generator seeded by all bytes. The same bytes give the same decisions on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "runtime/base/span.h"

namespace rushlight::fuzz {

class Choices {
 public:
  explicit Choices(uint64_t seed) : state_(seed) {}
  explicit Choices(Span<const uint8_t> bytes) : bytes_(bytes), state_(hash(bytes)) {}

  // FNV-1a, a hash of 64 bits; it seeds the generator.
  static uint64_t hash(Span<const uint8_t> bytes) {
    uint64_t state = 0xcbf29ce484222325u;
    for (const uint8_t byte : bytes) state = (state ^ byte) * 0x100000001b3u;
    return state;
  }

  // The next byte of the string; the generator's upper bits afterwards, which are its best.
  uint8_t byte() {
    if (at_ < bytes_.size()) return bytes_[at_++];
    return static_cast<uint8_t>(next() >> 56);
  }

  // The next eight bytes, the first one highest.
  uint64_t word() {
    if (at_ >= bytes_.size()) return next();
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = (value << 8) | byte();
    return value;
  }

  // An integer in [0, limit); 0 if limit is 0.
  size_t below(size_t limit) {
    if (limit <= 1) return 0;
    if (limit <= 256) return byte() * limit >> 8;
    return static_cast<size_t>(word() % limit);
  }

  // True with a probability of about 1 / n.
  bool one_in(size_t n) { return below(n) == 0; }

  // One of the items with about equal probability; repeat an item to favour it.
  template <class T>
  T of(std::initializer_list<T> items) {
    return items.begin()[below(items.size())];
  }

 private:
  // SplitMix64: passes statistical tests with one word of state, and any seed is good.
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  Span<const uint8_t> bytes_;
  size_t at_ = 0;
  uint64_t state_;
};

}  // namespace rushlight::fuzz
