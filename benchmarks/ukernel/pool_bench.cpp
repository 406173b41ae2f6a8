// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/pool.h"
#include "kernels/ukernel/reference/pool.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Pool {
  const char* name;
  void (*max)(size_t, const ukernel::PoolWindow&, const ukernel::PoolIndices&, const float*, float*,
              int64_t*);
  void (*average)(size_t, const ukernel::PoolWindow&, float, const float*, float*);
};
RL_VARIANTS(Pool, variants, max_pool, average_pool)

void reference_max(size_t count, const ukernel::PoolWindow& window, const ukernel::PoolIndices& numbers,
                   const float* x, float* y, int64_t* index) {
  for (size_t i = 0; i < count; ++i) {
    y[i] = ukernel::reference::max_pool(i, window, numbers, x, index + i);
  }
}
void reference_average(size_t count, const ukernel::PoolWindow& window, float divisor, const float* x,
                       float* y) {
  for (size_t i = 0; i < count; ++i) {
    y[i] = static_cast<float>(ukernel::reference::average_pool(i, window, divisor, x));
  }
}

}  // namespace

// Windows of 3 x 3: over 64 channels, and along a row of 56 pixels with strides of one and two.
RL_BENCHMARK(pool, bench) {
  struct Form {
    const char* name;
    size_t count;
    ukernel::PoolWindow window;
  };
  constexpr ptrdiff_t kWidth = 128;
  const Form forms[] = {{"64 channels", 64, {3, 3, 3 * 64, 64, 1}},
                        {"56 pixels", 56, {3, 3, kWidth, 1, 1}},
                        {"56 pixels, stride 2", 56, {3, 3, kWidth, 1, 2}}};
  const bench::Floats x = bench::some_floats(9 * 64);
  bench::Floats y(64);
  std::vector<int64_t> index(64);
  for (const Pool& each :
       bench::with_reference(variants(), {"reference", reference_max, reference_average})) {
    for (const Form& form : forms) {
      const ukernel::PoolIndices numbers{0, 56, 1, static_cast<int32_t>(form.window.lane)};
      const double bytes = 40.0 * static_cast<double>(form.count);
      bench.time({std::string("pool max 3x3 ") + form.name, each.name, 0, bytes},
                 [&] { each.max(form.count, form.window, numbers, x.data(), y.data(), index.data()); });
      bench.time({std::string("pool average 3x3 ") + form.name, each.name, 0, bytes},
                 [&] { each.average(form.count, form.window, 9.0f, x.data(), y.data()); });
    }
  }
}
