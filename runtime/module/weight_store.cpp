// SPDX-License-Identifier: BSD-3-Clause
// Sizes memory for prepared constants. Limits depend on the constants in the file, so that a small hostile
// program cannot request gigabytes of packed weights.
#include "runtime/module/weight_store.h"

#include <algorithm>
#include <utility>

#include <sys/mman.h>

#include "runtime/program/schema.h"

namespace rushlight {

namespace {

// Bytes of a method's constants. Overlapping ranges count once: sorts the ranges and sums their union.
uint64_t constant_bytes(const Method& method) {
  std::vector<std::pair<uintptr_t, uintptr_t>> ranges;
  const auto values = method.meta().plan().tables(schema::plan::kValues);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto kind = values[i].scalar<uint8_t>(schema::evalue::kValType);
    if (kind != static_cast<uint8_t>(schema::ValueKind::Tensor)) continue;
    const Tensor tensor = method.tensor(i);
    if (tensor.impl()->storage() != Storage::Constant) continue;
    const auto begin = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
    ranges.emplace_back(begin, begin + tensor.nbytes());
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t bytes = 0;
  uintptr_t counted = 0;  // end of the counted part
  for (const auto& [begin, end] : ranges) {
    if (end <= counted) continue;
    bytes += end - std::max(begin, counted);
    counted = end;
  }
  return bytes;
}

}  // namespace

void WeightStore::use_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] size_t size) {
#ifdef MADV_HUGEPAGE
  // Huge pages of 2 MiB save TLB misses when kernels stream packed weights. Only whole pages inside the block
  // are advised; the advice may be ignored.
  constexpr uintptr_t kLarge = uintptr_t{2} << 20;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (address + kLarge - 1) / kLarge * kLarge, last = (address + size) / kLarge * kLarge;
  if (first < last) static_cast<void>(::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
#endif
}

Error WeightStore::measure(Method& method, uint64_t most, Preparation* needs) const {
  const uint64_t share = most_prepared_of(constant_bytes(method));
  needs->most_prepared_bytes = static_cast<size_t>(std::min({share, most, uint64_t{SIZE_MAX}}));
  // Each call prepares at most one constant.
  size_t size = 0;
  if (!checked_mul(method.num_instructions(), PreparedWeights::note_cost(), &size)) size = 0;
  // Without memory for notes, duplicates count twice: the estimate is too large, never too small.
  const std::unique_ptr<void, Free> notes(std::malloc(size));
  PreparedWeights counted;
  if (notes != nullptr) counted.extend({static_cast<uint8_t*>(notes.get()), size});
  needs->counted = &counted;
  const Error error = method.measure(&weights_, needs);
  needs->counted = nullptr;
  return error;
}

}  // namespace rushlight
