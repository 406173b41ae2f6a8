// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks/ukernel/narrow_gemm.h"
#include "kernels/ukernel/gemm_bf16.h"
#include "kernels/ukernel/reference/gemm_bf16.h"
#include "tests/kernels/ukernel/variants_here.h"

using namespace rushlight;

namespace {

using bench::NarrowGemm;
RL_BFLOAT16_VARIANTS(NarrowGemm, variants, gemm_has_bf16, gemm_rows_bf16, gemm_columns_bf16, gemm_tile_bf16,
                     gemm_pack_bf16)

}  // namespace

RL_BENCHMARK(gemm_bf16, bench) {
  const NarrowGemm reference = {"reference",
                                ukernel::gemm_has_bf16,
                                ukernel::gemm_rows_bf16,
                                ukernel::gemm_columns_bf16,
                                ukernel::reference::gemm_tile_bf16,
                                nullptr};
  time_narrow_gemms(bench, "gemm bf16", bench::with_reference(variants(), reference));
}
