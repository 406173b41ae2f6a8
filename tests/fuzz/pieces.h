// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "runtime/kernel/thread_pool.h"

namespace rushlight::fuzz {

// A thread pool without threads, for reproducible runs: executes the pieces in sequence, the last one first,
// each with another thread index than the one before. A kernel whose pieces depend on each other, or share
// scratch across threads, then gives another result. Some seven pieces, unless `grain` is larger.
class Pieces final : public ThreadPool {
 public:
  // More than two, so that neighbouring pieces differ in their thread, and scratch for several is needed.
  [[nodiscard]] size_t threads() const override { return 3; }
  void run(size_t count, size_t grain, Task task, void* work) override {
    const size_t size = std::max({grain, (count + 6) / 7, size_t{1}});
    for (size_t piece = (count + size - 1) / size; piece-- > 0;) {
      task(work, piece * size, std::min((piece + 1) * size, count), piece % threads());
    }
  }
};

}  // namespace rushlight::fuzz
