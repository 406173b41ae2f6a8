// SPDX-License-Identifier: BSD-3-Clause
// Classifies a copy by its two innermost merged loops: contiguous rows, a transposed matrix, a repeated
// element, a reversed span, or strided elements. Short contiguous spans are moved as one wider element.
//
//   rows        slice                      copy_rows()
//   transpose   permute, layout change     transpose()
//   element     expand, fill               fill_span()
//   reversed    flip                       reverse()
//   strided     all others                 copy_elements()
#include "kernels/host/fast_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/checks/checks.h"
#include "kernels/ukernel/transpose.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/base/log.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kGrain = size_t{1} << 18;  // bytes worth a thread
constexpr ptrdiff_t kLargestElement = 16;
constexpr ptrdiff_t kShort = 16;  // elements of a repeated one

using Loop = PairedLoops::Loop;

// The loops around the innermost copy.
class Copy {
 public:
  Copy(const View& target, const View& source) : target_(target.data), source_(source.data) {
    element_ = static_cast<ptrdiff_t>(element_size(target.type));
    // The loops are sorted by the strides of the target and merged.
    const PairedLoops loops(target, source);
    for (const Loop& loop : loops.loops()) loops_[dim_++] = loop;
    if (dim_ > 1) widen_elements();
    if (dim_ > 1) find_matrix();
    if (dim_ > 1) turn_short_run();
  }

  [[nodiscard]] bool is_empty() const { return dim_ == 0; }

  // The loop that threads share: its number of iterations, and the bytes that one of them copies.
  [[nodiscard]] size_t rounds() const { return static_cast<size_t>(loops_[dim_ - 1].size); }
  [[nodiscard]] size_t bytes_of_round() const {
    auto bytes = static_cast<size_t>(element_);
    for (size_t d = 0; d + 1 < dim_; ++d) bytes *= static_cast<size_t>(loops_[d].size);
    return bytes;
  }

  // Iterations [begin, end) of that loop.
  void run(size_t begin, size_t end) const {
    Loop loops[kTensorDimensionLimit];
    for (size_t d = 0; d < dim_; ++d) loops[d] = loops_[d];
    const auto first = static_cast<ptrdiff_t>(begin);
    Loop& outer = loops[dim_ - 1];
    outer.size = static_cast<ptrdiff_t>(end) - first;
    walk(loops, dim_, target_ + first * outer.target, source_ + first * outer.source);
  }

 private:
  // Merges short contiguous spans of up to 16 aligned bytes into one element.
  void widen_elements() {
    const Loop& run = loops_[0];
    const ptrdiff_t bytes = run.size * element_;
    if (run.target != element_ || run.source != element_ || bytes > kLargestElement) return;
    if ((bytes & (bytes - 1)) != 0 || !is_aligned(bytes)) return;
    element_ = bytes;
    --dim_;
    for (size_t d = 0; d < dim_; ++d) loops_[d] = loops_[d + 1];
  }

  [[nodiscard]] bool is_aligned(ptrdiff_t bytes) const {
    const ptrdiff_t alignment = bytes < 8 ? bytes : 8;
    uintptr_t all = reinterpret_cast<uintptr_t>(target_) | reinterpret_cast<uintptr_t>(source_);
    for (size_t d = 1; d < dim_; ++d) {
      // All strides must keep the alignment, too: their bits are collected and tested once.
      all |= static_cast<uintptr_t>(loops_[d].target) | static_cast<uintptr_t>(loops_[d].source);
    }
    return (all & static_cast<uintptr_t>(alignment - 1)) == 0;
  }

  // If the target is contiguous along one loop and the source along another, these two become the innermost.
  void find_matrix() {
    if (loops_[0].target != element_ || loops_[0].source == element_ || loops_[0].source == 0) return;
    for (size_t d = 1; d < dim_; ++d) {
      if (loops_[d].source != element_) continue;
      // The target's contiguous loop stays innermost, the source's moves next to it: a transpose.
      const Loop columns = loops_[d];
      for (; d > 1; --d) loops_[d] = loops_[d - 1];
      loops_[1] = columns;
      is_matrix_ = true;
      return;
    }
  }

  // A few elements, repeated or strided, become the outer loop, so that the inner one is long.
  void turn_short_run() {
    constexpr ptrdiff_t kFew = 4;
    const bool is_row = loops_[0].target == element_ && loops_[0].source == element_;
    if (is_matrix_ || is_row || loops_[0].size > kFew || loops_[1].size <= loops_[0].size) return;
    std::swap(loops_[0], loops_[1]);
  }

  void walk(const Loop* loops, size_t dim, char* target, const char* source) const {
    if (is_matrix_ && dim == 2) {
      const Loop& rows = loops[0];
      const Loop& columns = loops[1];
      return ukernel::transpose(static_cast<size_t>(rows.size), static_cast<size_t>(columns.size),
                                static_cast<size_t>(element_), source, rows.source, target, columns.target);
    }
    const Loop& loop = loops[dim - 1];
    const Loop& run = loops[0];
    if (run.target == element_ && run.source == 0) {
      // A short span takes less time by single stores.
      if (dim == 1 && run.size > kShort) {
        return fill_span(target, source, static_cast<size_t>(run.size * element_));
      }
    } else if (dim == 2 && run.target == element_ && run.source == element_) {
      return ukernel::copy_rows(static_cast<size_t>(loop.size), static_cast<size_t>(run.size * element_),
                                source, loop.source, target, loop.target);
    }
    if (dim == 1 && run.target == element_ && run.source == -element_ && element_ <= 8)
      return ukernel::reverse(static_cast<size_t>(run.size), static_cast<size_t>(element_), source, target);
    if (dim == 1) {
      return copy_elements(target, loop.target, source, loop.source, static_cast<size_t>(loop.size),
                           static_cast<size_t>(element_));
    }
    for (ptrdiff_t i = 0; i < loop.size; ++i) {
      walk(loops, dim - 1, target, source);
      target += loop.target;
      source += loop.source;
    }
  }

  // Repeats one element: copies the filled part behind itself, doubling it each time up to 4096 bytes.
  void fill_span(char* target, const char* element, size_t bytes) const {
    // Copies of at most this size keep their source in the L1 cache.
    constexpr size_t kMost = 4096;
    auto done = static_cast<size_t>(element_);
    std::memmove(target, element, done);
    while (done < bytes) {
      const size_t n = std::min({done, bytes - done, kMost});
      std::memcpy(target + done, target, n);
      done += n;
    }
  }

  char* target_;
  const char* source_;
  ptrdiff_t element_;  // bytes of the unit that moves
  Loop loops_[kTensorDimensionLimit];
  size_t dim_ = 0;
  bool is_matrix_ = false;
};

}  // namespace

void fast_copy(KernelContext& context, const View& target, const View& source) {
  RL_DCHECK(target.type == source.type);
  const Copy copy(target, source);
  if (copy.is_empty()) return;
  const size_t grain = kGrain / copy.bytes_of_round() + 1;
  context.parallel_for(copy.rounds(), grain, [&](size_t begin, size_t end, size_t) { copy.run(begin, end); });
}

Error fast_copy_to_out(KernelContext& context, const View& source, const Tensor& out) {
  RL_CHECK(out.scalar_type() == source.type, Error::InvalidType, "out: expected dtype %s, got %s",
           to_string(source.type), to_string(out.scalar_type()));
  RL_TRY(resize_out(out, {source.sizes, source.dim}));
  fast_copy(context, View::of(out), source);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
