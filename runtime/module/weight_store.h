// SPDX-License-Identifier: BSD-3-Clause
// Prepared weights of all methods of a program, with memory from the heap.
#pragma once

#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/checked.h"
#include "runtime/executor/method.h"

namespace rushlight {

class WeightStore {
 public:
  // For as long as a method is measured and prepared.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock<std::mutex>(mutex_); }
  [[nodiscard]] PreparedWeights& weights() { return weights_; }

  // Method::measure() for a method that is going to prepare its constants here, in at most `most` bytes and
  // in proportion to what it has: a small program cannot ask for any amount of memory. With more than that
  // the kernels find their constants unprepared.
  [[nodiscard]] Error measure(Method& method, uint64_t most, Preparation* needs) const;

  // Memory for what is added next; false when there is none.
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

  // Fewer page faults as weights are packed, and fewer misses of the TLB when they are used.
  static void use_large_pages(void* memory, size_t size);

  std::mutex mutex_;
  std::vector<std::unique_ptr<void, Free>> memory_;
  PreparedWeights weights_;
};

}  // namespace rushlight
