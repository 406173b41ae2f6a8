// SPDX-License-Identifier: BSD-3-Clause
// Work whose every thread takes scratch memory.
#pragma once

#include <algorithm>
#include <cstddef>

#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// Scratch memory for as many pieces as there are threads and memory for.
class Pieces {
 public:
  // `most` at most, each with so many bytes.
  Pieces(KernelContext& context, size_t most, size_t bytes) : context_(context) {
    most = std::min({most, context.threads(), kMostPieces});
    while (count_ < most && (scratch_[count_] = context.allocate_temp(bytes, 64)) != nullptr) ++count_;
  }

  // True if there is no memory for one.
  [[nodiscard]] bool empty() const { return count_ == 0; }

  // Runs work(piece, pieces, scratch) for each.
  template <class Work>
  void run(Work work) {
    context_.parallel_for(count_, 1, [&](size_t begin, size_t end, size_t) {
      for (size_t piece = begin; piece < end; ++piece) work(piece, count_, scratch_[piece]);
    });
  }

 private:
  static constexpr size_t kMostPieces = 16;

  KernelContext& context_;
  size_t count_ = 0;
  void* scratch_[kMostPieces];
};

}  // namespace rushlight::kernels::host
