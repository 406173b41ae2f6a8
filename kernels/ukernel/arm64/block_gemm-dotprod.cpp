// SPDX-License-Identifier: BSD-3-Clause
// block_gemm with SDOT. One row multiplies whole words; several rows take two vectors of features at a time,
// so that all sums stay in registers.
#include "kernels/ukernel/arm64/block_gemm_dot.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

void multiply_blocks(const BlockGemm& p) {
  with_layout(p.form, [&](auto layout) {
    using K = decltype(layout);
    constexpr size_t kMostRows = K::kIsNarrow ? 8 : 4;
    size_t i = 0;
    for (; i + kMostRows <= p.rows; i += kMostRows) multiply_rows<K, DotTile<K, kMostRows, 2>>(p, i);
    for (; i + 2 <= p.rows; i += 2) multiply_rows<K, DotTile<K, 2, 2>>(p, i);
    for (; i < p.rows; ++i) multiply_rows<K, DotTile<K, 1, 4>>(p, i);
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
