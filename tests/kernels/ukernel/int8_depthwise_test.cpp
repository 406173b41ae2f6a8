// SPDX-License-Identifier: BSD-3-Clause
// int8 sums are exact in any order, so all variants must equal the reference in every bit, whatever their
// vector width. `least_weight` is -127 to test weights without -128 as well.
#include "kernels/ukernel/int8_depthwise.h"

#include <cstdint>
#include <cstring>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/int8_depthwise.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/int8_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using rushlight::testing::kRequantizations;
using rushlight::testing::RequantizationCase;

struct Functions {
  const char* name;
  void (*depthwise)(const Int8Depthwise&);
};
RL_INTEGER_VARIANTS(Functions, variants, depthwise_int8)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class Int8DepthwiseVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, Int8DepthwiseVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

void compare(const Functions& functions, const RequantizationCase& rounding, size_t pixels, size_t channels,
             size_t taps, size_t gap, Edge edge, bool has_bias = true, int8_t least_weight = -128) {
  const size_t stride = channels + gap;
  // Tap t of pixel p is image row p + t. Rows are `stride` apart, and the last one ends at the edge.
  Guarded<int8_t> image(taps == 0 ? 0 : (pixels + taps - 1) * stride - gap, edge);
  Guarded<int8_t> weights(taps == 0 ? 0 : taps * stride - gap, edge);
  Guarded<int8_t> out(pixels * stride - gap, edge);
  fill_int8(image);
  fill_int8(weights);
  for (int8_t& weight : weights) weight = weight < least_weight ? least_weight : weight;
  fill_int8(out);
  std::vector<int8_t> expected(out.begin(), out.end());
  Guarded<const int8_t*> in(pixels * taps, edge);
  for (size_t p = 0; p < pixels; ++p) {
    for (size_t t = 0; t < taps; ++t) in[p * taps + t] = image.data() + (p + t) * stride;
  }
  const rushlight::testing::Requantizations requantizations(rounding, channels, edge);
  Int8Depthwise strip;
  strip.pixels = pixels;
  strip.channels = channels;
  strip.taps = taps;
  strip.in = in.data();
  strip.weights = weights.data();
  strip.weight_stride = static_cast<ptrdiff_t>(stride);
  strip.bias = has_bias ? requantizations.bias() : nullptr;
  strip.to = requantizations.to();
  strip.out = expected.data();
  strip.out_stride = static_cast<ptrdiff_t>(stride);
  reference::depthwise_int8(strip);
  strip.out = out.data();
  functions.depthwise(strip);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], expected[i]) << name_of(rounding) << ": element " << i << " of " << pixels << " x "
                                   << channels << ", " << taps << " taps, gap " << gap;
  }
}

TEST_P(Int8DepthwiseVariants, AnySizes_SameBitsAsReference) {
  for (const size_t taps : {0, 1, 2, 9, 10, 25}) {
    for (const size_t channels : {1, 3, 4, 7, 8, 15, 16, 17, 33, 64, 70}) {
      for (const size_t pixels : {1, 2, 5, 13}) {
        const Edge edge = (taps + channels + pixels) % 2 == 0 ? Edge::kFront : Edge::kBack;
        const RequantizationCase rounding = kRequantizations[(taps + channels) % std::size(kRequantizations)];
        compare(GetParam(), rounding, pixels, channels, taps, (pixels + channels) % 3, edge);
      }
    }
  }
}

// More channels and taps than variants prepare at once.
TEST_P(Int8DepthwiseVariants, ManyChannelsAndTaps_SameBitsAsReference) {
  compare(GetParam(), kRequantizations[0], 3, 2103, 9, 1, Edge::kFront);
  compare(GetParam(), kRequantizations[6], 2, 300, 150, 0, Edge::kBack);
  compare(GetParam(), kRequantizations[11], 2, 21, 801, 0, Edge::kBack);
}

TEST_P(Int8DepthwiseVariants, AnyRounding_SameBitsAsReference) {
  for (const RequantizationCase& rounding : kRequantizations) {
    for (const size_t channels : {3, 16, 37}) {
      compare(GetParam(), rounding, 4, channels, 9, 0, Edge::kBack);
      compare(GetParam(), rounding, 3, channels, 12, 1, Edge::kFront, false);
    }
  }
}

TEST_P(Int8DepthwiseVariants, ManyTapsAndPixels_SameBitsAsReference) {
  for (const size_t taps : {31, 32, 33, 49, 63, 64, 65, 66}) {
    compare(GetParam(), kRequantizations[taps % std::size(kRequantizations)], 3, 23, taps, 1, Edge::kBack);
  }
  for (const size_t pixels : {7, 8, 9, 15, 16, 17, 33}) {
    compare(GetParam(), kRequantizations[0], pixels, 39, 9, 0, Edge::kFront);
  }
}

// No weight is -128: two products fit in 16 bits, on which variants may rely.
TEST_P(Int8DepthwiseVariants, SymmetricWeights_SameBitsAsReference) {
  for (const RequantizationCase& rounding : kRequantizations) {
    for (const size_t taps : {1, 2, 9, 16}) {
      for (const size_t channels : {5, 8, 41}) {
        compare(GetParam(), rounding, 9, channels, taps, 1, Edge::kBack, true, -127);
      }
    }
  }
}

TEST_P(Int8DepthwiseVariants, ManyChannels_SameBitsAsReference) {
  for (const size_t channels : {100, 128, 200, 300}) {
    compare(GetParam(), kRequantizations[0], 3, channels, 9, channels % 3, Edge::kBack);
  }
}

TEST_P(Int8DepthwiseVariants, WeightsOfMoreThanTheLeast_SameBitsAsReference) {
  for (const size_t taps : {1, 2, 3, 4, 5, 9, 12, 25, 63, 64, 65, 66}) {
    for (const size_t channels : {1, 2, 3, 5, 6, 8, 16, 31, 70}) {
      const RequantizationCase rounding = kRequantizations[(taps + channels) % std::size(kRequantizations)];
      compare(GetParam(), rounding, 3, channels, taps, taps % 2, Edge::kBack, true, -127);
      compare(GetParam(), rounding, 2, channels, taps, taps % 2, Edge::kFront, false);
    }
  }
}

// Pixels of a row that share the pointers of the first pixel and are `step` input pixels apart.
void compare_sharing(const Functions& functions, const RequantizationCase& rounding, size_t pixels,
                     size_t channels, size_t taps, size_t step, size_t gap, Edge edge, int8_t least_weight) {
  const size_t image_size = taps == 0 ? 0 : ((pixels - 1) * step + taps) * channels;
  Guarded<int8_t> image(image_size, edge), weights(taps * channels, edge);
  Guarded<int8_t> out(pixels * (channels + gap) - gap, edge);
  fill_int8(image);
  fill_int8(weights);
  for (int8_t& weight : weights) weight = weight < least_weight ? least_weight : weight;
  fill_int8(out);
  std::vector<int8_t> expected(out.begin(), out.end());
  Guarded<const int8_t*> in(taps, edge);
  for (size_t t = 0; t < taps; ++t) in[t] = image.data() + t * channels;
  const rushlight::testing::Requantizations requantizations(rounding, channels, edge);
  Int8Depthwise strip;
  strip.pixels = pixels;
  strip.channels = channels;
  strip.taps = taps;
  strip.in = in.data();
  strip.pixel_stride = static_cast<ptrdiff_t>(step * channels);
  strip.weights = weights.data();
  strip.weight_stride = static_cast<ptrdiff_t>(channels);
  strip.bias = pixels % 3 == 0 ? nullptr : requantizations.bias();
  strip.to = requantizations.to();
  strip.out = expected.data();
  strip.out_stride = static_cast<ptrdiff_t>(channels + gap);
  reference::depthwise_int8(strip);
  strip.out = out.data();
  functions.depthwise(strip);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], expected[i]) << name_of(rounding) << ": element " << i << " of " << pixels << " x "
                                   << channels << ", " << taps << " taps, step " << step;
  }
}

TEST_P(Int8DepthwiseVariants, PixelsThatSharePointers_SameBitsAsReference) {
  if (!kInt8DepthwiseStrides) return;
  for (const size_t taps : {0, 1, 9, 10, 33, 40}) {
    for (const size_t channels : {1, 2, 3, 4, 7, 8, 11, 16, 17, 24, 40, 70}) {
      for (const size_t pixels : {1, 3, 8, 15, 16, 17, 47}) {
        const Edge edge = (taps + channels + pixels) % 2 == 0 ? Edge::kFront : Edge::kBack;
        const RequantizationCase& rounding = kRequantizations[(taps + pixels) % std::size(kRequantizations)];
        compare_sharing(GetParam(), rounding, pixels, channels, taps, 1, 0, edge, -127);
        compare_sharing(GetParam(), kRequantizations[0], pixels, channels, taps, 1, 0, edge, -128);
        compare_sharing(GetParam(), kRequantizations[0], pixels, channels, taps, 2, 0, edge, -127);
        compare_sharing(GetParam(), rounding, pixels, channels, taps, 1, 1, edge, -127);
      }
    }
  }
}

TEST_P(Int8DepthwiseVariants, Extremes_DoNotSaturate) {
  // As in the test of int8_gemm: one channel of each pair has weights of -128.
  const std::vector<int8_t> ones(70, -128);
  for (const size_t channels : {5, 8, 70}) {
    for (const int least : {-128, -127}) {
      std::vector<int8_t> weights(96 * channels, 127);
      for (size_t i = 0; i < weights.size(); ++i) {
        if (i % channels % 2 == 1) weights[i] = static_cast<int8_t>(least);
      }
      const std::vector<const int8_t*> in(96, ones.data());
      const int32_t multiplier = 1 << 30;
      const int8_t shift = -13;  // 2^-14
      std::vector<int8_t> out(channels);
      Int8Depthwise strip;
      strip.pixels = 1;
      strip.channels = channels;
      strip.taps = 96;
      strip.in = in.data();
      strip.weights = weights.data();
      strip.weight_stride = static_cast<ptrdiff_t>(channels);
      strip.to.multipliers = &multiplier;
      strip.to.shifts = &shift;
      strip.out = out.data();
      GetParam().depthwise(strip);
      for (size_t c = 0; c < channels; ++c) {
        ASSERT_EQ(out[c], c % 2 == 0 ? -95 : least == -128 ? 96 : 95) << c;
      }
    }
  }
}

// Sums of all magnitudes, set by the biases, with all shifts and with scales from subnormal to huge.
TEST_P(Int8DepthwiseVariants, AnySumAndScale_SameBitsAsReference) {
  constexpr size_t kChannels = 41;
  auto& bits = rushlight::testing::int8_bits();
  for (const Rounding rounding : {Rounding::kSingle, Rounding::kDouble, Rounding::kFloat}) {
    for (int round = 0; round < 300; ++round) {
      int32_t bias[kChannels], multipliers[kChannels];
      int8_t shifts[kChannels], out[kChannels], expected[kChannels];
      float scales[kChannels];
      for (size_t c = 0; c < kChannels; ++c) {
        const auto any = static_cast<uint32_t>(bits()) << 8 ^ static_cast<uint32_t>(bits());
        const int32_t extremes[] = {INT32_MIN, INT32_MIN + 1, INT32_MAX, -1, 0, 1};
        bias[c] = any % 16 < 6 ? extremes[any % 16] : static_cast<int32_t>(any) >> (any >> 4 & 31);
        const auto more = static_cast<uint32_t>(bits());
        multipliers[c] = static_cast<int32_t>((1u << 30) + more % (1u << 30));
        if (more % 8 == 0) multipliers[c] = 0;
        if (more % 8 == 1) multipliers[c] = 1 << 30;
        if (more % 8 == 2) multipliers[c] = INT32_MAX;
        // Shifts that leave a result of few bits occur as often as all others together.
        int bits_of_bias = 0;
        for (auto left = static_cast<uint32_t>(bias[c] < 0 ? ~bias[c] : bias[c]); left != 0; left >>= 1)
          ++bits_of_bias;
        int shift = more >> 8 & 1 ? 8 - bits_of_bias - static_cast<int>(more >> 9 & 7)
                                  : static_cast<int>(more >> 9 & 63) + kLeastShift;
        if (rounding == Rounding::kDouble && shift > 31 - bits_of_bias) shift = 31 - bits_of_bias;
        shift = shift > kMostShift ? kMostShift : shift < kLeastShift ? kLeastShift : shift;
        shifts[c] = static_cast<int8_t>(shift);
        // From 2^-149 on: exponents 0 to 254.
        uint32_t pattern = more >> 8 & 1
                               ? (static_cast<uint32_t>(shift + 126) << 23) + (more >> 8) % (1u << 23)
                               : any % 0x7f800000u;
        if (more % 8 == 3) pattern = 1 + any % (1u << 23);
        if (pattern == 0) pattern = 1;
        std::memcpy(&scales[c], &pattern, sizeof(pattern));
      }
      Int8Depthwise strip;
      strip.pixels = 1;
      strip.channels = kChannels;
      strip.bias = bias;
      strip.to.rounding = rounding;
      strip.to.multipliers = multipliers;
      strip.to.shifts = shifts;
      strip.to.scales = scales;
      strip.to.step = 1;
      strip.to.zero_point = round % 3 * 100 - 100;
      strip.to.low = round % 5 == 0 ? -100 : -128;
      strip.to.high = round % 7 == 0 ? 100 : 127;
      strip.out = expected;
      reference::depthwise_int8(strip);
      strip.out = out;
      GetParam().depthwise(strip);
      for (size_t c = 0; c < kChannels; ++c) {
        ASSERT_EQ(out[c], expected[c])
            << "rounding " << static_cast<int>(rounding) << ": sum " << bias[c] << ", multiplier "
            << multipliers[c] << ", shift " << static_cast<int>(shifts[c]) << ", scale " << scales[c];
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
