// SPDX-License-Identifier: BSD-3-Clause
// Converts the heads of float16, bfloat16 and int8 attention to float32 in scratch memory: keys and values
// block by block, queries and results row by row.
#pragma once

#include <cstddef>

#include "kernels/backs/attention.h"
#include "kernels/host/attention/tiles.h"

namespace rushlight::kernels::host {

// One object for each thread. Its buffers in `scratch` are float32: queries [queries][depth], results
// [queries][width], a block of keys and one of values. Precondition: takes().
class WidenedHeads {
 public:
  // Scratch memory of one thread, for blocks of `block` keys.
  [[nodiscard]] static size_t bytes(const AttentionPlan& plan, size_t block) {
    return (plan.queries() + block) * (plan.depth() + plan.width()) * sizeof(float);
  }
  // True if the rows of queries, keys, values and results are contiguous.
  [[nodiscard]] static bool takes(const AttentionProblem& problem);

  WidenedHeads(const AttentionProblem& problem, size_t block, void* scratch);

  // Loads a head: queries [begin, end) converted to float32, and memory for results. Its keys and values are
  // null.
  AttentionPlan::Head load(size_t index, size_t begin, size_t end);
  // Converts `count` keys or values of the head from `first` on, at most a block; valid until the next call.
  // Int8 elements are multiplied by the scale of their token.
  [[nodiscard]] FloatRows keys(size_t first, size_t count);
  [[nodiscard]] FloatRows values(size_t first, size_t count);
  // Converts rows [begin, end) of the result and stores them in the loaded head.
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
