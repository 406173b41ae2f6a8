// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: four sums at a time, five instructions for four elements. Contiguous elements are gathered too:
// a second loop would cost more flash than it saves time.
#include "kernels/ukernel/arm/requantize_mve.h"
#include "kernels/ukernel/int8_sums.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// Lanes are sums; a gather loads an element of each of four windows, `lane` bytes apart. Adds in 32 bits.
void sum_int8(const Int8Windows& w, const int8_t* in, int32_t* sums) {
  const uint32x4_t at = vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<uint32_t>(w.lane));
  for (size_t i = 0; i < w.count; i += 4, in += 4 * w.lane, sums += 4) {
    const mve_pred16_t lanes = vctp32q(w.count - i);
    int32x4_t sum = vldrwq_z_s32(sums, lanes);
    const int8_t* row = in;
    for (size_t r = w.rows; r > 0; --r, row += w.row) {
      const int8_t* from = row;
      for (size_t c = w.columns; c > 0; --c, from += w.column)
        sum = vaddq_s32(sum, vldrbq_gather_offset_z_s32(from, at, lanes));
    }
    vstrwq_p_s32(sums, sum, lanes);
  }
}

// Quantizes sums as rows of 16 columns with one scale.
void quantize_sums(const Requantization& to, size_t count, const int32_t* sums, int8_t* out) {
  Requantization of = to;
  of.step = 0;
  Quantizer quantizer(of, nullptr);
  for (size_t i = 0; i < count; i += kSumColumns) {
    const size_t columns = count - i < kSumColumns ? count - i : kSumColumns;
    int32_t row[kSumColumns];
    __builtin_memcpy(row, sums + i, columns * sizeof row[0]);
    quantizer.set_columns(0, columns);
    quantizer.quantize({row, 1, kRowsOf16, 1, out + i, 0});
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
