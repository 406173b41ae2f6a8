// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "benchmarks/ukernel/scales.h"
#include "kernels/ukernel/int16_depthwise.h"
#include "kernels/ukernel/reference/int16_depthwise.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Depthwise {
  const char* name;
  void (*filter)(const ukernel::Int16Depthwise&);
};
RL_INTEGER_VARIANTS(Depthwise, variants, depthwise_int16)

void time_strip(bench::Bench& bench, const Depthwise& each, size_t pixels, size_t channels, size_t taps) {
  const std::vector<int16_t> in((pixels + taps) * channels, 321);
  const bench::Bytes weights = bench::some_bytes(taps * channels);
  const bench::Scales scales(channels, taps, ukernel::Rounding::kSingle);
  const std::vector<int64_t> bias(channels, 1000);
  std::vector<int16_t> out(pixels * channels);
  std::vector<const int16_t*> pointers;
  for (size_t p = 0; p < pixels; ++p) {
    for (size_t t = 0; t < taps; ++t) pointers.push_back(in.data() + (p + t) * channels);
  }
  ukernel::Int16Depthwise strip;
  strip.pixels = pixels;
  strip.channels = channels;
  strip.taps = taps;
  strip.in = pointers.data();
  strip.weights = weights.data();
  strip.weight_stride = static_cast<ptrdiff_t>(channels);
  strip.bias = bias.data();
  strip.to = scales.from(0);
  strip.to.zero_point = 0;
  strip.to.low = INT16_MIN;
  strip.to.high = INT16_MAX;
  strip.out = out.data();
  strip.out_stride = static_cast<ptrdiff_t>(channels);
  const std::string name = "int16 depthwise " + std::to_string(pixels) + "x" + std::to_string(channels) +
                           ", " + std::to_string(taps) + " taps";
  bench.time({name, each.name, 2.0 * static_cast<double>(pixels * channels * taps), 0, true},
             [&] { each.filter(strip); });
}

}  // namespace

RL_BENCHMARK(int16_depthwise, bench) {
  for (const Depthwise& each :
       bench::with_reference(variants(), {"reference", ukernel::reference::depthwise_int16})) {
    time_strip(bench, each, 25, 64, 9);
    time_strip(bench, each, 48, 8, 9);
    time_strip(bench, each, 12, 256, 25);
  }
}
