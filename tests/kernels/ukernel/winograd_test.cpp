// SPDX-License-Identifier: BSD-3-Clause
// The transforms of Winograd's F(2x2, 3x3) against their matrices in double. Missing input rows are null and
// count as zeros.
#include "kernels/ukernel/winograd.h"

#include <cmath>
#include <memory>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/winograd.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using Buffer = Guarded<float>;

struct Winograd {
  const char* name;
  void (*input)(const WinogradInput&);
  bool (*output)(const WinogradOutput&);
  void (*weights)(const WinogradWeights&);
};
RL_VARIANTS(Winograd, variants, winograd_input, winograd_output, winograd_weights)
std::ostream& operator<<(std::ostream& out, const Winograd& winograd) { return out << winograd.name; }

class WinogradVariants : public ::testing::TestWithParam<Winograd> {};
INSTANTIATE_TEST_SUITE_P(Each, WinogradVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

constexpr size_t kPixels = kWinogradOut * kWinogradOut;
constexpr size_t kLanes[] = {1, 3, 4, 7, 8, 9, 16, 17, 33};

std::minstd_rand random_bits;
void fill(Buffer& floats) {
  for (float& each : floats) each = static_cast<float>(random_bits() % 2001) / 1000.0F - 1.0F;
}
void expect_near(const Buffer& actual, const Buffer& expected, double bound) {
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], bound) << i;
}

TEST_P(WinogradVariants, Input_AnyLanes_AsReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t lanes : kLanes) {
      std::vector<std::unique_ptr<Buffer>> buffers;
      const float* in[kWinogradParts];
      for (size_t i = 0; i < kWinogradParts; ++i) {
        buffers.push_back(std::make_unique<Buffer>(lanes, edge));
        fill(*buffers.back());
        in[i] = i % 5 == 1 ? nullptr : buffers.back()->data();
      }
      Buffer out((kWinogradParts - 1) * (lanes + 2) + lanes, edge);
      Buffer expected(out.size());
      WinogradInput tile;
      tile.lanes = lanes;
      tile.in = in;
      tile.out_stride = static_cast<ptrdiff_t>(lanes + 2);
      tile.out = expected.data();
      reference::winograd_input(tile);
      tile.out = out.data();
      GetParam().input(tile);
      expect_near(out, expected, 1e-6);
    }
  }
}

struct OutputCase {
  OutputCase(size_t lanes, Edge edge)
      : in((kWinogradParts - 1) * (lanes + 2) + lanes, edge), bias(lanes, edge) {
    fill(in);
    fill(bias);
    for (size_t k = 0; k < kPixels; ++k) {
      for (auto* buffers : {&outs, &expected, &residuals}) {
        buffers->push_back(std::make_unique<Buffer>(lanes, edge));
        fill(*buffers->back());
      }
      out[k] = k == 2 ? nullptr : outs.back()->data();
      wanted[k] = k == 2 ? nullptr : expected.back()->data();
      residual[k] = residuals.back()->data();
    }
    tile.lanes = lanes;
    tile.in = in.data();
    tile.in_stride = static_cast<ptrdiff_t>(lanes + 2);
  }
  void compare(const Winograd& variant) {
    tile.out = wanted;
    reference::winograd_output(tile);
    tile.out = out;
    EXPECT_TRUE(variant.output(tile));
    for (size_t k = 0; k < kPixels; ++k) {
      if (out[k] != nullptr) expect_near(*outs[k], *expected[k], 5e-6);
    }
  }
  Buffer in, bias;
  std::vector<std::unique_ptr<Buffer>> outs, expected, residuals;
  float* out[kPixels];
  float* wanted[kPixels];
  const float* residual[kPixels];
  WinogradOutput tile;
};

TEST_P(WinogradVariants, Output_AnyLanes_AsReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t lanes : kLanes) OutputCase(lanes, edge).compare(GetParam());
  }
}

TEST_P(WinogradVariants, Output_BiasResidualAndClamp_Applied) {
  OutputCase made(19, Edge::kBack);
  made.tile.bias = made.bias.data();
  made.tile.residual = made.residual;
  made.tile.low = -2;
  made.tile.high = 3;
  made.compare(GetParam());
  EXPECT_LE((*made.outs[0])[0], 3);
}

// Also in an output that is not stored, in a partial vector, and where the clamp hides it.
TEST_P(WinogradVariants, Output_InfiniteOrNan_Reported) {
  for (const size_t lanes : {size_t{1}, size_t{16}, size_t{19}}) {
    for (const float value : {__builtin_inff(), -__builtin_inff(), __builtin_nanf("")}) {
      for (size_t part = 0; part < kWinogradParts; ++part) {
        OutputCase made(lanes, Edge::kBack);
        made.tile.out = made.out;
        made.tile.low = -1;
        made.tile.high = 1;
        made.in[part * (lanes + 2) + lanes - 1] = value;
        EXPECT_FALSE(GetParam().output(made.tile)) << part;
      }
    }
  }
}

// An infinite bias or residual does not count: it is added after the check.
TEST_P(WinogradVariants, Output_InfiniteBiasAndResidual_NotReported) {
  OutputCase made(19, Edge::kBack);
  made.bias[3] = __builtin_inff();
  (*made.residuals[1])[4] = __builtin_nanf("");
  made.tile.bias = made.bias.data();
  made.tile.residual = made.residual;
  made.tile.out = made.out;
  EXPECT_TRUE(GetParam().output(made.tile));
  EXPECT_TRUE(std::isinf((*made.outs[0])[3]));
  EXPECT_TRUE(std::isnan((*made.outs[1])[4]));
  EXPECT_TRUE(std::isfinite((*made.outs[0])[4]));
}

// Kernels [lane][3][3] and [3][3][lane]; memory between the results of two parts stays as it is.
TEST_P(WinogradVariants, Weights_AnyLanesAndStrides_AsReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t lanes : kLanes) {
      for (const bool lanes_first : {true, false}) {
        Buffer in(9 * lanes, edge);
        fill(in);
        Buffer out((kWinogradParts - 1) * (lanes + 2) + lanes, edge);
        Buffer expected(out.size());
        for (float& each : out) each = 7;
        for (float& each : expected) each = 7;
        WinogradWeights weights;
        weights.lanes = lanes;
        weights.in = in.data();
        weights.lane_stride = lanes_first ? 9 : 1;
        weights.row_stride = lanes_first ? 3 : 3 * static_cast<ptrdiff_t>(lanes);
        weights.column_stride = lanes_first ? 1 : static_cast<ptrdiff_t>(lanes);
        weights.out = out.data();
        weights.out_stride = static_cast<ptrdiff_t>(lanes) + 2;
        GetParam().weights(weights);
        weights.out = expected.data();
        reference::winograd_weights(weights);
        expect_near(out, expected, 1e-7);
      }
    }
  }
}

// A whole convolution from the three transforms.
TEST_P(WinogradVariants, Transforms_Together_AreAConvolution) {
  Buffer image(kWinogradParts), weights(9), transformed(kWinogradParts), products(kWinogradParts),
      pixels(kPixels);
  fill(image);
  fill(weights);
  const float* in[kWinogradParts];
  for (size_t i = 0; i < kWinogradParts; ++i) in[i] = &image[i];
  WinogradInput input;
  input.lanes = 1;
  input.in = in;
  input.out = transformed.data();
  input.out_stride = 1;
  GetParam().input(input);
  WinogradWeights kernel;
  kernel.lanes = 1;
  kernel.in = weights.data();
  kernel.row_stride = 3;
  kernel.column_stride = 1;
  kernel.out = products.data();
  kernel.out_stride = 1;
  GetParam().weights(kernel);
  for (size_t i = 0; i < kWinogradParts; ++i) products[i] *= transformed[i];
  float* out[kPixels];
  for (size_t i = 0; i < kPixels; ++i) out[i] = &pixels[i];
  WinogradOutput output;
  output.lanes = 1;
  output.in = products.data();
  output.in_stride = 1;
  output.out = out;
  EXPECT_TRUE(GetParam().output(output));
  for (size_t y = 0; y < kWinogradOut; ++y) {
    for (size_t x = 0; x < kWinogradOut; ++x) {
      double sum = 0;
      for (size_t k = 0; k < 9; ++k) sum += double{image[(y + k / 3) * kWinogradIn + x + k % 3]} * weights[k];
      EXPECT_NEAR(pixels[y * kWinogradOut + x], sum, 2e-6);
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
