// SPDX-License-Identifier: BSD-3-Clause
// Temperature sampling without floating-point sums: weights are 40-bit fixed point and are drawn by a
// cumulative scan in token order. Floating-point `exp` and sums in varying order differ in the last bits
// between libraries and compilers, and one different draw changes the rest of the text.
#include "runtime/llm/sampler.h"

#include <algorithm>
#include <cmath>

namespace rushlight::llm {

namespace {

constexpr int kWeightBits = 40;  // the likeliest token has weight 2^40; weights below 1 are 0
// Weights of up to 2^24 tokens add up within 64 bits.

// 2^-power in units of 2^-40, just below 2^40 for power 0. The fraction comes from the Taylor series
// (Horner's scheme) with coefficients ln(2)^k / k! in units of 2^-32, k = 9 to 1. Integers only; the error is
// below 2^-26. No product overflows: the coefficients sum to 2^32 - 31, and up <= 2^32. The comparison is
// negated so that NaN gives 0.
uint64_t power_of_two(double power) {
  if (!(power < kWeightBits + 1)) return 0;
  constexpr uint64_t kCoefficients[] = {437,      5676,      65510,      661577,    5726720,
                                        41309550, 238388332, 1031764991, 2977044472};
  const auto fixed = static_cast<uint64_t>(power * 0x1p32);
  const uint64_t up = (uint64_t{1} << 32) - (fixed & 0xFFFFFFFF);  // 2^-power = 2^(up - 1 - whole)
  const auto whole = static_cast<int>(fixed >> 32);
  uint64_t sum = 0;
  for (const uint64_t coefficient : kCoefficients) sum = coefficient + (sum * up >> 32);
  const uint64_t fraction = (uint64_t{1} << 32) + (sum * up >> 32);  // 2^up
  return (fraction << (kWeightBits - 32)) >> (1 + whole);
}

// The upper 64 bits of the product: schoolbook multiplication of 32-bit halves, because 32-bit targets have
// no 128-bit type.
uint64_t multiply_high(uint64_t a, uint64_t b) {
  constexpr uint64_t kLow = 0xFFFFFFFF;
  const uint64_t middle = (a >> 32) * (b & kLow) + ((a & kLow) * (b & kLow) >> 32);
  const uint64_t other = (a & kLow) * (b >> 32) + (middle & kLow);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

}  // namespace

int32_t Sampler::sample(Span<const float> logits, Span<const int32_t> recent) {
  logits_.assign(logits.begin(), logits.end());
  penalize(recent);
  // Finds the first greatest logit; any value replaces a NaN.
  int32_t best = 0;
  for (size_t i = 1; i < logits_.size(); ++i) {
    const float greatest = logits_[static_cast<size_t>(best)];
    if (logits_[i] > greatest || (std::isnan(greatest) && !std::isnan(logits_[i])))
      best = static_cast<int32_t>(i);
  }
  const float greatest = logits_[static_cast<size_t>(best)];
  if (!(options_.temperature > 0) || std::isnan(greatest)) return best;
  weigh(greatest);
  keep_likeliest();
  // Scales 64 random bits to [0, total) by multiplication (Lemire 2019) without rejection: the bias is below
  // total / 2^64.
  uint64_t rest = multiply_high(random(), total());
  for (const Candidate& candidate : candidates_) {
    if (rest < candidate.weight) return candidate.token;
    rest -= candidate.weight;
  }
  // Never reached: the likeliest token keeps its weight, so `rest` is less than the sum.
  return best;
}

// Applies the repetition penalty once per distinct recent token (Keskar et al. 2019).
void Sampler::penalize(Span<const int32_t> recent) {
  if (options_.repetition_penalty == 1) return;
  const size_t count = std::min(recent.size(), options_.repeat_last_n);
  std::vector<int32_t> tokens(recent.end() - count, recent.end());
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (const int32_t token : tokens) {
    // Ids of another vocabulary, and negative ones, have no logit.
    const auto index = static_cast<uint32_t>(token);
    if (index >= logits_.size()) continue;
    float& logit = logits_[index];
    logit = logit > 0 ? logit / options_.repetition_penalty : logit * options_.repetition_penalty;
  }
}

// Computes the nonzero weights: softmax(logits / temperature) without division by the sum.
void Sampler::weigh(float greatest) {
  constexpr double kBitsPerNat = 1.4426950408889634;
  const double scale = kBitsPerNat / static_cast<double>(options_.temperature);
  candidates_.clear();
  for (size_t i = 0; i < logits_.size(); ++i) {
    if (std::isnan(logits_[i])) continue;
    // The test for equality gives infinite logits weight: infinity - infinity would be NaN.
    const double below =
        logits_[i] == greatest ? 0 : static_cast<double>(greatest) - static_cast<double>(logits_[i]);
    const uint64_t weight = power_of_two(below * scale);
    if (weight > 0) candidates_.push_back({weight, static_cast<int32_t>(i)});
  }
}

// Filters by top_k, top_p and min_p, then restores token order, because the order that library algorithms
// leave is unspecified.
void Sampler::keep_likeliest() {
  const auto less_likely = [](const Candidate& a, const Candidate& b) { return likelier(b, a); };
  const auto most = static_cast<size_t>(std::max(options_.top_k, 0));
  if (most > 0 && most < candidates_.size()) {
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<ptrdiff_t>(most),
                     candidates_.end(), likelier);
    candidates_.resize(most);
  }
  // Nucleus (Holtzman et al. 2020): pops the likeliest from a heap until their sum reaches the share, at
  // least one. The sum is that of the tokens that top_k has kept. A heap costs O(n + k log n); sorting all
  // would cost O(n log n).
  if (options_.top_p < 1) {
    const auto enough = static_cast<double>(options_.top_p) * static_cast<double>(total());
    std::make_heap(candidates_.begin(), candidates_.end(), less_likely);
    auto rest = candidates_.end();
    uint64_t sum = 0;
    do {
      std::pop_heap(candidates_.begin(), rest, less_likely);
      sum += (--rest)->weight;
    } while (rest != candidates_.begin() && static_cast<double>(sum) < enough);
    candidates_.erase(candidates_.begin(), rest);
  }
  // min_p compares with the likeliest token, whose weight is power_of_two(0), not with the sum.
  if (options_.min_p > 0) {
    const double least =
        std::min(static_cast<double>(options_.min_p), 1.0) * static_cast<double>(power_of_two(0));
    const auto is_less = [&](const Candidate& one) { return static_cast<double>(one.weight) < least; };
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), is_less), candidates_.end());
  }
  const auto before = [](const Candidate& a, const Candidate& b) { return a.token < b.token; };
  if (!std::is_sorted(candidates_.begin(), candidates_.end(), before)) {
    std::sort(candidates_.begin(), candidates_.end(), before);
  }
}

uint64_t Sampler::total() const {
  uint64_t sum = 0;
  for (const Candidate& candidate : candidates_) sum += candidate.weight;
  return sum;
}

// SplitMix64 (Steele et al. 2014): the n-th number of the seed's sequence.
uint64_t Sampler::random() {
  uint64_t bits = options_.seed + ++draws_ * 0x9E3779B97F4A7C15u;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
  return bits ^ bits >> 31;
}

}  // namespace rushlight::llm
