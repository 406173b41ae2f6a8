// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/int8_elementwise.h"
#include "kernels/ukernel/reference/int8_elementwise.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Functions {
  const char* name;
  void (*add)(const ukernel::Rows&, const ukernel::QuantizedSum&);
  void (*add_rescaled)(const ukernel::Rows&, const ukernel::RescaledSum&);
  void (*multiply)(const ukernel::Rows&, const ukernel::QuantizedProduct&);
};
RL_EXACT_VARIANTS(Functions, variants, add_int8, add_rescaled_int8, multiply_int8_pairs)

template <class Numbers, int8_t (*kFunction)(const Numbers&, int8_t, int8_t)>
void reference_rows(const ukernel::Rows& rows, const Numbers& numbers) {
  for (size_t i = 0; i < rows.n; ++i) {
    static_cast<int8_t*>(rows.out)[i] = kFunction(numbers, static_cast<const int8_t*>(rows.in[0].data)[i],
                                                  static_cast<const int8_t*>(rows.in[1].data)[i]);
  }
}

}  // namespace

RL_BENCHMARK(int8_elementwise, bench) {
  constexpr size_t kCount = 4096;
  const bench::Bytes a = bench::some_bytes(kCount), b = bench::some_bytes(kCount);
  bench::Bytes out(kCount);
  ukernel::Rows rows{};
  rows.count = 1;
  rows.n = kCount;
  rows.in[0] = {a.data(), 0, false};
  rows.in[1] = {b.data(), 0, false};
  rows.out = out.data();
  const ukernel::QuantizedSum sum{{1234567, 987654}, 1 << 19, 20, -3, -128, 127};
  const int32_t multiplier = 1'500'000'000;
  const int8_t shift = -6;
  ukernel::Requantization to;
  to.multipliers = &multiplier;
  to.shifts = &shift;
  const ukernel::QuantizedProduct product{{3, -8}, to};
  ukernel::Requantization twice = to;
  twice.rounding = ukernel::Rounding::kDouble;
  const ukernel::RescaledSum rescaled{{3, -8}, {multiplier, multiplier}, {0, -1}, twice};
  for (const Functions& each : bench::with_reference(
           variants(),
           {"reference", reference_rows<ukernel::QuantizedSum, ukernel::reference::add_int8>,
            reference_rows<ukernel::RescaledSum, ukernel::reference::add_rescaled_int8>,
            reference_rows<ukernel::QuantizedProduct, ukernel::reference::multiply_int8_pairs>})) {
    bench.time({"int8 add of 4096", each.name, 0, 3.0 * kCount}, [&] { each.add(rows, sum); });
    bench.time({"int8 rescaled add of 4096", each.name, 0, 3.0 * kCount},
               [&] { each.add_rescaled(rows, rescaled); });
    bench.time({"int8 mul of 4096", each.name, 0, 3.0 * kCount}, [&] { each.multiply(rows, product); });
  }
}
