// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/depthwise.h"
#include "kernels/ukernel/reference/depthwise.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Depthwise {
  const char* name;
  void (*pixels)(const ukernel::DepthwisePixels&);
  void (*plane)(const ukernel::DepthwisePlane&);
};
RL_VARIANTS(Depthwise, variants, depthwise_pixels, depthwise_plane)

// A row of a channels-last image, with 3 x 3 taps. `channels` is a multiple of kDepthwiseBlock.
void time_pixels(bench::Bench& bench, const Depthwise& each, size_t pixels, size_t channels, size_t group) {
  const bench::Floats image = bench::some_floats(3 * (pixels + 2) * channels);
  const bench::Floats weights = bench::some_floats(9 * group * channels);
  bench::Floats out(pixels * channels);
  const float* rows[3];
  const float* weight_rows[3];
  for (size_t r = 0; r < 3; ++r) {
    rows[r] = image.data() + r * (pixels + 2) * channels;
    weight_rows[r] = weights.data() + 3 * r * group * ukernel::kDepthwiseBlock;
  }
  ukernel::DepthwisePixels strip;
  strip.pixels = pixels;
  strip.channels = channels;
  strip.group = group;
  strip.rows = strip.taps = 3;
  strip.in = rows;
  strip.weights = weight_rows;
  strip.out = out.data();
  strip.in_stride = strip.tap_stride = strip.out_stride = static_cast<ptrdiff_t>(channels);
  strip.weight_block = static_cast<ptrdiff_t>(9 * group * ukernel::kDepthwiseBlock);
  const std::string kind = group == 1 ? "depthwise" : "groups of " + std::to_string(group);
  const std::string name =
      kind + " 3x3 of " + std::to_string(pixels) + " pixels x " + std::to_string(channels);
  bench.time({name, each.name, 18.0 * static_cast<double>(pixels * channels * group)},
             [&] { each.pixels(strip); });
}

void time_plane(bench::Bench& bench, const Depthwise& each, size_t size) {
  const size_t width = size + 2;
  const bench::Floats image = bench::some_floats(width * width + ukernel::kDepthwiseSlack);
  const bench::Floats weights = bench::some_floats(9);
  bench::Floats out(size * size);
  const float* taps[9];
  for (size_t t = 0; t < 9; ++t) taps[t] = image.data() + t / 3 * width + t % 3;
  ukernel::DepthwisePlane plane;
  plane.rows = plane.width = size;
  plane.taps = 9;
  plane.in = taps;
  plane.in_stride = static_cast<ptrdiff_t>(width);
  plane.weights = weights.data();
  plane.out = out.data();
  plane.out_stride = static_cast<ptrdiff_t>(size);
  const std::string name = "depthwise 3x3 plane " + std::to_string(size) + "^2";
  bench.time({name, each.name, 18.0 * static_cast<double>(size * size)}, [&] { each.plane(plane); });
}

}  // namespace

RL_BENCHMARK(depthwise, bench) {
  const Depthwise reference{"reference", ukernel::reference::depthwise_pixels,
                            ukernel::reference::depthwise_plane};
  for (const Depthwise& each : bench::with_reference(variants(), reference)) {
    for (const size_t group : {1, 4, 8, 16}) time_pixels(bench, each, 56, 96, group);
    time_plane(bench, each, 28);
  }
}
