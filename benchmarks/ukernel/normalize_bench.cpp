// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/normalize.h"
#include "kernels/ukernel/reference/normalize.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Normalize {
  const char* name;
  void (*span)(size_t, const float*, float, float, const float*, const float*, float*);
  void (*rows)(size_t, ptrdiff_t, ptrdiff_t, size_t, const float*, const float*, const float*, float*);
};
RL_VARIANTS(Normalize, variants, normalize_span, scale_rows)

void reference_span(size_t n, const float* x, float mean, float rstd, const float* weight, const float* bias,
                    float* y) {
  for (size_t i = 0; i < n; ++i) {
    y[i] = static_cast<float>(ukernel::reference::normalized(x[i], mean, rstd, weight[i], bias[i]));
  }
}
void reference_rows(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const float* x,
                    const float* scale, const float* shift, float* y) {
  for (; rows > 0; --rows, x += x_stride, y += y_stride) {
    for (size_t i = 0; i < n; ++i) {
      y[i] = static_cast<float>(ukernel::reference::scaled(x[i], scale[i], shift[i]));
    }
  }
}

}  // namespace

RL_BENCHMARK(normalize, bench) {
  constexpr size_t kCount = 768, kRows = 49, kChannels = 64;
  const bench::Floats x = bench::some_floats(kRows * kChannels), weight = bench::some_floats(kCount),
                      bias = bench::some_floats(kCount);
  bench::Floats y(kRows * kChannels);
  const Normalize reference{"reference", reference_span, reference_rows};
  for (const Normalize& each : bench::with_reference(variants(), reference)) {
    bench.time({"normalize 768", each.name, 0, 16.0 * kCount},
               [&] { each.span(kCount, x.data(), 0.1f, 1.5f, weight.data(), bias.data(), y.data()); });
    bench.time({"normalize scale 49x64", each.name, 0, 8.0 * kRows * kChannels}, [&] {
      each.rows(kRows, kChannels, kChannels, kChannels, x.data(), weight.data(), bias.data(), y.data());
    });
  }
}
