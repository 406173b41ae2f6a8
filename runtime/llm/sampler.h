// SPDX-License-Identifier: BSD-3-Clause
// Chooses the next token. Probabilities are integers and the random numbers a counter's (SplitMix64), so that
// the same logits and the same seed give the same token on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/span.h"

namespace rushlight::llm {

struct SamplerOptions {
  float temperature = 0;         // 0: the greatest logit, the first of equal ones
  int32_t top_k = 0;             // choose among so many of the likeliest; 0: all
  float top_p = 1;               // of them, the likeliest whose probabilities reach this share
  float min_p = 0;               // of them, those with this share of the likeliest one's probability
  float repetition_penalty = 1;  // divides positive logits of recent tokens, multiplies negative ones
  size_t repeat_last_n = 64;     // how many tokens are recent
  uint64_t seed = 0;
};

class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options) : options_(options) {}
  // The index of one of `logits`, which are not empty. `recent`: tokens before it, the newest last. Logits
  // that are NaN are never chosen; if all are, 0 is. O(n) without top_p, else O(n + k log n) for k likely
  // tokens.
  int32_t sample(Span<const float> logits, Span<const int32_t> recent);

 private:
  struct Candidate {
    uint64_t weight;
    int32_t token;
  };
  static bool likelier(const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  }
  void penalize(Span<const int32_t> recent);
  void weigh(float greatest);
  void keep_likeliest();
  [[nodiscard]] uint64_t total() const;
  uint64_t random();

  SamplerOptions options_;
  uint64_t draws_ = 0;
  std::vector<float> logits_;
  std::vector<Candidate> candidates_;
};

}  // namespace rushlight::llm
