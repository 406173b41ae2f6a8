// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/patch.h"
#include "kernels/ukernel/reference/patch.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Patch {
  const char* name;
  void (*shifted)(const ukernel::ShiftedSums&);
  void (*plane)(const ukernel::PlaneConvolution&);
};
RL_NATIVE_VARIANTS(Patch, variants, add_shifted, convolve_plane_3x3)

}  // namespace

// Convolutions as in small kernels: of a padded patch for three output channels, and of a plane.
RL_BENCHMARK(patch, bench) {
  constexpr size_t kRows = 14, kWidth = 28, kPadded = 32, kChannels = 3;
  const bench::Floats in = bench::some_floats((kRows + 2) * kPadded + 16);
  const bench::Floats kernel = bench::some_floats(9 * kChannels);
  bench::Floats out(kChannels * kRows * kPadded);
  constexpr auto kGroup = static_cast<int32_t>(ukernel::kShiftTaps);
  ukernel::ShiftedTaps taps[9];
  size_t groups = 0;
  for (int32_t row = 0; row < 3; ++row) {
    for (int32_t column = 0; column < 3; column += kGroup) {
      constexpr auto kBytes = static_cast<int32_t>(sizeof(float));
      taps[groups++] = {(row * static_cast<int32_t>(kPadded) + column) * kBytes,
                        std::min(3 - column, kGroup) - 1};
    }
  }
  const float initial[kChannels] = {};
  const ukernel::ShiftedSums shifted{in.data(),  kernel.data(),   9,         taps,           groups, initial,
                                     out.data(), kRows * kPadded, kChannels, kRows * kPadded};
  const ukernel::PlaneConvolution plane{in.data(),  kWidth, kernel.data(), 3,      1,
                                        out.data(), kWidth, kRows,         kWidth, 0.5f};
  const double flops = 2.0 * 9 * kRows * kWidth;
  const Patch reference{"reference", ukernel::reference::add_shifted, ukernel::reference::convolve_plane_3x3};
  for (const Patch& each : bench::with_reference(variants(), reference)) {
    bench.time({"patch 3x3 to 3 planes 14x28", each.name, 2.0 * 9 * kChannels * kRows * kPadded},
               [&] { each.shifted(shifted); });
    bench.time({"patch plane 3x3, 14x28", each.name, flops}, [&] { each.plane(plane); });
  }
}
