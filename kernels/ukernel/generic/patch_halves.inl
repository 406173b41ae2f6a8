// SPDX-License-Identifier: BSD-3-Clause
// Block copies from and to float16 with scalars. A source with its own widened() and narrowed() defines
// RL_OWN_HALVES before it includes this.
#include "kernels/ukernel/generic/half.inl"
#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

#ifndef RL_OWN_HALVES
#if defined(__riscv_flen)
// With the exponent's bits in place, a product with 2^112 corrects its bias, of subnormals too; the registers
// do not flush them. Infinity and NaN get the largest exponent.
RL_INLINE float widened(uint16_t half) {
  const uint32_t wide = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(half))) << 13;
  const float value = of_pattern(wide & 0x8fffe000u) * 0x1p112f;
  if ((half & 0x7c00u) == 0x7c00u) return of_pattern(pattern_of(value) | 0x7f800000u);
  return value;
}
#else
RL_INLINE float widened(uint16_t half) { return half_value(half); }
#endif
RL_INLINE uint16_t narrowed(float value) { return half_pattern(value); }
#endif

// Contiguous elements are read four at a time.
template <class To, class From, class Convert>
[[gnu::always_inline]] inline void convert_block(To* to, BlockStrides to_strides, const From* from,
                                                 BlockStrides from_strides, size_t rows, size_t columns,
                                                 Convert convert) {
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    const From* at = from;
    To* target = to;
    size_t i = columns;
    if (from_strides.column == 1) {
      for (; i >= 4; i -= 4, at += 4) {
        RL_UNROLL for (size_t k = 0; k < 4; ++k, target += to_strides.column)* target = convert(at[k]);
      }
    }
    for (; i > 0; --i, at += from_strides.column, target += to_strides.column) {
      *target = convert(*at);
    }
  }
}

}  // namespace

void widen_block(float* to, BlockStrides to_strides, const uint16_t* from, BlockStrides from_strides,
                 size_t rows, size_t columns) {
  convert_block(to, to_strides, from, from_strides, rows, columns, widened);
}

void narrow_block(uint16_t* to, BlockStrides to_strides, const float* from, BlockStrides from_strides,
                  size_t rows, size_t columns) {
  convert_block(to, to_strides, from, from_strides, rows, columns, narrowed);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
