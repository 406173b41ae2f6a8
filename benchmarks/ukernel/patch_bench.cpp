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
  void (*planes)(const ukernel::PlaneSums&);
};
RL_NATIVE_VARIANTS(Patch, variants, add_shifted, convolve_plane_3x3, add_planes)

// The two forms of ukernel::PlaneTap.
[[maybe_unused]] void set_tap(int32_t& tap, int32_t at) { tap = at; }
[[maybe_unused]] void set_tap(ukernel::ShiftedTaps& tap, int32_t at) {
  tap = {at, static_cast<int32_t>(ukernel::kShiftTaps) - 1};
}

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
  // A row of outputs of a plane by a padded 3 x 3 kernel with stride 2.
  constexpr size_t kTiles = 2, kEach = std::max<size_t>(ukernel::kTileColumns, 1), kColumns = kTiles * kEach;
  constexpr bool kLists = ukernel::kTilePositions > 1;
  constexpr auto kBytes = static_cast<int32_t>(sizeof(float));
  ukernel::PlaneTile tiles[kTiles];
  for (size_t x = 0; x < kColumns; x += kLists ? 1 : kEach) {
    ukernel::PlaneTile& tile = tiles[x / kEach];
    tile.in[kLists ? x % kEach : 0] = static_cast<int32_t>(2 * x) * kBytes;
    tile.out[kLists ? x % kEach : 0] = static_cast<int32_t>(x) * kBytes;
  }
  ukernel::PlaneTap plane_taps[9];
  ukernel::PlaneSums sums{};
  for (int32_t row = 0; row < 3; ++row) {
    for (int32_t column = 0; column < 3; column += kLists ? 1 : kGroup) {
      set_tap(plane_taps[sums.count++], (row * static_cast<int32_t>(kPadded) + column) * kBytes);
    }
  }
  sums.in = in.data();
  sums.weight = kernel.data();
  sums.taps = plane_taps;
  sums.out = out.data();
  sums.planes = 1;
  sums.tiles = tiles;
  sums.counts[0] = kTiles;
  sums.in_step = 2;
  sums.out_step = 1;
  const double flops = 2.0 * 9 * kRows * kWidth;
  const Patch reference{"reference", ukernel::reference::add_shifted, ukernel::reference::convolve_plane_3x3,
                        ukernel::reference::add_planes};
  for (const Patch& each : bench::with_reference(variants(), reference)) {
    bench.time({"patch 3x3 to 3 planes 14x28", each.name, 2.0 * 9 * kChannels * kRows * kPadded},
               [&] { each.shifted(shifted); });
    bench.time({"patch plane 3x3, 14x28", each.name, flops}, [&] { each.plane(plane); });
    if (ukernel::kTileColumns == 0) continue;
    bench.time({"patch planes 3x3, stride 2", each.name, 2.0 * 9 * kColumns}, [&] { each.planes(sums); });
  }
}
