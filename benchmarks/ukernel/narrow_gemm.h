// SPDX-License-Identifier: BSD-3-Clause
// Benchmark of a family of tiles with 16-bit factors: a product of 64 x 64 x 64 in tiles, and packing.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "benchmarks/ukernel/bench.h"
#include "kernels/ukernel/gemm.h"

namespace rushlight::bench {

struct NarrowGemm {
  const char* name;
  bool (*has)();
  size_t (*rows)();
  size_t (*columns)();
  void (*tile)(const ukernel::GemmTile16&);
  void (*pack)(uint16_t*, const uint16_t*, ptrdiff_t, ptrdiff_t, size_t, size_t);
};

inline void time_narrow_gemms(Bench& bench, const std::string& family, const std::vector<NarrowGemm>& all) {
  for (const NarrowGemm& gemm : all) {
    if (!gemm.has()) continue;
    const size_t width = gemm.columns();
    for (const size_t size : {size_t{64}, size_t{256}}) {
      const std::vector<uint16_t> a(size * size);
      const std::vector<uint16_t> b(size * size);
      std::vector<uint16_t> panels(size * size);
      std::vector<float> c(size * size);
      std::vector<const uint16_t*> lines;
      for (size_t i = 0; i < size; ++i) lines.push_back(a.data() + i * size);
      const std::string shape = std::to_string(size) + "x" + std::to_string(size);
      const auto count = static_cast<double>(size);
      bench.time(
          {family + " product " + shape + "x" + std::to_string(size), gemm.name, 2.0 * count * count * count},
          [&] {
            ukernel::GemmTile16 tile;
            tile.columns = width;
            tile.depth = size;
            tile.c_stride = static_cast<ptrdiff_t>(size);
            for (size_t i = 0; i < size; i += gemm.rows()) {
              tile.rows = std::min(gemm.rows(), size - i);
              tile.a = lines.data() + i;
              for (size_t j = 0; j < size; j += width) {
                tile.b = panels.data() + j * size;
                tile.c = c.data() + i * size + j;
                gemm.tile(tile);
              }
            }
          });
      if (gemm.pack == nullptr) continue;
      bench.time({family + " pack " + shape, gemm.name, 0, 4.0 * count * count}, [&] {
        for (size_t j = 0; j < size; j += width) {
          gemm.pack(panels.data() + j * size, b.data() + j, static_cast<ptrdiff_t>(size), 1, size, width);
        }
      });
    }
  }
}

}  // namespace rushlight::bench
