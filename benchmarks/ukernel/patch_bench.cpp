// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/patch.h"
#include "kernels/ukernel/reference/patch.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Patch {
  const char* name;
  void (*patch)(const ukernel::PatchConvolution&);
  void (*plane)(const ukernel::PlaneConvolution&);
};
RL_NATIVE_VARIANTS(Patch, variants, convolve_patch, convolve_plane_3x3)

}  // namespace

// Convolutions as in small kernels: of a patch with stride two, and of a plane.
RL_BENCHMARK(patch, bench) {
  constexpr size_t kRows = 14, kWidth = 28, kInWidth = 2 * kWidth + 1, kInRows = 2 * kRows + 1;
  const bench::Floats in = bench::some_floats(kInRows * kInWidth), kernel = bench::some_floats(9);
  bench::Floats out(kRows * kWidth);
  const ukernel::PatchConvolution patch{in.data(), kInWidth, kernel.data(), 3,      1, 3,     3,      2,   2,
                                        1,         1,        out.data(),    kWidth, 1, kRows, kWidth, 0.5f};
  const ukernel::PlaneConvolution plane{in.data(),  kWidth, kernel.data(), 3,      1,
                                        out.data(), kWidth, kRows,         kWidth, 0.5f};
  const double flops = 2.0 * 9 * kRows * kWidth;
  const Patch reference{"reference", ukernel::reference::convolve_patch,
                        ukernel::reference::convolve_plane_3x3};
  for (const Patch& each : bench::with_reference(variants(), reference)) {
    bench.time({"patch 3x3 to 14x28, step 2", each.name, flops}, [&] { each.patch(patch); });
    bench.time({"patch plane 3x3, 14x28", each.name, flops}, [&] { each.plane(plane); });
  }
}
