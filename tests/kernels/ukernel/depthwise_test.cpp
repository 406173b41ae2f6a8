// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions against sums in double, with an allowance of 1e-7 per tap for operands in [-1, 1].
#include "kernels/ukernel/depthwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/depthwise.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using Buffer = Guarded<float>;

struct Depthwise {
  const char* name;
  void (*pixels)(const DepthwisePixels&);
  void (*plane)(const DepthwisePlane&);
};
RL_VARIANTS(Depthwise, variants, depthwise_pixels, depthwise_plane)
std::ostream& operator<<(std::ostream& out, const Depthwise& depthwise) { return out << depthwise.name; }

class DepthwiseVariants : public ::testing::TestWithParam<Depthwise> {};
INSTANTIATE_TEST_SUITE_P(Each, DepthwiseVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

std::minstd_rand random_bits;
void fill(Buffer& floats) {
  for (float& each : floats) each = static_cast<float>(random_bits() % 2001) / 1000.0F - 1.0F;
}

void expect_near(const Buffer& actual, const Buffer& expected, size_t taps) {
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(actual[i])) << i;
    } else {
      ASSERT_NEAR(actual[i], expected[i], 1e-7 * static_cast<double>(taps + 4)) << i;
    }
  }
}

// Buffers that end, or begin, at a protected page.
struct PixelsCase {
  PixelsCase(size_t pixels, size_t channels, size_t rows, size_t taps, Edge edge, size_t group = 1)
      : bias(channels, edge),
        out(extent(pixels, channels + 3, channels), edge),
        expected(out.size()),
        residual(extent(pixels, channels + 1, channels), edge) {
    strip.pixels = pixels;
    strip.channels = channels;
    strip.group = group;
    strip.rows = rows;
    strip.taps = taps;
    strip.tap_stride = static_cast<ptrdiff_t>(channels + 2);
    strip.in_stride = 2 * strip.tap_stride;
    const size_t blocks = (channels + kDepthwiseBlock - 1) / kDepthwiseBlock;
    strip.weight_block = static_cast<ptrdiff_t>((taps * group + 1) * kDepthwiseBlock);
    const size_t seen = pixels * taps == 0 ? 0 : (2 * (pixels - 1) + taps - 1) * (channels + 2) + channels;
    for (size_t r = 0; r < rows; ++r) {
      buffers.push_back(std::make_unique<Buffer>(seen, edge));
      fill(*buffers.back());
      in.push_back(buffers.back()->data());
      const auto block = static_cast<size_t>(strip.weight_block);
      const size_t read = taps * group * kDepthwiseBlock;
      buffers.push_back(std::make_unique<Buffer>(read == 0 ? 0 : extent(blocks, block, read), edge));
      fill(*buffers.back());
      weights.push_back(buffers.back()->data());
    }
    fill(bias);
    fill(out);
    fill(residual);
    for (size_t i = 0; i < out.size(); ++i) expected[i] = out[i];
    strip.in = in.data();
    strip.weights = weights.data();
    strip.bias = bias.data();
    strip.out = out.data();
    strip.out_stride = static_cast<ptrdiff_t>(channels + 3);
  }
  static size_t extent(size_t count, size_t stride, size_t last) {
    return count == 0 ? 0 : (count - 1) * stride + last;
  }

  void compare(const Depthwise& variant) {
    DepthwisePixels wanted = strip;
    wanted.out = expected.data();
    reference::depthwise_pixels(wanted);
    variant.pixels(strip);
    expect_near(out, expected, strip.rows * strip.taps * strip.group);
  }

  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<const float*> in, weights;
  Buffer bias, out, expected, residual;
  DepthwisePixels strip;
};

TEST_P(DepthwiseVariants, Pixels_AnySizes_AsReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t channels : {1, 3, 4, 7, 8, 15, 16, 17, 33}) {
      for (const size_t pixels : {1, 2, 4, 5, 9}) {
        for (const size_t taps : {0, 1, 2, 3, 5}) {
          PixelsCase(pixels, channels, taps == 0 ? 0 : taps, taps, edge).compare(GetParam());
          PixelsCase(pixels, channels, 2, taps, edge).compare(GetParam());
        }
      }
    }
  }
}

TEST_P(DepthwiseVariants, Pixels_OneTapApart_AsReference) {
  for (const size_t channels : {5, 16, 37}) {
    for (const size_t pixels : {1, 2, 3, 6, 8, 15, 19}) {
      for (const size_t taps : {3, 5, 7}) {
        for (const size_t rows : {1, 4, 7}) {
          PixelsCase made(pixels, channels, rows, taps, Edge::kBack);
          made.strip.in_stride = made.strip.tap_stride;
          made.strip.accumulate = rows == 4;
          made.compare(GetParam());
        }
      }
    }
  }
}

TEST_P(DepthwiseVariants, Pixels_OfGroups_AsReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t group : {2, 4, 8, 16}) {
      for (const size_t groups : {1, 2, 3, 5, 8, 9}) {
        for (const size_t pixels : {1, 4, 6, 8, 9, 15}) {
          PixelsCase(pixels, groups * group, 3, 2, edge, group).compare(GetParam());
        }
      }
      PixelsCase(3, 3 * group, 0, 0, edge, group).compare(GetParam());
    }
  }
  PixelsCase made(9, 24, 3, 3, Edge::kBack, 8);
  made.strip.accumulate = true;
  made.strip.residual = made.residual.data();
  made.strip.residual_stride = 25;
  made.strip.low = -0.25F;
  made.strip.high = 0.5F;
  made.compare(GetParam());
}

TEST_P(DepthwiseVariants, Pixels_NotANumberInAGroup_StaysInIt) {
  for (const size_t group : {2, 4, 8}) {
    PixelsCase made(5, 4 * group, 3, 3, Edge::kBack, group);
    (*made.buffers[0])[group] = std::numeric_limits<float>::quiet_NaN();
    made.compare(GetParam());
    EXPECT_FALSE(std::isnan(made.out[0]));
    EXPECT_TRUE(std::isnan(made.out[group]));
    EXPECT_FALSE(std::isnan(made.out[2 * group]));
  }
}

TEST_P(DepthwiseVariants, Pixels_ResidualAndClamp_Applied) {
  for (const size_t taps : {2, 3}) {
    PixelsCase made(6, 21, taps, taps, Edge::kBack);
    made.strip.residual = made.residual.data();
    made.strip.residual_stride = 22;
    made.strip.low = -0.25F;
    made.strip.high = 0.5F;
    made.compare(GetParam());
    EXPECT_LE(*std::max_element(made.out.begin(), made.out.begin() + 21), 0.5F);
  }
}

TEST_P(DepthwiseVariants, Pixels_Accumulating_SumGoesOn) {
  for (const size_t taps : {2, 3, 5}) {
    PixelsCase made(6, 21, taps, taps, Edge::kBack);
    made.strip.accumulate = true;
    made.compare(GetParam());
  }
  PixelsCase made(3, 5, 3, 3, Edge::kBack);
  made.strip.bias = nullptr;
  made.compare(GetParam());
}

TEST_P(DepthwiseVariants, Pixels_NotANumber_StaysThroughClamp) {
  PixelsCase made(5, 9, 3, 3, Edge::kBack);
  (*made.buffers[0])[0] = std::numeric_limits<float>::quiet_NaN();
  made.strip.low = 0;
  made.strip.high = 6;
  made.compare(GetParam());
  EXPECT_TRUE(std::isnan(made.out[0]));
  EXPECT_FALSE(std::isnan(made.out[1]));
}

struct PlaneCase {
  PlaneCase(size_t rows, size_t width, size_t taps, Edge edge)
      : out(PixelsCase::extent(rows, width + 5, width), edge),
        expected(out.size()),
        residual(PixelsCase::extent(rows, width + 1, width), edge),
        weights(taps, edge) {
    plane.rows = rows;
    plane.width = width;
    plane.taps = taps;
    plane.in_stride = static_cast<ptrdiff_t>(width + 2);
    for (size_t t = 0; t < taps; ++t) {
      buffers.push_back(
          std::make_unique<Buffer>(PixelsCase::extent(rows, width + 2, width) + kDepthwiseSlack, edge));
      fill(*buffers.back());
      in.push_back(buffers.back()->data());
    }
    fill(out);
    fill(residual);
    fill(weights);
    for (size_t i = 0; i < out.size(); ++i) expected[i] = out[i];
    plane.in = in.data();
    plane.weights = weights.data();
    plane.bias = 0.375F;
    plane.out = out.data();
    plane.out_stride = static_cast<ptrdiff_t>(width + 5);
  }

  void compare(const Depthwise& variant) {
    DepthwisePlane wanted = plane;
    wanted.out = expected.data();
    reference::depthwise_plane(wanted);
    variant.plane(plane);
    expect_near(out, expected, plane.taps);
  }

  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<const float*> in;
  Buffer out, expected, residual, weights;
  DepthwisePlane plane;
};

TEST_P(DepthwiseVariants, Plane_AnySizes_AsReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t width : {1, 3, 4, 7, 8, 15, 16, 17, 33}) {
      for (const size_t rows : {1, 2, 5}) {
        for (const size_t taps : {0, 1, 8, 9, 10, 25, 26})
          PlaneCase(rows, width, taps, edge).compare(GetParam());
      }
    }
  }
}

TEST_P(DepthwiseVariants, Plane_ResidualClampAndAccumulating_Applied) {
  for (const size_t taps : {4, 9, 25}) {
    for (const bool accumulate : {false, true}) {
      PlaneCase made(3, 19, taps, Edge::kBack);
      made.plane.accumulate = accumulate;
      made.plane.residual = made.residual.data();
      made.plane.residual_stride = 20;
      made.plane.low = -0.25F;
      made.plane.high = 0.5F;
      made.compare(GetParam());
    }
  }
}

TEST_P(DepthwiseVariants, Plane_NotANumber_StaysThroughClamp) {
  PlaneCase made(2, 9, 9, Edge::kBack);
  (*made.buffers[3])[4] = std::numeric_limits<float>::quiet_NaN();
  made.plane.low = 0;
  made.plane.high = 6;
  made.compare(GetParam());
  EXPECT_TRUE(std::isnan(made.out[4]));
  EXPECT_FALSE(std::isnan(made.out[3]));
}

}  // namespace
}  // namespace rushlight::ukernel
