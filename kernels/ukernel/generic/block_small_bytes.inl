// SPDX-License-Identifier: BSD-3-Clause
// block_gemm with scalar products: kFeatures features share the loaded elements of a row. For 4 bits, a byte
// x is high * 16 + low, and 16 * (high * p + low * q) = x * p + low * (16 * q - p): one mask and no shift for
// two products. A quantized row holds p and 16 * q - p; sums are divided by 16 at the end.
#include "kernels/ukernel/generic/block_small_scalar.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE size_t row_block_bytes(const BlockForm& form) { return form.block_depth() * sizeof(int32_t); }

void store_block(const BlockForm& form, const int32_t* q, char* to) {
  auto* at = reinterpret_cast<int32_t*>(to);
  if (form.is_byte) {
    std::memcpy(at, q, row_block_bytes(form));
    return;
  }
  for (size_t k = 0; k < form.block_depth(); k += (k % 4 == 3 ? 5 : 1)) {
    *at++ = q[k + 4];
    *at++ = 16 * q[k] - q[k + 4];
  }
}

// The elements of a row by which a byte is multiplied.
template <bool kIsByte>
struct Factors {
  int32_t whole;
  int32_t low = 0;
  RL_INLINE explicit Factors(const int32_t* row) : whole(row[0]) {
    if constexpr (!kIsByte) low = row[1];
  }
};

template <bool kIsByte>
RL_INLINE int32_t add_byte(int32_t sum, uint32_t byte, const Factors<kIsByte>& factors) {
  sum += static_cast<int32_t>(byte) * factors.whole;
  if constexpr (!kIsByte) sum += static_cast<int32_t>(byte & 15) * factors.low;
  return sum;
}

// Sums are separate variables: compilers that optimize for size keep arrays in memory.
template <bool kIsByte>
void sum_block(const uint8_t* words, const char* left, size_t steps, int32_t* sums) {
  constexpr size_t kBytes = sizeof(uint32_t), kNumbers = kIsByte ? 4 : 8;
  for (const int32_t* const end = sums + kBlockFeatures; sums != end; words += kFeatures * kBytes) {
    const auto* row = reinterpret_cast<const int32_t*>(left);
    const int32_t* const row_end = row + steps * kNumbers;
    const uint8_t* at = words;
    int32_t a = 0, b = 0, c = 0, d = 0;
    do {
      RL_UNROLL
      for (size_t i = 0; i < kBytes; ++i, row += kNumbers / kBytes) {
        const Factors<kIsByte> factors(row);
        a = add_byte(a, at[i], factors);
        b = add_byte(b, at[kBytes + i], factors);
        if constexpr (kFeatures == 4) {
          c = add_byte(c, at[2 * kBytes + i], factors);
          d = add_byte(d, at[3 * kBytes + i], factors);
        }
      }
      at += kWordBytes;
    } while (row != row_end);
    constexpr int kShift = kIsByte ? 0 : 4;
    *sums++ = a >> kShift;
    *sums++ = b >> kShift;
    if constexpr (kFeatures == 4) {
      *sums++ = c >> kShift;
      *sums++ = d >> kShift;
    }
  }
}

SumBlock sum_block_of(const BlockForm& form) { return form.is_byte ? sum_block<true> : sum_block<false>; }

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/block_small_rows.inl"
