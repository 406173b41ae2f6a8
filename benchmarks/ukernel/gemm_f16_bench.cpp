// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/narrow_gemm.h"
#include "kernels/ukernel/gemm_f16.h"
#include "kernels/ukernel/reference/gemm_f16.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

using bench::NarrowGemm;
RL_HALF_VARIANTS(NarrowGemm, variants, gemm_has_f16, gemm_rows_f16, gemm_columns_f16, gemm_tile_f16,
                 gemm_pack_f16)

}  // namespace

RL_BENCHMARK(gemm_f16, bench) {
  const NarrowGemm reference = {"reference",
                                ukernel::gemm_has_f16,
                                ukernel::gemm_rows_f16,
                                ukernel::gemm_columns_f16,
                                ukernel::reference::gemm_tile_f16,
                                nullptr};
  time_narrow_gemms(bench, "gemm f16", bench::with_reference(variants(), reference));
}
