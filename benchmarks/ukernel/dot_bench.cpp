// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/dot.h"
#include "kernels/ukernel/reference/dot.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

struct Dot {
  const char* name;
  void (*products)(const ukernel::DotProducts&);
};
RL_VARIANTS(Dot, variants, dot_products)

}  // namespace

RL_BENCHMARK(dot, bench) {
  for (const Dot& dot : bench::with_reference(variants(), {"reference", ukernel::reference::dot_products})) {
    for (const size_t rows : {1, 4}) {
      for (const size_t size : {64, 256, 2048}) {
        const bench::Floats a = bench::some_floats(rows * size);
        const bench::Floats b = bench::some_floats(size * size);
        bench::Floats c(rows * size);
        ukernel::DotProducts dots;
        dots.rows = rows;
        dots.columns = dots.depth = size;
        dots.a = a.data();
        dots.b = b.data();
        dots.c = c.data();
        dots.a_stride = dots.b_stride = dots.c_stride = static_cast<ptrdiff_t>(size);
        const std::string name = "dot " + std::to_string(rows) + " x " + std::to_string(size) + "^2";
        const auto elements = static_cast<double>(size * size);
        bench.time({name, dot.name, 2.0 * static_cast<double>(rows) * elements, 4.0 * elements},
                   [&] { dot.products(dots); });
      }
    }
  }
}
