// SPDX-License-Identifier: BSD-3-Clause
// Products of float32 rows with block weights: integers of 4 or 8 bits whose groups along the depth have a
// scale and maybe a minimum, in the one order that programs store and all instruction sets read.
//
// A weight is [features, depth]. value = scale * (q - zero), or scale * q + minimum; q is unsigned, `zero` is
// 8 of 4 bits, 128 of 8 bits. A panel holds kBlockFeatures features; features past the end have scale,
// minimum and q 0. Panels and their groups lie behind each other. A group holds
//
//   scales[16], minimums[16] (if any)     both float16 or both float32
//   words[group / run][16]                4 bytes: `run` numbers along the depth of one feature
//
// A run of 8 bits is 4 numbers, byte i has q[k + i]. A run of 4 bits is 8 numbers, byte i has q[k + i] in its
// lower half and q[k + 4 + i] in its upper one. Numbers past the depth are 0.
//
// Rows are quantized in blocks of block_depth(form) numbers. With m = max |x| of the block and `most` =
// 32512, or 127 where the form is narrow:
//
//   q = round(x * (most / m)), halves to even; scale = m / most
//
// each step in float32. All is 0 where m < kBlockLeast; the scale is NaN where a number is not finite. The
// result is a sum over blocks in order, in float32, each step rounded by itself, so that all variants give
// the same bits:
//
//   without minimums   sum += float(sum of (w - zero) q) * (weight scale * scale)
//   with minimums      sum += float(sum of w q) * (weight scale * scale)
//                      sum += (float(sum of q) * scale) * minimum
//   out = sum (+ bias) (+ residual)
//
// Sums of integers are exact in 32 bits: 255 * 32512 * 32 at most.
//
// Promises: nothing is read or written but what is described; quantized rows are aligned to 64 bytes, nothing
// else needs more alignment than its type, weights none. `out` may be `residual`, and overlaps nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

inline constexpr size_t kBlockFeatures = 16;
inline constexpr float kBlockLeast = 1e-30F;

struct BlockForm {
  size_t depth = 0;
  size_t group = 32;       // numbers that share a scale: 16, 32, or a multiple of 32
  bool is_byte = false;    // 8 bits
  bool is_single = false;  // scales and minimums are float32
  bool has_minimum = false;
  bool is_narrow = false;  // rows are quantized to 8 bits, not 16

  [[nodiscard]] constexpr size_t groups() const { return (depth + group - 1) / group; }
  [[nodiscard]] constexpr size_t run() const { return is_byte ? 4 : 8; }
  [[nodiscard]] constexpr int32_t zero() const { return is_byte ? 128 : 8; }
  [[nodiscard]] constexpr int32_t most() const { return is_narrow ? 127 : 32512; }
  // Bytes of a group's scales, or minimums; of its header; of a group; of a panel.
  [[nodiscard]] constexpr size_t scale_bytes() const { return kBlockFeatures * (is_single ? 4 : 2); }
  [[nodiscard]] constexpr size_t header_bytes() const { return scale_bytes() * (has_minimum ? 2 : 1); }
  [[nodiscard]] constexpr size_t group_bytes() const {
    return header_bytes() + group / run() * kBlockFeatures * sizeof(uint32_t);
  }
  [[nodiscard]] constexpr size_t panel_bytes() const { return groups() * group_bytes(); }
  // Numbers of a row that are quantized together, and how many such blocks a row has.
  [[nodiscard]] constexpr size_t block_depth() const { return group < 32 ? group : 32; }
  [[nodiscard]] constexpr size_t blocks() const { return groups() * (group / block_depth()); }
};

// A panel, number by number.
struct BlockPanel {
  const BlockForm& form;
  const uint8_t* data;

  [[nodiscard]] int32_t number(size_t feature, size_t k) const {
    const size_t in_group = k % form.group, in_run = in_group % form.run();
    const uint8_t* word = scales(k / form.group) + form.header_bytes() +
                          (in_group / form.run() * kBlockFeatures + feature) * sizeof(uint32_t);
    return form.is_byte ? word[in_run] : word[in_run % 4] >> (in_run / 4 * 4) & 15;
  }
  // Of the features of a group, float16 or float32, aligned to bytes.
  [[nodiscard]] const uint8_t* scales(size_t group) const { return data + group * form.group_bytes(); }
  [[nodiscard]] const uint8_t* minimums(size_t group) const { return scales(group) + form.scale_bytes(); }
};

// Bytes of a quantized row, a multiple of 64; quantizes form.depth numbers.
RL_UKERNEL_INTEGER(size_t, block_row_bytes, (const BlockForm& form), (form))
RL_UKERNEL_INTEGER(void, quantize_block_row, (const BlockForm& form, const float* from, void* to),
                   (form, from, to))

struct BlockGemm {
  BlockForm form;
  size_t rows = 0;
  size_t features = 0;  // 1 to kBlockFeatures

  const void* left = nullptr;  // quantized rows
  size_t left_stride = 0;      // bytes from row to row
  const void* panel = nullptr;
  const float* bias = nullptr;      // of each feature; null: none
  const float* residual = nullptr;  // null: none
  ptrdiff_t residual_stride = 0;    // from row to row; numbers of a row are adjacent

  float* out = nullptr;
  ptrdiff_t out_stride = 0;
};
// Multiplies rows with one panel.
RL_UKERNEL_INTEGER(void, multiply_blocks, (const BlockGemm& product), (product))

}  // namespace rushlight::ukernel
