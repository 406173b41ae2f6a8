// SPDX-License-Identifier: BSD-3-Clause
// Logits are logarithms of 1/2, 1/4 and 1/8, so expected frequencies are known; tolerances are at least four
// standard deviations, and the seed is fixed. The sequence of tokens for a seed is part of the contract: if
// it changes, texts are no longer reproducible.
#include "runtime/llm/sampler.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rushlight::llm {
namespace {

using ::testing::ElementsAre;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int32_t sample(const SamplerOptions& options, std::vector<float> logits, std::vector<int32_t> recent = {}) {
  Sampler sampler(options);
  return sampler.sample({logits.data(), logits.size()}, {recent.data(), recent.size()});
}

std::vector<int> counts(const SamplerOptions& options, const std::vector<float>& logits, int draws) {
  Sampler sampler(options);
  std::vector<int> counted(logits.size(), 0);
  for (int i = 0; i < draws; ++i) ++counted[size_t(sampler.sample({logits.data(), logits.size()}, {}))];
  return counted;
}

SamplerOptions warm() {
  SamplerOptions options;
  options.temperature = 1;
  options.seed = 42;
  return options;
}

// log(1/2), log(1/4), log(1/8), log(1/8)
const std::vector<float> kHalves = {-0.6931472f, -1.3862944f, -2.0794415f, -2.0794415f};

TEST(Sampler_Greedy, EqualLogits_TakesTheFirst) {
  EXPECT_EQ(sample({}, {0, 2, 2, 1}), 1);
  EXPECT_EQ(sample({}, {kNaN, -kInfinity, kNaN}), 1);
  EXPECT_EQ(sample({}, {kNaN, kNaN}), 0);
  EXPECT_EQ(sample({}, {-5}), 0);
}

TEST(Sampler_Sample, SameSeed_GivesTheSameTokensEverywhere) {
  Sampler sampler(warm());
  std::vector<int32_t> tokens;
  for (int i = 0; i < 16; ++i) tokens.push_back(sampler.sample({kHalves.data(), 4}, {}));
  EXPECT_THAT(tokens, ElementsAre(1, 0, 0, 0, 0, 2, 0, 2, 0, 1, 0, 0, 1, 1, 1, 0));
}

TEST(Sampler_Sample, ManyDraws_HaveTheProbabilities) {
  const auto counted = counts(warm(), kHalves, 80000);
  EXPECT_NEAR(counted[0], 40000, 600);
  EXPECT_NEAR(counted[1], 20000, 500);
  EXPECT_NEAR(counted[2], 10000, 400);
  EXPECT_NEAR(counted[3], 10000, 400);
}

TEST(Sampler_Sample, Temperature_DividesTheLogits) {
  SamplerOptions options = warm();
  options.temperature = 0.5f;  // weights 16 : 4 : 1 : 1
  const auto counted = counts(options, kHalves, 22000);
  EXPECT_NEAR(counted[0], 16000, 300);
  EXPECT_NEAR(counted[3], 1000, 150);
  options.temperature = 1e-30f;
  EXPECT_THAT(counts(options, kHalves, 100), ElementsAre(100, 0, 0, 0));
}

TEST(Sampler_Sample, Filters_LeaveTheLikeliest) {
  SamplerOptions options = warm();
  options.top_k = 2;
  auto counted = counts(options, kHalves, 9000);
  EXPECT_NEAR(counted[0], 6000, 200);
  EXPECT_EQ(counted[2] + counted[3], 0);
  options = warm();
  options.top_p = 0.8f;
  counted = counts(options, kHalves, 9000);
  EXPECT_GT(counted[2], 0);
  EXPECT_EQ(counted[3], 0);  // the third of equal ones reaches 0.8
  options.top_p = 0;
  EXPECT_THAT(counts(options, kHalves, 10), ElementsAre(10, 0, 0, 0));
  options = warm();
  options.min_p = 0.4f;
  counted = counts(options, kHalves, 9000);
  EXPECT_GT(counted[1], 0);
  EXPECT_EQ(counted[2] + counted[3], 0);
  options.min_p = 1;
  EXPECT_THAT(counts(options, kHalves, 10), ElementsAre(10, 0, 0, 0));
}

TEST(Sampler_Sample, InfiniteAndMissingLogits_AreNoNumbersToChoose) {
  EXPECT_EQ(sample(warm(), {kNaN, -kInfinity, 3, kNaN}), 2);
  EXPECT_EQ(sample(warm(), {5, kInfinity, 3}), 1);
  EXPECT_EQ(sample(warm(), {-kInfinity, -kInfinity}) & ~1, 0);
  EXPECT_EQ(sample(warm(), {kNaN}), 0);
}

TEST(Sampler_Penalty, RecentTokens_LoseOnce) {
  SamplerOptions options;
  options.repetition_penalty = 2;
  options.repeat_last_n = 2;
  EXPECT_EQ(sample(options, {3, 2}, {0}), 1);
  EXPECT_EQ(sample(options, {5, 2}, {0, 0}), 0);
  EXPECT_EQ(sample(options, {3, 2}, {0, 9, -1}), 0);
  EXPECT_EQ(sample(options, {-1, -1.5f}, {0}), 1);
}

}  // namespace
}  // namespace rushlight::llm
