// SPDX-License-Identifier: BSD-3-Clause
// Scales and shifts against double precision; elements are up to 4 and results up to about 20.
#include "kernels/ukernel/normalize.h"

#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/normalize.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

std::minstd_rand random_bits;
template <class Floats>
void fill(Floats& floats) {
  for (float& each : floats) each = static_cast<float>(random_bits() % 2001) / 250.0f - 4.0f;
}

struct Normalize {
  const char* name;
  void (*normalize)(size_t, const float*, float, float, const float*, const float*, float*);
  void (*scale)(size_t, const float*, float, float, float*);
  void (*rows)(size_t, ptrdiff_t, ptrdiff_t, size_t, const float*, const float*, const float*, float*);
};
RL_VARIANTS(Normalize, variants, normalize_span, scale_span, scale_rows)
std::ostream& operator<<(std::ostream& out, const Normalize& normalize) { return out << normalize.name; }

class NormalizeVariant : public ::testing::TestWithParam<Normalize> {};
INSTANTIATE_TEST_SUITE_P(Variants, NormalizeVariant, ::testing::ValuesIn(variants()));

constexpr double kAllowed = 4e-6;  // values are up to 20

TEST_P(NormalizeVariant, Runs_AnySize_AreTheReferences) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130}) {
      Guarded<float> x(n, edge);
      Guarded<float> weight(n, edge);
      Guarded<float> bias(n, edge);
      Guarded<float> y(n, edge);
      fill(x);
      fill(weight);
      fill(bias);
      for (const bool has_weight : {false, true}) {
        for (const bool has_bias : {false, true}) {
          GetParam().normalize(n, x.data(), 0.25f, 0.75f, has_weight ? weight.data() : nullptr,
                               has_bias ? bias.data() : nullptr, y.data());
          for (size_t i = 0; i < n; ++i) {
            const double expected = reference::normalized(x[i], 0.25f, 0.75f, has_weight ? weight[i] : 1.0f,
                                                          has_bias ? bias[i] : 0.0f);
            EXPECT_NEAR(y[i], expected, kAllowed) << n;
          }
        }
      }
      GetParam().scale(n, x.data(), 1.5f, -0.5f, y.data());
      for (size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], reference::scaled(x[i], 1.5f, -0.5f), kAllowed) << n;
    }
  }
}

TEST_P(NormalizeVariant, Rows_AnyShape_AreTheReference) {
  for (const size_t rows : {0, 1, 4}) {
    for (const size_t n : {1, 3, 4, 7, 16, 17, 33, 64, 77}) {
      const auto x_stride = static_cast<ptrdiff_t>(n + 3);
      const auto y_stride = static_cast<ptrdiff_t>(n + 1);
      Guarded<float> x(rows == 0 ? 0 : (rows - 1) * (n + 3) + n);
      Guarded<float> y(rows == 0 ? 0 : (rows - 1) * (n + 1) + n);
      Guarded<float> scale(n);
      Guarded<float> shift(n);
      fill(x);
      fill(scale);
      fill(shift);
      GetParam().rows(rows, x_stride, y_stride, n, x.data(), scale.data(), shift.data(), y.data());
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < n; ++j) {
          const double expected = reference::scaled(x[i * (n + 3) + j], scale[j], shift[j]);
          EXPECT_NEAR(y[i * (n + 1) + j], expected, kAllowed) << rows << " " << n;
        }
        if (i + 1 < rows) {
          EXPECT_EQ(y[i * (n + 1) + n], 0.0f) << "between rows";
        }
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
