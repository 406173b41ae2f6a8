// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include "benchmarks/ukernel/bench.h"
#include "benchmarks/ukernel/scales.h"
#include "kernels/ukernel/int8_depthwise.h"
#include "kernels/ukernel/reference/int8_depthwise.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Depthwise {
  const char* name;
  void (*depthwise)(const ukernel::Int8Depthwise&);
};
RL_INTEGER_VARIANTS(Depthwise, variants, depthwise_int8)

// A row of an image with size x size taps; each pixel has pointers, or all share those for the first.
void time_row(bench::Bench& bench, const Depthwise& each, size_t pixels, size_t channels, size_t size,
              ukernel::Rounding rounding, bool shares = false) {
  const size_t taps = size * size;
  const size_t width = pixels + size - 1;
  const bench::Bytes image = bench::some_bytes(size * width * channels);
  const bench::Bytes weights = bench::some_bytes(taps * channels);
  const bench::Scales scales(channels, taps, rounding);
  bench::Bytes out(pixels * channels);
  std::vector<const int8_t*> in;
  for (size_t p = 0; p < pixels; ++p) {
    for (size_t t = 0; t < taps; ++t) {
      in.push_back(image.data() + (t / size * width + p + t % size) * channels);
    }
  }
  ukernel::Int8Depthwise strip;
  if (shares) strip.pixel_stride = static_cast<ptrdiff_t>(channels);
  strip.pixels = pixels;
  strip.channels = channels;
  strip.taps = taps;
  strip.in = in.data();
  strip.weights = weights.data();
  strip.weight_stride = strip.out_stride = static_cast<ptrdiff_t>(channels);
  strip.bias = scales.bias();
  strip.to = scales.from(0);
  strip.out = out.data();
  const std::string name = "int8 depthwise " + std::to_string(size) + "x" + std::to_string(size) + " of " +
                           std::to_string(pixels) + "x" + std::to_string(channels) +
                           (shares ? ", sharing" : "") + bench::Scales::name(rounding);
  bench.time({name, each.name, 2.0 * static_cast<double>(taps * pixels * channels), 0, true},
             [&] { each.depthwise(strip); });
}

}  // namespace

RL_BENCHMARK(int8_depthwise, bench) {
  constexpr ukernel::Rounding kSingle = ukernel::Rounding::kSingle;
  for (const Depthwise& each :
       bench::with_reference(variants(), {"reference", ukernel::reference::depthwise_int8})) {
    time_row(bench, each, 25, 64, 3, kSingle);
    time_row(bench, each, 25, 64, 3, ukernel::Rounding::kDouble);
    time_row(bench, each, 25, 64, 3, ukernel::Rounding::kFloat);
    for (const size_t channels : {8, 16, 24, 32, 96, 128}) time_row(bench, each, 56, channels, 3, kSingle);
    for (const size_t channels : {256, 512}) time_row(bench, each, 14, channels, 3, kSingle);
    for (const size_t channels : {16, 64, 240}) time_row(bench, each, 28, channels, 5, kSingle);
    const bool is_native = std::string(each.name) == "native" || std::string(each.name) == "reference";
    if (!ukernel::kInt8DepthwiseStrides || !is_native) continue;
    for (const size_t channels : {8, 16, 64}) time_row(bench, each, 48, channels, 3, kSingle, true);
  }
}
