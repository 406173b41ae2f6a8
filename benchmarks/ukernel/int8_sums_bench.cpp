// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/int8_sums.h"
#include "kernels/ukernel/reference/int8_sums.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Sums {
  const char* name;
  void (*sum)(const ukernel::Int8Windows&, const int8_t*, int32_t*);
  void (*quantize)(const ukernel::Requantization&, size_t, const int32_t*, int8_t*);
};
RL_EXACT_VARIANTS(Sums, variants, sum_int8, quantize_sums)

}  // namespace

// The mean of 49 pixels of 128 channels, and of 128 planes of 49; windows of 3 x 3 in as many channels.
RL_BENCHMARK(int8_sums, bench) {
  struct Form {
    const char* name;
    ukernel::Int8Windows windows;
  };
  constexpr size_t kCount = 128;
  const Form forms[] = {{"49 pixels", {kCount, 1, 49, 1, 0, kCount}},
                        {"49 in a plane", {kCount, 1, 49, 49, 0, 1}},
                        {"3x3 of channels", {kCount, 3, 3, 1, 7 * kCount, kCount}},
                        {"3x3 of a row, stride 2", {kCount, 3, 3, 2, 300, 1}}};
  const std::vector<int8_t> in(64 * kCount, 7);
  std::vector<int32_t> sums(kCount);
  std::vector<int8_t> out(kCount);
  const float scale = 0.01F;
  ukernel::Requantization to;
  to.rounding = ukernel::Rounding::kFloat;
  to.scales = &scale;
  for (const Sums& each : bench::with_reference(
           variants(), {"reference", ukernel::reference::sum_int8, ukernel::reference::quantize_sums})) {
    for (const Form& form : forms) {
      const double bytes = static_cast<double>(form.windows.count * form.windows.rows * form.windows.columns);
      bench.time({std::string("int8 sums ") + form.name, each.name, 0, bytes}, [&] {
        std::fill(sums.begin(), sums.end(), 0);
        each.sum(form.windows, in.data(), sums.data());
      });
    }
    bench.time({"int8 sums quantized", each.name, 0, 5.0 * kCount},
               [&] { each.quantize(to, kCount, sums.data(), out.data()); });
  }
}
