// SPDX-License-Identifier: BSD-3-Clause
// Deduplicates by a hash of samples, then by comparison. Alignment is part of identity, because kernels may
// require it.
#include "backends/calls/constant_pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rushlight {

namespace {

constexpr size_t kAlignment = 16, kSamples = 16;
// Limit of comparisons per hash: a file could have any number of constants that differ only between the
// samples.
constexpr size_t kMostCompared = 8;

// Hashes a few samples: equal hashes are compared anyway, and a model has few constants of one size.
uint64_t sample(ConstantPool::Bytes bytes) {
  // The alignment is in the upper byte, so that differently aligned copies have different hashes.
  uint64_t hash = bytes.size() ^ (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment) << 56;
  const size_t step = std::max(bytes.size() / kSamples, sizeof(uint64_t));
  for (size_t at = 0; at < bytes.size(); at += step) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    hash ^= hash >> 33;
  }
  return hash;
}

bool is_aligned_alike(const uint8_t* a, const uint8_t* b) {
  return (reinterpret_cast<uintptr_t>(a) - reinterpret_cast<uintptr_t>(b)) % kAlignment == 0;
}

}  // namespace

const ConstantPool::Bytes* ConstantPool::find(Bytes bytes, uint64_t key) const {
  const auto [first, last] = known_.equal_range(key);
  size_t compared = 0;
  for (auto it = first; it != last && compared < kMostCompared; ++it, ++compared) {
    const Bytes& other = it->second;
    if (other.size() != bytes.size() || !is_aligned_alike(other.data(), bytes.data())) continue;
    if (other.data() == bytes.data() || std::memcmp(other.data(), bytes.data(), bytes.size()) == 0)
      return &other;
  }
  return nullptr;
}

ConstantPool::Bytes ConstantPool::refer(Bytes bytes) {
  // Copies are cheap and release file pages; see kSmall.
  return bytes.size() <= kSmall ? keep(std::vector<uint8_t>(bytes.begin(), bytes.end())) : find_or_add(bytes);
}

// Empty constants are not stored: they have no address to share.
ConstantPool::Bytes ConstantPool::find_or_add(Bytes bytes) {
  if (bytes.empty()) return bytes;
  const uint64_t key = sample(bytes);
  // One lock over search and insertion: two threads cannot add equal bytes twice.
  const std::unique_lock<std::mutex> locked(mutex_);
  if (const Bytes* known = find(bytes, key)) return *known;
  known_.emplace(key, bytes);
  return bytes;
}

ConstantPool::Bytes ConstantPool::keep(std::vector<uint8_t> bytes) {
  const Bytes given(bytes.data(), bytes.size());
  const Bytes known = find_or_add(given);
  // Equal bytes were known: the new ones are released on return.
  if (known.data() != given.data() || given.empty()) return known;
  const std::unique_lock<std::mutex> locked(mutex_);
  kept_bytes_ += given.size();
  made_.push_back(std::move(bytes));  // moving a vector keeps its address
  return given;
}

ConstantPool::Bytes ConstantPool::keep(FreeableBuffer buffer) {
  const Bytes given = buffer.bytes();
  if (!buffer.owns()) return refer(given);
  const Bytes known = find_or_add(given);
  if (known.data() != given.data()) return known;
  const std::unique_lock<std::mutex> locked(mutex_);
  kept_bytes_ += given.size();
  read_.push_back(std::move(buffer));
  return given;
}

size_t ConstantPool::kept_bytes() const {
  const std::unique_lock<std::mutex> locked(mutex_);
  return kept_bytes_;
}

}  // namespace rushlight
