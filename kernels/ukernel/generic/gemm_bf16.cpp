// SPDX-License-Identifier: BSD-3-Clause
// Tiles of bfloat16, see gemm.inl.
#include "kernels/ukernel/gemm_bf16.h"

#include "kernels/ukernel/generic/gemm.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

bool gemm_has_bf16() { return kBf16Products; }
size_t gemm_columns_bf16() { return kColumns<float>; }

void gemm_tile_bf16(const GemmTileBf16& tile) { compute(tile); }

void gemm_pack_bf16(uint16_t* panel, const uint16_t* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                    size_t depth, size_t columns, size_t width) {
  const auto pack = [&](const uint16_t* first, const uint16_t* second, auto stride) {
    for (size_t j = 0; j < columns; ++j) {
      const ptrdiff_t at = static_cast<ptrdiff_t>(j) * stride;
      panel[2 * j] = first[at];
      panel[2 * j + 1] = second == nullptr ? uint16_t{0} : second[at];
    }
    std::memset(panel + 2 * columns, 0, 2 * (width - columns) * sizeof(uint16_t));
  };
  for (size_t p = 0; p < depth; p += 2, panel += 2 * width) {
    const uint16_t* first = row_of(b, row_stride, p);
    const uint16_t* second = p + 1 < depth ? first + row_stride : nullptr;
    // A stride of 1 as a constant, so that the loop interleaves vectors.
    if (column_stride == 1) {
      pack(first, second, std::integral_constant<ptrdiff_t, 1>());
    } else {
      pack(first, second, column_stride);
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
