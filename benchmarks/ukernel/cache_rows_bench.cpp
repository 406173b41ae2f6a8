// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/cache_rows.h"
#include "kernels/ukernel/reference/cache_rows.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct CacheFunctions {
  const char* name;
  decltype(&ukernel::native::cache_products_half) products_half;
  decltype(&ukernel::native::cache_products_i8) products_i8;
  decltype(&ukernel::native::cache_sums_half) sums_half;
  decltype(&ukernel::native::cache_sums_i8) sums_i8;
};
RL_VARIANTS(CacheFunctions, variants, cache_products_half, cache_products_i8, cache_sums_half, cache_sums_i8)

constexpr size_t kKeys = 128, kDepth = 64;

template <class T>
void time_rows(bench::Bench& bench, const char* name, const char* variant,
               void (*function)(const ukernel::CacheRows<T>&), bool is_product) {
  const std::vector<T> cache(kKeys * kDepth, T{1});
  for (const size_t rows : {size_t{1}, size_t{4}}) {
    const bench::Floats left = bench::some_floats(rows * kKeys);
    bench::Floats out(rows * kKeys);
    const ptrdiff_t left_stride = is_product ? kDepth : kKeys;
    const ptrdiff_t out_stride = is_product ? kKeys : kDepth;
    bench.time(
        {std::string(name) + ", " + std::to_string(rows) + " by 128 of 64", variant,
         2.0 * static_cast<double>(rows * kKeys * kDepth), 1.0 * sizeof(T) * kKeys * kDepth},
        [&] {
          function({rows, kKeys, kDepth, cache.data(), left.data(), left_stride, out.data(), out_stride});
        });
  }
}

}  // namespace

RL_BENCHMARK(cache_rows, bench) {
  const CacheFunctions reference{"reference", ukernel::reference::cache_products_half,
                                 ukernel::reference::cache_products_i8, ukernel::reference::cache_sums_half,
                                 ukernel::reference::cache_sums_i8};
  for (const CacheFunctions& each : bench::with_reference(variants(), reference)) {
    time_rows(bench, "products, float16", each.name, each.products_half, true);
    time_rows(bench, "products, int8", each.name, each.products_i8, true);
    time_rows(bench, "sums, float16", each.name, each.sums_half, false);
    time_rows(bench, "sums, int8", each.name, each.sums_i8, false);
  }
}
