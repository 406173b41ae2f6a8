// SPDX-License-Identifier: BSD-3-Clause
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
  ukernel::ShiftedTap taps[9];
  for (int32_t t = 0; t < 9; ++t) {
    constexpr auto kBytes = static_cast<int32_t>(sizeof(float));
    taps[t] = {(t / 3 * static_cast<int32_t>(kPadded) + t % 3) * kBytes, t * kBytes};
  }
  const float initial[kChannels] = {};
  const ukernel::ShiftedSums shifted{in.data(),  kernel.data(),   9,         taps,           9, initial,
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
