// SPDX-License-Identifier: BSD-3-Clause
// int16 images with int8 weights: bit-exact. The extreme case uses as many taps of the largest products as
// the contract permits; a variant that sums more in 32 bits overflows there.
#include "kernels/ukernel/int16_depthwise.h"

#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/int16_product.h"
#include "kernels/ukernel/reference/int16_depthwise.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/int16_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using rushlight::testing::kWideRequantizations;
using rushlight::testing::RequantizationCase;

struct Functions {
  const char* name;
  decltype(&ukernel::native::depthwise_int16) filter;
};
RL_INTEGER_VARIANTS(Functions, variants, depthwise_int16)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class Int16DepthwiseVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, Int16DepthwiseVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

void compare(const Functions& functions, const RequantizationCase& rounding, size_t pixels, size_t channels,
             size_t taps, Edge edge, bool is_extreme = false) {
  Guarded<int16_t> in((pixels + taps) * channels, edge);
  Guarded<int8_t> weights(taps * channels, edge);
  Guarded<int16_t> out(pixels * channels, edge);
  fill_int16(in);
  fill_int8(weights);
  if (is_extreme) {
    for (int16_t& each : in) each = INT16_MIN;
    for (int8_t& each : weights) each = INT8_MIN;
  }
  std::vector<const int16_t*> pointers;
  for (size_t p = 0; p < pixels; ++p) {
    for (size_t t = 0; t < taps; ++t) pointers.push_back(in.data() + (p + t) * channels);
  }
  std::vector<int16_t> expected(out.size());
  const rushlight::testing::WideRequantizations requantizations(rounding, channels, edge);
  Int16Depthwise strip;
  strip.pixels = pixels;
  strip.channels = channels;
  strip.taps = taps;
  strip.in = pointers.data();
  strip.weights = weights.data();
  strip.weight_stride = static_cast<ptrdiff_t>(channels);
  strip.bias = is_extreme ? nullptr : requantizations.bias();
  strip.to = requantizations.to();
  strip.out = expected.data();
  strip.out_stride = static_cast<ptrdiff_t>(channels);
  reference::depthwise_int16(strip);
  strip.out = out.data();
  functions.filter(strip);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], expected[i]) << name_of(rounding) << ": " << channels << " channels, " << taps;
  }
}

TEST_P(Int16DepthwiseVariants, AnySizesAndRoundings_SameBitsAsReference) {
  for (const RequantizationCase& rounding : kWideRequantizations) {
    for (const size_t channels : {1, 3, 8, 15, 16, 17, 40}) {
      for (const size_t taps : {1, 9, 25}) {
        compare(GetParam(), rounding, 5, channels, taps, taps == 9 ? Edge::kFront : Edge::kBack);
      }
    }
  }
}

TEST_P(Int16DepthwiseVariants, AsManyTapsAsFit_SameBitsAsReference) {
  const RequantizationCase tiny{Rounding::kSingle, true, -16, 0, INT16_MIN, INT16_MAX};
  compare(GetParam(), tiny, 2, 18, kInt16Products, Edge::kBack, true);
}

}  // namespace
}  // namespace rushlight::ukernel
