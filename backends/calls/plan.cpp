// SPDX-License-Identifier: BSD-3-Clause
// Memory planning as interval packing: lifetimes are spans of calls, sizes are rounded to cache lines. The
// greedy order by size is a common heuristic; optimal packing is NP-hard.
#include "backends/calls/plan.h"

#include <algorithm>

#include "runtime/base/log.h"

namespace rushlight {

namespace {

constexpr uint64_t kAlignment = 64;  // size of a cache line
constexpr uint64_t kMostBytes = uint64_t{1} << 48;

using Storage = CallList::Storage;

bool is_planned(const Storage& storage) { return !storage.is_external && storage.constant < 0; }

// Returns true if the lifetimes of two storages overlap.
bool meet(const Storage& a, const Storage& b) {
  return a.first_use <= b.last_use && b.first_use <= a.last_use;
}

uint64_t rounded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Limit for the quadratic algorithm, which takes less than a second; beyond it each tensor gets its own
// memory.
constexpr size_t kMostCompared = 20'000;

// The lowest offset at which `wanted` fits between the placed storages whose lifetimes overlap its own.
// `placed` is sorted by offset.
uint64_t lowest_gap(const Storage& wanted, const std::vector<const Storage*>& placed) {
  uint64_t offset = 0;
  // Storages whose lifetimes do not overlap may lie anywhere.
  for (const Storage* other : placed) {
    if (!meet(wanted, *other)) continue;
    // Sorted by offset: the gap before `other` is the lowest that is large enough.
    if (offset + wanted.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + rounded(other->bytes));
  }
  return offset;
}

}  // namespace

Error plan_storages(std::vector<Storage>* storages, uint64_t* bytes) {
  std::vector<Storage*> waiting;
  uint64_t sum = 0;
  for (Storage& storage : *storages) {
    if (!is_planned(storage)) continue;
    RL_CHECK(storage.bytes < kMostBytes && sum < kMostBytes, Error::OutOfResources,
             "tensors between calls: more than %llu bytes", static_cast<unsigned long long>(kMostBytes));
    sum += rounded(storage.bytes);
    waiting.push_back(&storage);
  }
  // A stable sort keeps the order of equal sizes, so equal graphs give equal plans.
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Storage* a, const Storage* b) { return a->bytes > b->bytes; });
  std::vector<const Storage*> placed;
  *bytes = 0;
  if (waiting.size() > kMostCompared) {
    for (Storage* storage : waiting) {
      storage->offset = *bytes;
      *bytes += rounded(storage->bytes);
    }
    return Error::Ok;
  }
  for (Storage* storage : waiting) {
    storage->offset = lowest_gap(*storage, placed);
    *bytes = std::max(*bytes, storage->offset + rounded(storage->bytes));
    const auto behind =
        std::upper_bound(placed.begin(), placed.end(), storage->offset,
                         [](uint64_t offset, const Storage* other) { return offset < other->offset; });
    placed.insert(behind, storage);
  }
  return Error::Ok;
}

}  // namespace rushlight
