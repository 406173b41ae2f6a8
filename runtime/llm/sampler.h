// SPDX-License-Identifier: BSD-3-Clause
// Samples the next token. Probabilities are integers and random numbers come from a counter (SplitMix64), so
// that equal logits and an equal seed give the same token on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/span.h"

namespace rushlight::llm {

// Applied in this order: repetition penalty, temperature, top_k, top_p, min_p.
struct SamplerOptions {
  float temperature = 0;         // 0: the greatest logit; the first of equal ones
  int32_t top_k = 0;             // keep this many of the likeliest tokens; 0: all
  float top_p = 1;               // keep the likeliest that sum to at least this share of probability
  float min_p = 0;               // keep tokens with at least this share of the greatest probability
  float repetition_penalty = 1;  // divides positive logits of recent tokens, multiplies negative ones
  size_t repeat_last_n = 64;     // number of tokens that count as recent
  uint64_t seed = 0;             // equal seeds draw equal random numbers
};

// A sampler with its random state. Each sample() with temperature > 0 draws one number.
class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options) : options_(options) {}
  // Returns the index of one of `logits`, which is not empty. `recent` holds the preceding tokens, newest
  // last. NaN logits are never chosen; if all are NaN, returns 0. Cost: O(n) without top_p, otherwise O(n + k
  // log n) for k kept tokens.
  int32_t sample(Span<const float> logits, Span<const int32_t> recent);

 private:
  // A token with its unnormalised probability in units of 2^-40 of the likeliest.
  struct Candidate {
    uint64_t weight;
    int32_t token;
  };
  static bool likelier(const Candidate& a, const Candidate& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
  }
  // The steps of sample().
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
