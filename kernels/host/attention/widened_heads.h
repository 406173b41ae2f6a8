// SPDX-License-Identifier: BSD-3-Clause
// Heads of attention whose numbers are narrower than float32, as float32 in scratch memory: keys and values a
// block at a time, queries and results by rows.
#pragma once

#include <cstddef>

#include "kernels/backs/attention.h"
#include "kernels/host/attention/tiles.h"

namespace rushlight::kernels::host {

class WidenedHeads {
 public:
  // Scratch memory of one thread, for blocks of so many keys.
  [[nodiscard]] static size_t bytes(const AttentionPlan& plan, size_t block) {
    return (plan.queries() + block) * (plan.depth() + plan.width()) * sizeof(float);
  }
  // True if rows are contiguous.
  [[nodiscard]] static bool takes(const AttentionProblem& problem);

  WidenedHeads(const AttentionProblem& problem, size_t block, void* scratch);

  // A head with its queries and results in float32, rows [begin, end) of them; it has no keys and values.
  AttentionPlan::Head load(size_t index, size_t begin, size_t end);
  // `count` keys or values of it from `first` on, at most a block; valid until the next ones.
  [[nodiscard]] FloatRows keys(size_t first, size_t count);
  [[nodiscard]] FloatRows values(size_t first, size_t count);
  // Rows [begin, end) of the result, from float32, to the head that was loaded.
  void store(size_t begin, size_t end) const;

 private:
  const AttentionProblem& problem_;
  AttentionPlan::Head head_;
  QuantizedTokens::Head tokens_;
  float* query_;
  float* out_;
  float* key_;
  float* value_;
};

}  // namespace rushlight::kernels::host
