// SPDX-License-Identifier: BSD-3-Clause
// The prepared constants of all methods of a program, in heap memory.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/checked.h"
#include "runtime/executor/method.h"

namespace rushlight {

// Grows by one allocation per method, so that addresses stay valid.
class WeightStore {
 public:
  // Hold it while a method is measured and prepared.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock<std::mutex>(mutex_); }
  // The cache of all methods. Precondition for preparing: the caller holds lock().
  [[nodiscard]] PreparedWeights& weights() { return weights_; }

  // Method::measure() for a method that will prepare its constants here. Limits the memory to `most` bytes
  // and to a multiple of the method's constants (most_prepared_of()), so that a small program cannot request
  // any amount. Kernels use constants beyond the limit unprepared.
  [[nodiscard]] Error measure(Method& method, uint64_t most, Preparation* needs) const;

  // Allocates memory of `size` bytes, rounded up to the alignment, for later blocks; returns false if there
  // is none. Precondition: the caller holds lock().
  [[nodiscard]] bool extend(size_t size) {
    size_t rounded = 0;
    if (!checked_add(size, PreparedWeights::kAlignment - 1, &rounded)) return false;
    rounded -= rounded % PreparedWeights::kAlignment;
    if (rounded == 0) return true;
    std::unique_ptr<void, Free> memory(std::aligned_alloc(PreparedWeights::kAlignment, rounded));
    if (memory == nullptr) return false;
    use_large_pages(memory.get(), rounded);
    weights_.extend({static_cast<uint8_t*>(memory.get()), rounded});
    memory_.push_back(std::move(memory));
    return true;
  }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  // Requests huge pages: fewer page faults while packing, fewer TLB misses in use.
  static void use_large_pages(void* memory, size_t size);

  std::mutex mutex_;
  std::vector<std::unique_ptr<void, Free>> memory_;
  PreparedWeights weights_;
};

}  // namespace rushlight
