// SPDX-License-Identifier: BSD-3-Clause
// block_gemm with vectors of any length; a lane is a feature. Words are narrowed to their 16-bit halves;
// shifts and masks extract elements, which are multiplied with an element of each row and added to 32-bit
// sums: two instructions for each row and 16 products, plus two that four rows share. Weights are loaded as
// bytes, since they may be unaligned.
#include <riscv_vector.h>

#include "kernels/ukernel/generic/block_rows.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = kBlockGemmRows;
static_assert(kRows == 4);
constexpr size_t kPanelBytes = kBlockFeatures * sizeof(uint32_t);  // one word of each feature

// Bits `shift` to `shift` + 15 of 16 words.
RL_INLINE vuint16m2_t halves_of(const uint8_t* from, size_t shift) {
  const vuint8m4_t bytes = __riscv_vle8_v_u8m4(from, kPanelBytes);
  return __riscv_vnsrl_wx_u16m2(__riscv_vreinterpret_v_u8m4_u32m4(bytes), shift, kBlockFeatures);
}

// sums += factor * numbers, 16 lanes.
RL_INLINE vint32m4_t add(vint32m4_t sums, int16_t factor, vuint16m2_t numbers) {
  return __riscv_vwmacc_vx_i32m4(sums, factor, __riscv_vreinterpret_v_u16m2_i16m2(numbers), kBlockFeatures);
}

// Loads scales or minimums as float32.
RL_INLINE vfloat32m4_t load_scales(bool is_single, const uint8_t* from) {
  constexpr size_t n = kBlockFeatures;
  if (is_single) {
    const vuint8m4_t bytes = __riscv_vle8_v_u8m4(from, n * sizeof(float));
    return __riscv_vreinterpret_v_u32m4_f32m4(__riscv_vreinterpret_v_u8m4_u32m4(bytes));
  }
  const vuint8m2_t bytes = __riscv_vle8_v_u8m2(from, n * sizeof(uint16_t));
  const vuint32m4_t halves = __riscv_vzext_vf2_u32m4(__riscv_vreinterpret_v_u8m2_u16m2(bytes), n);
  const vuint32m4_t sign = __riscv_vsll_vx_u32m4(__riscv_vand_vx_u32m4(halves, 0x8000u, n), 16, n);
  const vuint32m4_t magnitude = __riscv_vand_vx_u32m4(halves, 0x7fffu, n);
  // The exponent biases differ by 112, for subnormals too. Infinity and NaN have all exponent bits set.
  vuint32m4_t value = __riscv_vsll_vx_u32m4(magnitude, 13, n);
  value = __riscv_vreinterpret_v_f32m4_u32m4(
      __riscv_vfmul_vf_f32m4(__riscv_vreinterpret_v_u32m4_f32m4(value), 0x1p112F, n));
  const vbool8_t is_large = __riscv_vmsgeu_vx_u32m4_b8(magnitude, 0x7c00u, n);
  const vuint32m4_t infinite = __riscv_vor_vx_u32m4(__riscv_vsll_vx_u32m4(magnitude, 13, n), 0x7f800000u, n);
  value = __riscv_vmerge_vvm_u32m4(value, infinite, is_large, n);
  return __riscv_vreinterpret_v_u32m4_f32m4(__riscv_vor_vv_u32m4(value, sign, n));
}

// Adds the sums of a block to the totals of a row.
RL_INLINE void finish_block(const BlockForm& form, vint32m4_t sums, const BlockHeader& head,
                            vfloat32m4_t scales, vfloat32m4_t minimums, float* totals) {
  constexpr size_t n = kBlockFeatures;
  const vfloat32m4_t scale = __riscv_vfmul_vf_f32m4(scales, head.scale, n);
  const vfloat32m4_t part = __riscv_vfmul_vv_f32m4(__riscv_vfcvt_f_x_v_f32m4(sums, n), scale, n);
  vfloat32m4_t total = __riscv_vfadd_vv_f32m4(__riscv_vle32_v_f32m4(totals, n), part, n);
  if (form.has_minimum)
    total = __riscv_vfadd_vv_f32m4(total, __riscv_vfmul_vf_f32m4(minimums, head.sum, n), n);
  __riscv_vse32_v_f32m4(totals, total, n);
}

// Multiplies one row or four. The sums are separate variables, since arrays cannot hold vectors without a
// fixed size.
template <bool kIsByte, size_t kCount>
void multiply_rows(const BlockGemm& p, size_t first) {
  const BlockForm& form = p.form;
  const char* rows[kRows];
  for (size_t r = 0; r < kRows; ++r) {
    // Missing rows repeat the first one; their sums are not stored.
    rows[r] = static_cast<const char*>(p.left) + (first + (r < kCount ? r : 0)) * p.left_stride;
  }
  const size_t headers = header_bytes(form), depth = form.block_depth(), blocks = form.group / depth;
  const auto numbers = [&](size_t r) { return reinterpret_cast<const int16_t*>(rows[r] + headers); };
  const int16_t *left_a = numbers(0), *left_b = numbers(1), *left_c = numbers(2), *left_d = numbers(3);
  const auto* from = static_cast<const uint8_t*>(p.panel);
  float totals[kCount][kBlockFeatures] = {};
  for (size_t g = form.groups(), block = 0; g > 0; --g) {
    const vfloat32m4_t scales = load_scales(form.is_single, from);
    vfloat32m4_t minimums = scales;
    if (form.has_minimum) minimums = load_scales(form.is_single, from + form.scale_bytes());
    from += form.header_bytes();
    for (const size_t end = block + blocks; block < end; ++block) {
      const auto begin = [&](size_t r) {
        return __riscv_vmv_v_x_i32m4(form.has_minimum ? 0 : -header(rows[r], block).correction,
                                     kBlockFeatures);
      };
      vint32m4_t a = begin(0), b = begin(1), c = begin(2), d = begin(3);
      const auto add_numbers = [&](vuint16m2_t words, size_t k) {
        a = add(a, left_a[k], words);
        if constexpr (kCount == kRows) {
          b = add(b, left_b[k], words);
          c = add(c, left_c[k], words);
          d = add(d, left_d[k], words);
        }
      };
      // Adds the elements of one half of the words, the first of which is element k of the word.
      const auto add_half = [&](vuint16m2_t half, size_t k) {
        constexpr size_t n = kBlockFeatures;
        if constexpr (kIsByte) {
          add_numbers(__riscv_vand_vx_u16m2(half, 255, n), k);
          add_numbers(__riscv_vsrl_vx_u16m2(half, 8, n), k + 1);
        } else {
          add_numbers(__riscv_vand_vx_u16m2(half, 15, n), k);
          add_numbers(__riscv_vand_vx_u16m2(__riscv_vsrl_vx_u16m2(half, 4, n), 15, n), k + 4);
          add_numbers(__riscv_vand_vx_u16m2(__riscv_vsrl_vx_u16m2(half, 8, n), 15, n), k + 1);
          add_numbers(__riscv_vsrl_vx_u16m2(half, 12, n), k + 5);
        }
      };
      constexpr size_t kRun = kIsByte ? 4 : 8;
      for (size_t k = 0; k < depth; k += kRun, from += kPanelBytes) {
        // Elements 0 and 1 are in the lower half of a word, 2 and 3 in the upper one; with 4 bits also
        // elements 4 and 5, and 6 and 7.
        add_half(halves_of(from, 0), 0);
        add_half(halves_of(from, 16), 2);
        left_a += kRun;
        left_b += kRun;
        left_c += kRun;
        left_d += kRun;
      }
      finish_block(form, a, header(rows[0], block), scales, minimums, totals[0]);
      if constexpr (kCount == kRows) {
        finish_block(form, b, header(rows[1], block), scales, minimums, totals[1]);
        finish_block(form, c, header(rows[2], block), scales, minimums, totals[2]);
        finish_block(form, d, header(rows[3], block), scales, minimums, totals[3]);
      }
    }
  }
  for (size_t r = 0; r < kCount; ++r) finish_row(p, first + r, totals[r]);
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/block_wide_rows.inl"
