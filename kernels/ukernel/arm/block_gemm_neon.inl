// SPDX-License-Identifier: BSD-3-Clause
// Shared by the Neon variants of block_gemm. A quantized row holds signed bytes, q = 256 * high + low: for
// each eight elements the high bytes (not if the form is narrow), then the low bytes. Each variant defines a
// tile with
//
//   kCount, kVecs                       rows, and vectors of four features
//   begin(sums)                         starts the sums of row r from sums[r]
//   add(left, from)                     adds eight elements of each row times kVecs vectors of words
//   sum(r, v)                           the sums of row r for the features of vector v
//
// Elements of 8 bits are made signed, which subtracts their zero.
#include <arm_neon.h>

#include "kernels/ukernel/generic/block_rows.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kVecFeatures = 4;
constexpr size_t kWordBytes = kBlockFeatures * sizeof(uint32_t);
constexpr size_t kStep = 8;  // elements that are added at once

template <bool kByte, bool kNarrowRows>
struct Layout {
  static constexpr bool kIsByte = kByte;
  static constexpr bool kIsNarrow = kNarrowRows;
  static constexpr size_t kParts = kNarrowRows ? 1 : 2;
  static constexpr size_t kRowStep = kStep * kParts;                         // bytes of 8 row elements
  static constexpr size_t kPanelStep = kByte ? 2 * kWordBytes : kWordBytes;  // bytes of 8 panel elements
};

// Elements 0 to 3 and 4 to 7 of four features.
template <class K>
struct Numbers {
  int8x16_t first;
  int8x16_t second;
  RL_INLINE explicit Numbers(const uint8_t* from) {
    const uint8x16_t bytes = vld1q_u8(from);
    if constexpr (K::kIsByte) {
      const uint8x16_t sign = vdupq_n_u8(0x80);
      first = vreinterpretq_s8_u8(veorq_u8(bytes, sign));
      second = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(from + kWordBytes), sign));
    } else {
      first = vreinterpretq_s8_u8(vandq_u8(bytes, vdupq_n_u8(15)));
      second = vreinterpretq_s8_u8(vshrq_n_u8(bytes, 4));
    }
  }
};

// The start of a block's sums, which corrects for the zero of the stored elements.
RL_INLINE int32_t first_sum(const BlockForm& form, const BlockHeader& head) {
  if (form.is_byte) return form.has_minimum ? head.correction : 0;
  return form.has_minimum ? 0 : -head.correction;
}

RL_INLINE float32x4_t from_halves(uint16x4_t halves) {
#if defined(__aarch64__)
  return vcvt_f32_f16(vreinterpret_f16_u16(halves));
#else
  float32x4_t values;  // GCC has the intrinsic only with a float16 type
  asm("vcvt.f32.f16 %q0, %P1" : "=w"(values) : "w"(halves));
  return values;
#endif
}

RL_INLINE float32x4_t load_four(const BlockForm& form, const uint8_t* from, size_t feature) {
  if (form.is_single) return vreinterpretq_f32_u8(vld1q_u8(from + feature * sizeof(float)));
  return from_halves(vreinterpret_u16_u8(vld1_u8(from + feature * sizeof(uint16_t))));
}

// Multiplies a tile's rows with its features, from `feature` of the panel on.
template <class K, class Tile>
RL_INLINE void multiply_tile(const BlockGemm& p, size_t row, size_t feature, float (*out)[kBlockFeatures]) {
  constexpr size_t kCount = Tile::kCount, kVecs = Tile::kVecs;
  const BlockForm& form = p.form;
  const char* rows[kCount];
  const int8_t* left[kCount];
  RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
    rows[r] = static_cast<const char*>(p.left) + (row + r) * p.left_stride;
    left[r] = reinterpret_cast<const int8_t*>(rows[r] + header_bytes(form));
  }
  const auto* from = static_cast<const uint8_t*>(p.panel);
  const size_t steps = form.block_depth() / kStep, blocks = form.group / form.block_depth();
  float32x4_t totals[kCount][kVecs];
  RL_UNROLL for (auto& of_row : totals) {
    RL_UNROLL for (float32x4_t& total : of_row) total = vdupq_n_f32(0);
  }
  for (size_t g = 0, block = 0; g < form.groups(); ++g) {
    float32x4_t scales[kVecs], minimums[kVecs] = {};
    RL_UNROLL for (size_t v = 0; v < kVecs; ++v) {
      const size_t first = feature + kVecFeatures * v;
      scales[v] = load_four(form, from, first);
      if (form.has_minimum) minimums[v] = load_four(form, from + form.scale_bytes(), first);
    }
    from += form.header_bytes();
    for (const size_t end = block + blocks; block < end; ++block) {
      int32_t begin[kCount];
      RL_UNROLL for (size_t r = 0; r < kCount; ++r) begin[r] = first_sum(form, header(rows[r], block));
      Tile tile;
      tile.begin(begin);
      for (size_t i = 0; i < steps; ++i, from += K::kPanelStep) {
        tile.add(left, from + feature * sizeof(uint32_t));
        RL_UNROLL for (const int8_t*& at : left) at += K::kRowStep;
      }
      RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
        const BlockHeader head = header(rows[r], block);
        RL_UNROLL for (size_t v = 0; v < kVecs; ++v) {
          const float32x4_t scale = rounded(vmulq_n_f32(scales[v], head.scale));
          const float32x4_t part = rounded(vmulq_f32(vcvtq_f32_s32(tile.sum(r, v)), scale));
          totals[r][v] = vaddq_f32(totals[r][v], part);
          if (form.has_minimum) {
            totals[r][v] = vaddq_f32(totals[r][v], rounded(vmulq_n_f32(minimums[v], head.sum)));
          }
        }
      }
    }
  }
  RL_UNROLL for (size_t r = 0; r < kCount; ++r) {
    RL_UNROLL for (size_t v = 0; v < kVecs; ++v) vst1q_f32(out[r] + feature + kVecFeatures * v, totals[r][v]);
  }
}

// Multiplies the tile's rows with all features of the panel.
template <class K, class Tile>
void multiply_rows(const BlockGemm& p, size_t row) {
  float out[Tile::kCount][kBlockFeatures];
  for (size_t feature = 0; feature < kBlockFeatures; feature += kVecFeatures * Tile::kVecs) {
    multiply_tile<K, Tile>(p, row, feature, out);
  }
  for (size_t r = 0; r < Tile::kCount; ++r) finish_row(p, row + r, out[r]);
}

// Calls a function with the layout of a form.
template <class Function>
RL_INLINE auto with_layout(const BlockForm& form, const Function& function) {
  if (form.is_byte) return form.is_narrow ? function(Layout<true, true>()) : function(Layout<true, false>());
  return form.is_narrow ? function(Layout<false, true>()) : function(Layout<false, false>());
}

}  // namespace

size_t block_row_bytes(const BlockForm& form) {
  return with_layout(form, [&](auto layout) {
    return header_bytes(form) + whole(form.blocks() * form.block_depth() * layout.kParts);
  });
}

void quantize_block_row(const BlockForm& form, const float* from, void* to) {
  with_layout(form, [&](auto layout) {
    using K = decltype(layout);
    auto* const numbers = reinterpret_cast<int8_t*>(static_cast<char*>(to) + header_bytes(form));
    quantize_blocks(form, from, to, [&](size_t block, const int32_t* q) {
      int8_t* at = numbers + block * form.block_depth() * K::kParts;
      for (size_t k = 0; k < form.block_depth(); k += kStep, at += K::kRowStep) {
        const int16x8_t eight = vcombine_s16(vmovn_s32(vld1q_s32(q + k)), vmovn_s32(vld1q_s32(q + k + 4)));
        if constexpr (!K::kIsNarrow) vst1_s8(at, vrshrn_n_s16(eight, 8));
        vst1_s8(at + K::kRowStep - kStep, vmovn_s16(eight));
      }
    });
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
