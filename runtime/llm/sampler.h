// SPDX-License-Identifier: BSD-3-Clause
// PROVISIONAL
#pragma once
#include <algorithm>
#include <cstdint>

#include "runtime/base/span.h"
namespace rushlight::llm {
struct SamplerOptions {
  float temperature = 0;
  int32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float repetition_penalty = 1;
  size_t repeat_last_n = 64;
  uint64_t seed = 0;
};
class Sampler {
 public:
  explicit Sampler(const SamplerOptions&) {}
  int32_t sample(Span<const float> logits, Span<const int32_t>) {
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
};
}  // namespace rushlight::llm
