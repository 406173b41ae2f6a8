// SPDX-License-Identifier: BSD-3-Clause
// Requantizes blocks of int32 sums with vectors of any length. Multipliers and shifts of the columns are
// loaded once for all rows. All families share one copy.
//
//   kSingle, shift <= -2   VMULH, then VSSRA by -1 - shift, halves up (RNU)
//   kSingle, other shifts  first a saturating left shift by shift + 2, see requantize_single_upper()
//   kDouble                VSMUL, which doubles and rounds (RNU), then VSSRA (RNU) of negative values less 1
//   kFloat                 VFCVT, VFMUL, clamp, VFCVT in the dynamic rounding mode: halves to even
//
// The rounding mode of fixed-point instructions is an argument of the intrinsics, which set VXRM.
#pragma once

#include <cstddef>
#include <cstdint>

#include <riscv_vector.h>

#include "kernels/ukernel/requantize.h"
#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

// The sums of a block take 1.5 kB of stack: three rows of kMostLanes columns or six of half as many. Longer
// vectors are used in part.
inline constexpr size_t kBlockSums = 384;
inline constexpr size_t kMostLanes = kBlockSums / 3;  // columns of a block, as in vectors of 512 bits

// Columns of a tile that needs eight registers for the sums of a row: VLEN / 4, at most kMostLanes.
inline size_t most_lanes() {
  const size_t lanes = __riscv_vsetvlmax_e32m8();
  return lanes < kMostLanes ? lanes : kMostLanes;
}

// The sums of rows x columns results, with all that their requantization needs. `to` must stay valid.
struct Block {
  const Requantization* to = nullptr;
  const int32_t* row_bias = nullptr;  // for each row of the block; null: zeros
  size_t rows = 0;
  size_t columns = 0;
  size_t first = 0;  // the index of the first column
  int8_t* out = nullptr;
  ptrdiff_t out_stride = 0;
  int32_t sums[kBlockSums];  // [rows][columns]
};

// `lanes` elements from `from` on, or the first one in all lanes; int8 is widened to int32.
inline vint32m4_t load_or_spread(const int32_t* from, bool is_one, size_t lanes) {
  return is_one ? __riscv_vmv_v_x_i32m4(*from, lanes) : __riscv_vle32_v_i32m4(from, lanes);
}
inline vint32m4_t load_or_spread(const int8_t* from, bool is_one, size_t lanes) {
  if (is_one) return __riscv_vmv_v_x_i32m4(*from, lanes);
  return __riscv_vsext_vf4_i32m4(__riscv_vle8_v_i8m1(from, lanes), lanes);
}
// Shift counts are unsigned operands; the values here are not negative.
inline vuint32m4_t as_unsigned(vint32m4_t numbers) { return __riscv_vreinterpret_v_i32m4_u32m4(numbers); }

// Shifts sums left by shift + 2, if that is positive, with saturation. 31 suffices as the largest shift: any
// nonzero sum is out of range then. A shift overflows if shifting back does not give the sum; then the result
// is the largest value of its sign, INT32_MAX ^ (sum >> 31).
inline vint32m4_t raise(vint32m4_t sums, vint32m4_t shifts, size_t lanes) {
  const vint32m4_t above = __riscv_vadd_vx_i32m4(__riscv_vmax_vx_i32m4(shifts, -2, lanes), 2, lanes);
  const vuint32m4_t left = as_unsigned(__riscv_vmin_vx_i32m4(above, 31, lanes));
  const vint32m4_t raised = __riscv_vsll_vv_i32m4(sums, left, lanes);
  const vbool8_t overflows =
      __riscv_vmsne_vv_i32m4_b8(__riscv_vsra_vv_i32m4(raised, left, lanes), sums, lanes);
  const vint32m4_t most = __riscv_vxor_vx_i32m4(__riscv_vsra_vx_i32m4(sums, 31, lanes), INT32_MAX, lanes);
  return __riscv_vmerge_vvm_i32m4(raised, most, overflows, lanes);
}

// kDouble. Subtracts 1 from negative values before a right shift that rounds halves up: this rounds their
// halves away from zero. `is_negative` has the sign of upper & shifts: both must be negative.
inline vint32m4_t requantize_double(vint32m4_t sums, vint32m4_t multipliers, vint32m4_t shifts,
                                    size_t lanes) {
  // The left shift cannot overflow: requantize.h requires it of the caller.
  const vint32m4_t left = __riscv_vmax_vx_i32m4(shifts, 0, lanes);
  sums = __riscv_vsll_vv_i32m4(sums, as_unsigned(left), lanes);
  vint32m4_t upper = __riscv_vsmul_vv_i32m4(sums, multipliers, __RISCV_VXRM_RNU, lanes);
  const vint32m4_t is_negative = __riscv_vand_vv_i32m4(upper, shifts, lanes);
  upper = __riscv_vadd_vv_i32m4(upper, __riscv_vsra_vx_i32m4(is_negative, 31, lanes), lanes);
  const vint32m4_t right = __riscv_vrsub_vx_i32m4(__riscv_vmin_vx_i32m4(shifts, 0, lanes), 0, lanes);
  return __riscv_vssra_vv_i32m4(upper, as_unsigned(right), __RISCV_VXRM_RNU, lanes);
}

// kFloat, without the zero point. The clamp before the conversion keeps it within int32.
inline vint32m4_t requantize_float(vint32m4_t sums, const Requantization& to, size_t column, size_t lanes) {
  const auto low = static_cast<float>(to.low - to.zero_point);
  const auto high = static_cast<float>(to.high - to.zero_point);
  vfloat32m4_t values = __riscv_vfcvt_f_x_v_f32m4(sums, lanes);
  values = to.step == 0
               ? __riscv_vfmul_vf_f32m4(values, *to.scales, lanes)
               : __riscv_vfmul_vv_f32m4(values, __riscv_vle32_v_f32m4(to.scales + column, lanes), lanes);
  values = __riscv_vfmin_vf_f32m4(__riscv_vfmax_vf_f32m4(values, low, lanes), high, lanes);
  return __riscv_vfcvt_x_f_v_i32m4(values, lanes);
}

// The start of the sums of columns from `column` on; `bias` may be null: zeros.
inline vint32m8_t load_bias(const int32_t* bias, size_t column, size_t lanes) {
  return bias == nullptr ? __riscv_vmv_v_x_i32m8(0, lanes) : __riscv_vle32_v_i32m8(bias + column, lanes);
}

// Columns j to j + lanes of a block, by any rounding. Four registers a vector, since the masks and shifts of
// raise() need several vectors at once.
[[gnu::noinline]] inline void quantize_any(const Block& block, size_t j, size_t lanes) {
  const Requantization& to = *block.to;
  const bool is_one = to.step == 0;
  const size_t column = block.first + j;
  const size_t at = is_one ? 0 : column;
  for (size_t i = 0; i < block.rows; ++i) {
    vint32m4_t sums = __riscv_vle32_v_i32m4(block.sums + i * block.columns + j, lanes);
    if (block.row_bias != nullptr) sums = __riscv_vadd_vx_i32m4(sums, block.row_bias[i], lanes);
    if (to.rounding == Rounding::kFloat) {
      sums = requantize_float(sums, to, column, lanes);
    } else {
      // Loaded again for each row. These are the infrequent scales, for which size matters more than speed.
      const vint32m4_t multipliers = load_or_spread(to.multipliers + at, is_one, lanes);
      const vint32m4_t shifts = load_or_spread(to.shifts + at, is_one, lanes);
      if (to.rounding == Rounding::kSingle) {
        const vint32m4_t upper = __riscv_vmulh_vv_i32m4(raise(sums, shifts, lanes), multipliers, lanes);
        // -1 - shift, from 1 to 30: VMULH has dropped 32 of the 31 - shift bits.
        const vint32m4_t right = __riscv_vrsub_vx_i32m4(__riscv_vmin_vx_i32m4(shifts, -2, lanes), -1, lanes);
        sums = __riscv_vssra_vv_i32m4(upper, as_unsigned(right), __RISCV_VXRM_RNU, lanes);
      } else {
        sums = requantize_double(sums, multipliers, shifts, lanes);
      }
    }
    // Saturates, because sums that were shifted left may be near the ends of int32.
    sums = __riscv_vsadd_vx_i32m4(sums, to.zero_point, lanes);
    sums = __riscv_vmin_vx_i32m4(__riscv_vmax_vx_i32m4(sums, to.low, lanes), to.high, lanes);
    const vint16m2_t halves = __riscv_vncvt_x_x_w_i16m2(sums, lanes);
    int8_t* out = block.out + static_cast<ptrdiff_t>(i) * block.out_stride + static_cast<ptrdiff_t>(j);
    __riscv_vse8_v_i8m1(out, __riscv_vncvt_x_x_w_i8m1(halves, lanes), lanes);
  }
}

// True if the columns (at most as many as eight registers hold) are rounded by kSingle with shifts of at most
// -2, as almost all are: then a right shift of the upper half of the product suffices.
inline bool has_small_scales(const Requantization& to, size_t first, size_t columns) {
  if (to.rounding != Rounding::kSingle) return false;
  if (to.step == 0) return *to.shifts <= -2;
  const vint8m2_t shifts = __riscv_vle8_v_i8m2(to.shifts + first, columns);
  return __riscv_vfirst_m_b4(__riscv_vmsgt_vx_i8m2_b4(shifts, -2, columns), columns) < 0;
}

// Quantizes such sums; multipliers and right shifts are vectors or scalars. narrowed() adds the zero point
// and clamps in 32 bits, without overflow: upper halves shifted right by at least one are at most 2^29. Then
// it drops the upper bits, which are copies of the sign.
inline vint8m2_t narrowed(vint32m8_t sums, const Requantization& to, size_t lanes) {
  sums = __riscv_vadd_vx_i32m8(sums, to.zero_point, lanes);
  sums = __riscv_vmin_vx_i32m8(__riscv_vmax_vx_i32m8(sums, to.low, lanes), to.high, lanes);
  return __riscv_vncvt_x_x_w_i8m2(__riscv_vncvt_x_x_w_i16m4(sums, lanes), lanes);
}
inline vint8m2_t quantize_small(vint32m8_t sums, int32_t multiplier, size_t right, const Requantization& to,
                                size_t lanes) {
  const vint32m8_t upper = __riscv_vmulh_vx_i32m8(sums, multiplier, lanes);
  return narrowed(__riscv_vssra_vx_i32m8(upper, right, __RISCV_VXRM_RNU, lanes), to, lanes);
}

// block.out[i * out_stride + j] = quantized(block.sums[i * columns + j] + row_bias[i]) for i < rows, j <
// columns. At most as many columns as eight registers hold. Small scales take one pass of whole rows; others
// are processed four registers at a time.
[[gnu::noinline]] inline void quantize_block(const Block& block) {
  const Requantization to = *block.to;  // a copy, which stores cannot alias
  const size_t lanes = block.columns;
  if (has_small_scales(to, block.first, lanes)) {
    const bool is_one = to.step == 0;
    const size_t at = is_one ? 0 : block.first;
    const vint8m2_t shifts =
        is_one ? __riscv_vmv_v_x_i8m2(*to.shifts, lanes) : __riscv_vle8_v_i8m2(to.shifts + at, lanes);
    // -1 - shift, widened from int8 to the 32 bits that VSSRA expects.
    const vint8m2_t less = __riscv_vrsub_vx_i8m2(shifts, -1, lanes);
    const vuint32m8_t right = __riscv_vreinterpret_v_i32m8_u32m8(__riscv_vsext_vf4_i32m8(less, lanes));
    const vint32m8_t multipliers = is_one ? __riscv_vmv_v_x_i32m8(*to.multipliers, lanes)
                                          : __riscv_vle32_v_i32m8(to.multipliers + at, lanes);
    const ptrdiff_t out_stride = block.out_stride;
    const int32_t* row_bias = block.row_bias;
    const int32_t* from = block.sums;
    int8_t* out = block.out;
    for (size_t i = block.rows; i > 0; --i, from += lanes, out += out_stride) {
      vint32m8_t sums = __riscv_vle32_v_i32m8(from, lanes);
      if (row_bias != nullptr) sums = __riscv_vadd_vx_i32m8(sums, *row_bias++, lanes);
      const vint32m8_t upper = __riscv_vmulh_vv_i32m8(sums, multipliers, lanes);
      sums = __riscv_vssra_vv_i32m8(upper, right, __RISCV_VXRM_RNU, lanes);
      __riscv_vse8_v_i8m2(out, narrowed(sums, to, lanes), lanes);
    }
    return;
  }
  for (size_t j = 0; j < lanes;) {
    const size_t some = __riscv_vsetvl_e32m4(lanes - j);
    quantize_any(block, j, some);
    j += some;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
