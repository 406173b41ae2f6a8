// SPDX-License-Identifier: BSD-3-Clause
// Parallel work in which each thread needs scratch memory. With too little memory for all threads fewer
// pieces are run, instead of failing.
#pragma once

#include <algorithm>
#include <cstddef>

#include "runtime/kernel/context.h"

namespace rushlight::kernels::host {

// Allocates scratch memory for as many pieces as threads and memory allow, at most kMostPieces. The memory is
// the context's and is valid until the kernel returns.
class Pieces {
 public:
  // At most `most` pieces with `bytes` of scratch memory each.
  // Takes memory until a piece does not fit; fewer pieces only mean fewer threads.
  Pieces(KernelContext& context, size_t most, size_t bytes) : context_(context) {
    most = std::min({most, context.threads(), kMostPieces});
    while (count_ < most && (scratch_[count_] = context.allocate_temp(bytes, 64)) != nullptr) ++count_;
  }

  // True if memory does not suffice for one piece.
  [[nodiscard]] bool empty() const { return count_ == 0; }

  // Calls work(piece, number of pieces, scratch) for each piece, concurrently. Work divides its items by
  // these two numbers; results must not depend on them.
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
