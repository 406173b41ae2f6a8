// SPDX-License-Identifier: BSD-3-Clause
// Heads of attention whose numbers are narrower than float32, as float32 in scratch memory. Keys and values
// are converted once for all heads of queries that share them, queries and results by rows.
#pragma once

#include <cstddef>

#include "kernels/backs/attention.h"

namespace rushlight::kernels::host {

class WidenedHeads {
 public:
  // Scratch memory of one thread.
  [[nodiscard]] static size_t bytes(const AttentionPlan& plan) {
    return (plan.queries() + plan.keys()) * (plan.depth() + plan.width()) * sizeof(float);
  }
  // Whether rows are contiguous.
  [[nodiscard]] static bool takes(const AttentionProblem& problem);

  WidenedHeads(const AttentionProblem& problem, void* scratch);

  // The head's matrices in float32: rows [begin, end) of queries, all keys and values.
  AttentionPlan::Head load(size_t index, size_t begin, size_t end);
  // Rows [begin, end) of the result, from float32, to the head that was loaded.
  void store(size_t begin, size_t end) const;

 private:
  const AttentionProblem& problem_;
  AttentionPlan::Head head_;
  float* query_;
  float* out_;
  float* key_;
  float* value_;
  const char* loaded_key_ = nullptr;
  const char* loaded_value_ = nullptr;
};

}  // namespace rushlight::kernels::host
