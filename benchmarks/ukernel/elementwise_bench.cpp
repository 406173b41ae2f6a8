// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/elementwise.h"
#include "kernels/ukernel/reference/elementwise.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

using ukernel::Rows;

struct Functions {
  const char* name;
  void (*add)(const Rows&);
  void (*div)(const Rows&);
  void (*maximum)(const Rows&);
  void (*less)(const Rows&);
  void (*where)(const Rows&);
};
RL_EXACT_VARIANTS(Functions, variants, add_f32, div_f32, maximum_f32, less_f32, where_32)

template <class Out, class F>
void each_by_itself(const Rows& rows, F f) {
  ukernel::reference::for_elements<Out, float, float, float>(rows, f);
}

}  // namespace

RL_BENCHMARK(elementwise, bench) {
  constexpr size_t kRows = 16, kCount = 256;
  constexpr auto kStride = static_cast<ptrdiff_t>(kCount * sizeof(float));
  const bench::Floats a = bench::some_floats(kRows * kCount), b = bench::some_floats(kRows * kCount);
  bench::Floats out(kRows * kCount);
  const std::vector<uint8_t> mask(kRows * kCount, 1);
  const Functions reference{
      "reference",
      [](const Rows& r) {
        each_by_itself<float>(r, [&](float x, float y, float) { return x + r.number * y; });
      },
      [](const Rows& r) { each_by_itself<float>(r, [](float x, float y, float) { return x / y; }); },
      [](const Rows& r) { each_by_itself<float>(r, [](float x, float y, float) { return x < y ? y : x; }); },
      [](const Rows& r) { each_by_itself<uint8_t>(r, [](float x, float y, float) { return x < y; }); },
      [](const Rows& r) {
        ukernel::reference::for_elements<float, uint8_t, float, float>(
            r, [](uint8_t yes, float x, float y) { return yes != 0 ? x : y; });
      }};
  for (const Functions& each : bench::with_reference(variants(), reference)) {
    for (const bool one : {false, true}) {
      Rows rows{kRows, kCount, {{a.data(), kStride, false}, {b.data(), kStride, one}}, out.data(), kStride};
      const std::string form = one ? " 16x256 with one for each row" : " 16x256";
      const auto time = [&](const char* name, void (*function)(const Rows&)) {
        bench.time({"elementwise " + (name + form), each.name, 0, 12.0 * kRows * kCount},
                   [&] { function(rows); });
      };
      time("add", each.add);
      time("divide", each.div);
      time("maximum", each.maximum);
      time("less", each.less);
      rows.in[2] = rows.in[1];
      rows.in[1] = rows.in[0];
      rows.in[0] = {mask.data(), kCount, false};
      time("where", each.where);
    }
  }
}
