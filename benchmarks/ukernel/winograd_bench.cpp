// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/reference/winograd.h"
#include "kernels/ukernel/winograd.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Winograd {
  const char* name;
  void (*input)(const ukernel::WinogradInput&);
  bool (*output)(const ukernel::WinogradOutput&);
  void (*weights)(const ukernel::WinogradWeights&);
};
RL_VARIANTS(Winograd, variants, winograd_input, winograd_output, winograd_weights)

}  // namespace

RL_BENCHMARK(winograd, bench) {
  constexpr size_t kLanes = 64, kParts = ukernel::kWinogradParts;
  constexpr size_t kOut = ukernel::kWinogradOut * ukernel::kWinogradOut;
  const bench::Floats image = bench::some_floats(kParts * kLanes);
  bench::Floats parts = bench::some_floats(kParts * kLanes), results(kOut * kLanes);
  const float* in[kParts];
  float* out[kOut];
  for (size_t i = 0; i < kParts; ++i) in[i] = image.data() + i * kLanes;
  for (size_t i = 0; i < kOut; ++i) out[i] = results.data() + i * kLanes;
  ukernel::WinogradInput input;
  ukernel::WinogradOutput output;
  input.lanes = output.lanes = kLanes;
  input.in = in;
  input.out = parts.data();
  input.out_stride = output.in_stride = kLanes;
  output.in = image.data();
  output.out = out;
  const Winograd reference{"reference", ukernel::reference::winograd_input,
                           ukernel::reference::winograd_output, ukernel::reference::winograd_weights};
  ukernel::WinogradWeights weights;
  weights.lanes = kLanes;
  weights.in = image.data();
  weights.lane_stride = 9;
  weights.row_stride = 3;
  weights.column_stride = 1;
  weights.out = parts.data();
  weights.out_stride = kLanes;
  for (const Winograd& each : bench::with_reference(variants(), reference)) {
    bench.time({"winograd input, 64 channels", each.name, 0, 8.0 * kParts * kLanes},
               [&] { each.input(input); });
    bench.time({"winograd output, 64 channels", each.name, 0, 4.0 * (kParts + kOut) * kLanes},
               [&] { each.output(output); });
    bench.time({"winograd weights, 64 kernels", each.name, 0, 4.0 * (9 + kParts) * kLanes},
               [&] { each.weights(weights); });
  }
}
