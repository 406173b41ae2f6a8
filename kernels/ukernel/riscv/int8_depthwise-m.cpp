// SPDX-License-Identifier: BSD-3-Clause
// RISC-V without vectors: two pixels by eight channels, whose sums stay in sixteen registers. In assembler,
// since compilers keep some in memory: 64 instructions for 16 products. The last channels are summed one at a
// time.
#include "kernels/ukernel/int8_depthwise.h"
#include "kernels/ukernel/riscv/quantize_rows.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kPixels = 2;
constexpr size_t kChannels = 8;

#if __riscv_xlen == 32
#define RL_LOAD "lw "
#define RL_SIZE "4"
#else
#define RL_LOAD "ld "
#define RL_SIZE "8"
#endif
// A channel at one tap: three loads, two products, two additions for two pixels.
#define RL_CHANNEL(at, first, second)                                \
  "lb %[w], " at "(%[weights])\nlb %[x], " at "(%[p])\nlb %[y], " at \
  "(%[q])\n"                                                         \
  "mul %[x], %[x], %[w]\nmul %[y], %[y], %[w]\n"                     \
  "add " first ", " first ", %[x]\nadd " second ", " second ", %[y]\n"

// sums[p][c] of kChannels channels from `channel` on, for taps > 0. Sums start from `bias`.
inline void sum_tile(const int8_t* const* a, const int8_t* const* b, size_t channel, const int8_t* weights,
                     ptrdiff_t stride, size_t taps, const int32_t* bias, int32_t* sums) {
  const int8_t* const* end = a + taps;
  // `bias` is read first; its register then holds weights, and at the end the address of the sums.
  uintptr_t p, q, x, y;
  asm volatile(
      "lw t0, 0(%[w])\nlw t2, 4(%[w])\nlw t4, 8(%[w])\nlw t6, 12(%[w])\n"
      "lw s2, 16(%[w])\nlw s4, 20(%[w])\nlw s6, 24(%[w])\nlw s8, 28(%[w])\n"
      "mv t1, t0\nmv t3, t2\nmv t5, t4\nmv s1, t6\nmv s3, s2\nmv s5, s4\nmv s7, s6\nmv s9, s8\n"
      "1:\n"
      RL_LOAD "%[p], 0(%[a])\n" RL_LOAD "%[q], 0(%[b])\n"
      "addi %[a], %[a], " RL_SIZE "\naddi %[b], %[b], " RL_SIZE "\n"
      "add %[p], %[p], %[channel]\nadd %[q], %[q], %[channel]\n"
      RL_CHANNEL("0", "t0", "t1") RL_CHANNEL("1", "t2", "t3") RL_CHANNEL("2", "t4", "t5")
      RL_CHANNEL("3", "t6", "s1") RL_CHANNEL("4", "s2", "s3") RL_CHANNEL("5", "s4", "s5")
      RL_CHANNEL("6", "s6", "s7") RL_CHANNEL("7", "s8", "s9")
      "add %[weights], %[weights], %[stride]\n"
      "bne %[a], %[end], 1b\n"
      RL_LOAD "%[w], %[sums]\n"
      "sw t0, 0(%[w])\nsw t2, 4(%[w])\nsw t4, 8(%[w])\nsw t6, 12(%[w])\n"
      "sw s2, 16(%[w])\nsw s4, 20(%[w])\nsw s6, 24(%[w])\nsw s8, 28(%[w])\n"
      "addi %[w], %[w], %[row]\n"
      "sw t1, 0(%[w])\nsw t3, 4(%[w])\nsw t5, 8(%[w])\nsw s1, 12(%[w])\n"
      "sw s3, 16(%[w])\nsw s5, 20(%[w])\nsw s7, 24(%[w])\nsw s9, 28(%[w])\n"
      : [a] "+&r"(a), [b] "+&r"(b), [weights] "+&r"(weights), [p] "=&r"(p), [q] "=&r"(q), [w] "+&r"(bias),
        [x] "=&r"(x), [y] "=&r"(y)
      : [channel] "r"(channel), [stride] "r"(stride), [end] "r"(end), [sums] "m"(sums),
        [row] "i"(sizeof(Block::sums[0]))
      : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "memory");
}

// The same for one channel and any number of taps.
inline void sum_channel(const int8_t* const* a, const int8_t* const* b, size_t channel, const int8_t* weights,
                        ptrdiff_t stride, size_t taps, const int32_t* bias, int32_t* sums) {
  int32_t first = *bias, second = first;
  for (const int8_t* const* end = a + taps; a != end; ++a, ++b, weights += stride) {
    first += (*a)[channel] * *weights;
    second += (*b)[channel] * *weights;
  }
  sums[0] = first;
  sums[kBlockColumns] = second;
}

}  // namespace

void depthwise_int8(const Int8Depthwise& strip) {
  Block block;
  block.out_stride = strip.out_stride;
  const int8_t* const* in = strip.in;
  int8_t* out = strip.out;
  for (size_t rest = strip.pixels; rest > 0; rest -= block.rows) {
    // Twelve pixels at a time, so that scales are loaded once for them; channels in the inner loop.
    block.rows = rest < kBlockRows ? rest : kBlockRows;
    for (size_t c = 0; c < strip.channels; c += block.columns) {
      // Eight channels, or one of the last ones.
      const bool is_tile = strip.channels - c >= kChannels && strip.taps > 0;
      block.columns = is_tile ? kChannels : 1;
      block.first = c;
      block.out = out + c;
      const int8_t* weights = strip.weights + c;
      const int32_t* bias = strip.bias == nullptr ? kNoBias : strip.bias + c;
      for (size_t p = 0; p < block.rows; p += kPixels) {
        const int8_t* const* first = in + p * strip.taps;
        // A missing pixel repeats the last one.
        const int8_t* const* second = first + (p + 1 < block.rows ? strip.taps : 0);
        if (is_tile) {
          sum_tile(first, second, c, weights, strip.weight_stride, strip.taps, bias, block.sums[p]);
        } else {
          sum_channel(first, second, c, weights, strip.weight_stride, strip.taps, bias, block.sums[p]);
        }
      }
      quantize_rows(strip.to, block);
    }
    in += block.rows * strip.taps;
    out += static_cast<ptrdiff_t>(block.rows) * strip.out_stride;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
