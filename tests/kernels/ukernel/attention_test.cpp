// SPDX-License-Identifier: BSD-3-Clause
// The online softmax of attention against double precision. Blocks start with a shift and a sum of earlier
// blocks; the shift is the running maximum, which a variant may round differently, and all weights with it.
#include "kernels/ukernel/attention.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/attention.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr size_t kSizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 47, 64, 65, 130};

struct Functions {
  const char* name;
  decltype(&native::attention_weights) weights;
  decltype(&native::attention_scores) scores;
  decltype(&native::attention_scale) scale;
};
RL_VARIANTS(Functions, all, attention_weights, attention_scores, attention_scale)

class Attention : public ::testing::TestWithParam<Functions> {
 protected:
  void fill(Guarded<float>& values, float size) {
    std::uniform_real_distribution<float> uniform(-size, size);
    for (float& value : values) value = uniform(random_);
  }
  std::mt19937 random_{7};
};

struct State {
  float shift = -kInfinity;
  float sum = 0;
};

void expect_weights(const Functions& functions, Guarded<float>& scores, const Guarded<float>* mask,
                    State state) {
  std::vector<float> expected(scores.begin(), scores.end());
  State reference = state;
  const float* added = mask == nullptr ? nullptr : mask->data();
  const float factor = reference::attention_weights(expected.size(), expected.data(), 0.3f, added,
                                                    &reference.shift, &reference.sum);
  EXPECT_NEAR(functions.weights(scores.size(), scores.data(), 0.3f, added, &state.shift, &state.sum), factor,
              3e-6f * factor);
  // The maximum may be rounded differently, and each weight with it.
  EXPECT_EQ(std::isinf(state.shift), std::isinf(reference.shift));
  if (!std::isinf(state.shift)) {
    EXPECT_NEAR(state.shift, reference.shift, 1e-6f);
  }
  EXPECT_NEAR(state.sum, reference.sum, 3e-6f * reference.sum);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(scores[i], expected[i], 3e-6f * expected[i] + 1e-37f) << i;
  }
}

TEST_P(Attention, Weights_FirstAndLaterBlocks_AreThoseOfTheReference) {
  for (const size_t n : kSizes) {
    for (const bool is_masked : {false, true}) {
      for (const State& state : {State{}, State{0.5f, 3.0f}, State{-200.0f, 2.0f}, State{200.0f, 2.0f}}) {
        Guarded<float> scores(n);
        Guarded<float> mask(n);
        fill(scores, 30);
        fill(mask, 3);
        expect_weights(GetParam(), scores, is_masked ? &mask : nullptr, state);
      }
    }
  }
}

TEST_P(Attention, Weights_MaskedOut_AreZero) {
  for (const size_t n : {5, 16, 40}) {
    Guarded<float> scores(n);
    Guarded<float> mask(n);
    fill(scores, 3);
    for (size_t i = 0; i < n; ++i) mask[i] = i % 3 == 1 ? 0.0f : -kInfinity;
    State state;
    GetParam().weights(n, scores.data(), 1.0f, mask.data(), &state.shift, &state.sum);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(scores[i] != 0.0f, i % 3 == 1);

    for (float& each : mask) each = -kInfinity;
    fill(scores, 3);
    State nothing;
    EXPECT_EQ(GetParam().weights(n, scores.data(), 1.0f, mask.data(), &nothing.shift, &nothing.sum), 1.0f);
    EXPECT_EQ(nothing.sum, 0.0f);
    EXPECT_EQ(nothing.shift, -kInfinity);
    for (const float weight : scores) EXPECT_EQ(weight, 0.0f);
  }
}

TEST_P(Attention, Weights_NanOrInfinity_MakeTheSumNan) {
  for (const float odd : {kNan, kInfinity}) {
    for (size_t n = 1; n < 40; n += 6) {
      Guarded<float> scores(n);
      fill(scores, 3);
      scores[n / 2] = odd;
      State state;
      GetParam().weights(n, scores.data(), 1.0f, nullptr, &state.shift, &state.sum);
      EXPECT_TRUE(std::isnan(state.sum));
    }
  }
}

TEST_P(Attention, Scores_AnyDepth_AreThoseOfTheReference) {
  for (const size_t n : {1, 3, 4, 5, 9}) {
    for (const size_t depth : kSizes) {
      const size_t stride = depth + 2;
      Guarded<float> query(depth);
      Guarded<float> keys((n - 1) * stride + depth);
      Guarded<float> scores(n);
      fill(query, 1);
      fill(keys, 1);
      std::vector<float> expected(n);
      const auto step = static_cast<ptrdiff_t>(stride);
      reference::attention_scores(n, depth, query.data(), keys.data(), step, expected.data());
      GetParam().scores(n, depth, query.data(), keys.data(), step, scores.data());
      for (size_t i = 0; i < n; ++i) EXPECT_NEAR(scores[i], expected[i], 1e-5f);
    }
  }
}

TEST_P(Attention, Scale_AnySize_MultipliesEach) {
  for (const size_t n : kSizes) {
    Guarded<float> row(n);
    fill(row, 2);
    const std::vector<float> before(row.begin(), row.end());
    GetParam().scale(n, row.data(), 0.7f);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(row[i], before[i] * 0.7f);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Attention, ::testing::ValuesIn(all()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rushlight::ukernel
