// SPDX-License-Identifier: BSD-3-Clause
// Block weights: integers of 4 or 8 bits, where groups along the depth share a scale and optionally a
// minimum. Programs store them in this one layout, which all instruction sets read.
//
// A weight has the shape [features, depth] and the value scale * (q - zero), or scale * q + minimum. q is
// unsigned; `zero` is 8 for 4 bits and 128 for 8 bits. A panel holds kBlockFeatures features, padded with
// scale, minimum and q 0. Panels are contiguous, and so are the groups of a panel. A group is
//
//   scales[16], minimums[16] (if any)     both float16 or both float32
//   words[group / run][16]                4 bytes: `run` elements along the depth of one feature
//
// With 8 bits a word has 4 elements: byte i is q[k + i]. With 4 bits it has 8: byte i has q[k + i] in its
// lower half and q[k + 4 + i] in its upper half. Elements past the depth are 0.
//
// Float16 weights have panels of as many features, [depth][kBlockFeatures].
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::ukernel {

inline constexpr size_t kBlockFeatures = 16;
inline constexpr float kBlockLeast = 1e-30F;  // row blocks whose elements are all smaller become 0

// The format of a weight; depth >= 1. An argument of all functions of block_gemm.h, since a panel has no
// header. Groups of 32 with float16 scales hold the values of GGML's Q8_0 and Q4_0, and with minimums of
// Q4_1, in another order.
struct BlockForm {
  size_t depth = 0;
  size_t group = 32;       // elements that share a scale: 16, 32, or a multiple of 32
  bool is_byte = false;    // 8 bits
  bool is_single = false;  // scales and minimums are float32
  bool has_minimum = false;
  bool is_narrow = false;  // rows are quantized to 8 bits, not 16

  [[nodiscard]] constexpr size_t groups() const { return (depth + group - 1) / group; }
  [[nodiscard]] constexpr size_t run() const { return is_byte ? 4 : 8; }
  [[nodiscard]] constexpr int32_t zero() const { return is_byte ? 128 : 8; }
  [[nodiscard]] constexpr int32_t most() const { return is_narrow ? 127 : 32512; }
  // Bytes of the scales (or minimums) of a group, of its header, of a group and of a panel.
  [[nodiscard]] constexpr size_t scale_bytes() const { return kBlockFeatures * (is_single ? 4 : 2); }
  [[nodiscard]] constexpr size_t header_bytes() const { return scale_bytes() * (has_minimum ? 2 : 1); }
  [[nodiscard]] constexpr size_t group_bytes() const {
    return header_bytes() + group / run() * kBlockFeatures * sizeof(uint32_t);
  }
  [[nodiscard]] constexpr size_t panel_bytes() const { return groups() * group_bytes(); }
  // Elements of a row that share one quantization scale, and the number of such blocks in a row.
  [[nodiscard]] constexpr size_t block_depth() const { return group < 32 ? group : 32; }
  [[nodiscard]] constexpr size_t blocks() const { return groups() * (group / block_depth()); }
};

// Reads a panel element by element.
struct BlockPanel {
  const BlockForm& form;
  const uint8_t* data;

  [[nodiscard]] int32_t number(size_t feature, size_t k) const {
    const size_t in_group = k % form.group, in_word = in_group % form.run();
    const uint8_t* word = scales(k / form.group) + form.header_bytes() +
                          (in_group / form.run() * kBlockFeatures + feature) * sizeof(uint32_t);
    return form.is_byte ? word[in_word] : word[in_word % 4] >> (in_word / 4 * 4) & 15;
  }
  // Scales or minimums of a group: kBlockFeatures float16 or float32 values, aligned to bytes.
  [[nodiscard]] const uint8_t* scales(size_t group) const { return data + group * form.group_bytes(); }
  [[nodiscard]] const uint8_t* minimums(size_t group) const { return scales(group) + form.scale_bytes(); }
};

}  // namespace rushlight::ukernel
