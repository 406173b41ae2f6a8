// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: vectors of four adjacent columns. A 3 x 3 kernel on a plane reads each row once with its
// neighbours and updates three rows of sums. Other planes gather any twelve positions. Depthwise sums have
// four channels in a vector; kernels of 2 or 3 rows and columns keep the addresses of all taps in registers.
#include <arm_mve.h>

#include "kernels/ukernel/generic/long_rows.h"
#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Convolves four columns of the plane from `x` on. In assembler, since compilers do not keep everything in
// registers: 32 instructions a row.
[[gnu::noinline]] void convolve_down(const PlaneConvolution& convolution, const float* kernel, size_t x) {
  const size_t columns = convolution.columns - x;
  const uint32_t here = vctp32q(columns);
  // The columns to the left; without the one before the plane.
  const uint32_t left = x > 0 ? vctp32q(columns + 1) : vctp32q(columns + 1) & 0xfff0u;
  const uint32_t left_and_right = left | static_cast<uint32_t>(vctp32q(columns - 1)) << 16;
  const float* in = convolution.in + x;
  float* out = convolution.out + x;
  // The first iteration stores no full sum; the second overwrites it.
  ptrdiff_t out_step = 0;
  // Register lists are in the order of the register numbers.
  register int32_t a asm("r3") = static_cast<int32_t>(convolution.rows);
  register int32_t b asm("r4") = __builtin_bit_cast(int32_t, convolution.initial);
  register int32_t c asm("r5");
  asm volatile(
      "vdup.32 q7, %[b]\n"
      "vmov q0, q7\n"
      "vmov q1, q7\n"
      "dls lr, %[a]\n"
      "1:\n"
      // The row's left neighbours, then right neighbours, then the columns, each with its mask: missing ones
      // are 0.
      "vmsr p0, %[masks]\n"
      "vpst\n"
      "vldrwt.u32 q4, [%[in], #-4]\n"
      "lsr %[c], %[masks], #16\n"
      "vmsr p0, %[c]\n"
      "vpst\n"
      "vldrwt.u32 q6, [%[in], #4]\n"
      // The last row of the kernel completes the sums q0, the middle one adds to q1, the first one starts q2.
      "ldm %[kernel]!, {%[a], %[b], %[c]}\n"
      "vfma.f32 q0, q4, %[a]\n"
      "vmsr p0, %[here]\n"
      "vpst\n"
      "vldrwt.u32 q5, [%[in]]\n"
      "vfma.f32 q0, q6, %[c]\n"
      "vmov q2, q7\n"
      "vfma.f32 q0, q5, %[b]\n"
      "ldm %[kernel]!, {%[a], %[b], %[c]}\n"
      "vfma.f32 q1, q4, %[a]\n"
      "add %[in], %[in_stride]\n"
      "vfma.f32 q1, q5, %[b]\n"
      "vpst\n"
      "vstrwt.32 q0, [%[out]]\n"
      "vfma.f32 q1, q6, %[c]\n"
      "ldm %[kernel], {%[a], %[b], %[c]}\n"
      "vfma.f32 q2, q4, %[a]\n"
      "sub %[kernel], #24\n"
      "vfma.f32 q2, q5, %[b]\n"
      // The sums move on by one output row.
      "vmov q0, q1\n"
      "vfma.f32 q2, q6, %[c]\n"
      "add %[out], %[out_step]\n"
      "mov %[out_step], %[out_stride]\n"
      "vmov q1, q2\n"
      "le lr, 1b\n"
      "vpst\n"
      "vstrwt.32 q0, [%[out]]\n"
      : [in] "+r"(in), [out] "+r"(out), [out_step] "+r"(out_step), [kernel] "+r"(kernel), [a] "+r"(a),
        [b] "+r"(b), [c] "=&r"(c)
      : [masks] "r"(left_and_right), [here] "r"(here), [in_stride] "r"(convolution.in_stride * 4),
        [out_stride] "r"(convolution.out_stride * 4)
      : "q0", "q1", "q2", "q4", "q5", "q6", "q7", "lr", "cc", "memory");
}

}  // namespace

void convolve_plane_3x3(const PlaneConvolution& convolution) {
  // Kernel rows from last to first: the order of the output rows that depend on an input row.
  float kernel[9];
  const float* row = convolution.kernel;
#pragma GCC unroll 3
  for (size_t i = 3; i-- > 0; row += convolution.kernel_row_stride) {
    const float* from = row;
#pragma GCC unroll 3
    for (size_t j = 0; j < 3; ++j, from += convolution.kernel_column_stride) kernel[3 * i + j] = *from;
  }
  for (size_t x = 0; x < convolution.columns; x += 4) convolve_down(convolution, kernel, x);
}

namespace {

// Tiles of one or three rows of weights. Assembler reads the members by their offsets. Steps are in bytes.
struct Shifts {
  const ShiftedTaps* taps;
  size_t count;
  const float* weight;
  ptrdiff_t weight_step;
  const float* in;
  float* out;
  ptrdiff_t out_step;
  const float* initial;
  size_t tiles;
};

// For each tile: starts the sums in q0 to q5 from values in memory or from `out`, adds all groups of taps,
// and stores the sums. A group of one, two or three taps ends the loop itself, which takes no branch but that
// back. r1: the columns of the group, r3 to r5: weights, r6: the columns of the tile, r7 to r9: free, r11:
// out.
#define RL_TILES(start, load, weights, one, two, three, store, bytes) \
  "push {r4-r11, lr}\n"                                               \
  "vpush {d8-d15}\n"                                                  \
  "mov r10, r0\n"                                                     \
  "ldr r6, [r10, #16]\n"                                              \
  "ldrd r11, r12, [r10, #20]\n"                                       \
  "0:\n"                                                              \
  "ldr r1, [r10, #28]\n"                                              \
  "cbz r1, 6f\n" start                                                \
  "b 7f\n"                                                            \
  "6:\n" load                                                         \
  "7:\n"                                                              \
  "ldrd r0, lr, [r10]\n"                                              \
  "ldrd r3, r5, [r10, #8]\n" weights                                  \
  "wls lr, lr, 5f\n"                                                  \
  "1:\n"                                                              \
  "ldrd r1, r2, [r0], #8\n"                                           \
  "add r1, r6\n"                                                      \
  "cbnz r2, 2f\n" one                                                 \
  "le lr, 1b\n"                                                       \
  "b 5f\n"                                                            \
  "2:\n"                                                              \
  "cmp r2, #1\n"                                                      \
  "beq 3f\n" three                                                    \
  "le lr, 1b\n"                                                       \
  "b 5f\n"                                                            \
  "3:\n" two                                                          \
  "le lr, 1b\n"                                                       \
  "5:\n" store "add r6, #" bytes                                      \
  "\n"                                                                \
  "add r11, #" bytes                                                  \
  "\n"                                                                \
  "ldr r2, [r10, #32]\n"                                              \
  "subs r2, #1\n"                                                     \
  "str r2, [r10, #32]\n"                                              \
  "bne 0b\n"                                                          \
  "vpop {d8-d15}\n"                                                   \
  "pop {r4-r11, pc}\n"

// One row: 16 columns take 30 instructions for the 48 products of three taps.
#define RL_VECTOR(sum, loaded, at, factor) \
  "vldrw.u32 " loaded ", [r1, #" at "]\n vfma.f32 " sum ", " loaded ", " factor "\n"
#define RL_TWO_VECTORS(at, next, factor) RL_VECTOR("q0", "q6", at, factor) RL_VECTOR("q1", "q7", next, factor)
#define RL_FOUR_VECTORS(a, b, c, d, factor) \
  RL_TWO_VECTORS(a, b, factor) RL_VECTOR("q2", "q6", c, factor) RL_VECTOR("q3", "q7", d, factor)

[[gnu::naked, gnu::noinline]] void add_sixteen([[maybe_unused]] Shifts* shifts) {
#define RL_FIRST RL_FOUR_VECTORS("0", "16", "32", "48", "r7")
#define RL_SECOND RL_FOUR_VECTORS("4", "20", "36", "52", "r8")
#define RL_THIRD RL_FOUR_VECTORS("8", "24", "40", "56", "r9")
  asm volatile(RL_TILES("ldr r2, [r1]\n vdup.32 q0, r2\n vdup.32 q1, r2\n vdup.32 q2, r2\n vdup.32 q3, r2\n",
                        "vldrw.32 q0, [r11]\n vldrw.32 q1, [r11, #16]\n"
                        "vldrw.32 q2, [r11, #32]\n vldrw.32 q3, [r11, #48]\n",
                        "", "ldr r7, [r3], #4\n" RL_FIRST, "ldm r3!, {r7, r8}\n" RL_FIRST RL_SECOND,
                        "ldm r3!, {r7, r8, r9}\n" RL_FIRST RL_SECOND RL_THIRD,
                        "vstrw.32 q0, [r11]\n vstrw.32 q1, [r11, #16]\n"
                        "vstrw.32 q2, [r11, #32]\n vstrw.32 q3, [r11, #48]\n",
                        "64"));
#undef RL_FIRST
#undef RL_SECOND
#undef RL_THIRD
}

[[gnu::naked, gnu::noinline]] void add_eight([[maybe_unused]] Shifts* shifts) {
#define RL_FIRST RL_TWO_VECTORS("0", "16", "r7")
#define RL_SECOND RL_TWO_VECTORS("4", "20", "r8")
#define RL_THIRD RL_TWO_VECTORS("8", "24", "r9")
  asm volatile(RL_TILES("ldr r2, [r1]\n vdup.32 q0, r2\n vdup.32 q1, r2\n",
                        "vldrw.32 q0, [r11]\n vldrw.32 q1, [r11, #16]\n", "", "ldr r7, [r3], #4\n" RL_FIRST,
                        "ldm r3!, {r7, r8}\n" RL_FIRST RL_SECOND,
                        "ldm r3!, {r7, r8, r9}\n" RL_FIRST RL_SECOND RL_THIRD,
                        "vstrw.32 q0, [r11]\n vstrw.32 q1, [r11, #16]\n", "32"));
#undef RL_FIRST
#undef RL_SECOND
#undef RL_THIRD
}

// Three rows: 8 columns take 38 instructions for the 72 products of three taps.
#define RL_TAP_OF_ROWS(low, high) \
  "ldr r7, [r3], #4\n"            \
  "vldrw.u32 q6, [r1, #" low      \
  "]\n"                           \
  "ldr r8, [r4], #4\n"            \
  "vldrw.u32 q7, [r1, #" high     \
  "]\n"                           \
  "vfma.f32 q0, q6, r7\n"         \
  "ldr r9, [r5], #4\n"            \
  "vfma.f32 q1, q7, r7\n"         \
  "vfma.f32 q2, q6, r8\n vfma.f32 q3, q7, r8\n vfma.f32 q4, q6, r9\n vfma.f32 q5, q7, r9\n"
// The three rows of a tile, from r11 on.
#define RL_ROWS(move)                                                                       \
  move " q0, [r11]\n " move " q1, [r11, #16]\n add r1, r11, r12\n" move " q2, [r1]\n " move \
       " q3, [r1, #16]\n add r1, r12\n" move " q4, [r1]\n " move " q5, [r1, #16]\n"

[[gnu::naked, gnu::noinline]] void add_eight_of_three([[maybe_unused]] Shifts* shifts) {
  asm volatile(
      RL_TILES("ldm r1, {r7, r8, r9}\n"
               "vdup.32 q0, r7\n vdup.32 q1, r7\n vdup.32 q2, r8\n"
               "vdup.32 q3, r8\n vdup.32 q4, r9\n vdup.32 q5, r9\n",
               RL_ROWS("vldrw.32"), "add r4, r3, r5\n add r5, r4\n", RL_TAP_OF_ROWS("0", "16"),
               RL_TAP_OF_ROWS("0", "16") RL_TAP_OF_ROWS("4", "20"),
               RL_TAP_OF_ROWS("0", "16") RL_TAP_OF_ROWS("4", "20") RL_TAP_OF_ROWS("8", "24"),
               RL_ROWS("vstrw.32"), "32"));
}

}  // namespace

void add_shifted(const ShiftedSums& sums) {
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  const auto add = [&](void (*tiles)(Shifts*), size_t row, size_t column, size_t count) {
    if (count == 0) return;
    const auto at = static_cast<ptrdiff_t>(row);
    Shifts shifts{sums.taps,
                  sums.count,
                  sums.weight + at * sums.weight_stride,
                  sums.weight_stride * kBytes,
                  sums.in + column,
                  sums.out + at * sums.out_stride + column,
                  sums.out_stride * kBytes,
                  sums.initial == nullptr ? nullptr : sums.initial + row,
                  count};
    tiles(&shifts);
  };
  size_t row = 0;
  for (; row + 3 <= sums.rows; row += 3) add(add_eight_of_three, row, 0, sums.columns / 8);
  for (; row < sums.rows; ++row) {
    add(add_sixteen, row, 0, sums.columns / 16);
    add(add_eight, row, sums.columns / 16 * 16, sums.columns % 16 / 8);
  }
}

namespace {

// Offsets of taps in bytes, the weights of a plane, and tiles. Assembler reads the members by their offsets.
struct Tiles {
  const int32_t* taps;
  const float* weight;
  size_t triples;  // taps / 3
  size_t rest;     // taps % 3
  const float* in;
  float* out;
  const PlaneTile* tiles;
  size_t count;
  float initial;
};

// Twelve sums of a tap, which has its first input at `at`.
#define RL_TAP_OF_TILE(at, factor)                                                     \
  "vldrw.u32 q6, [" at ", q3]\n vldrw.u32 q7, [" at ", q4]\n vfma.f32 q0, q6, " factor \
  "\n vldrw.u32 q6, [" at ", q5]\n vfma.f32 q1, q7, " factor "\n vfma.f32 q2, q6, " factor "\n"

// All tiles of a plane: three taps take 24 instructions for 36 products, and a tile 19.
[[gnu::naked, gnu::noinline]] void add_plane([[maybe_unused]] const Tiles* tiles) {
  asm volatile(
      "push {r4-r11, lr}\n"
      "vpush {d8-d15}\n"
      "mov r10, r0\n"
      "ldrd r6, r12, [r10, #16]\n"
      "ldrd r11, r5, [r10, #24]\n"
      "0:\n"
      "ldr r1, [r10, #32]\n"
      "vldrw.32 q3, [r11]\n"
      "vldrw.32 q4, [r11, #16]\n"
      "vldrw.32 q5, [r11, #32]\n"
      "vdup.32 q0, r1\n"
      "ldrd r0, r3, [r10]\n"
      "vmov q1, q0\n"
      "ldr lr, [r10, #8]\n"
      "vmov q2, q0\n"
      "wls lr, lr, 2f\n"
      "1:\n"
      "ldm r0!, {r1, r2, r4}\n"
      "ldm r3!, {r7, r8, r9}\n"
      "add r1, r6\n add r2, r6\n add r4, r6\n"  //
      RL_TAP_OF_TILE("r1", "r7") RL_TAP_OF_TILE("r2", "r8") RL_TAP_OF_TILE("r4", "r9")
      "le lr, 1b\n"
      "2:\n"
      "ldr lr, [r10, #12]\n"
      "wls lr, lr, 4f\n"
      "3:\n"
      "ldr r1, [r0], #4\n"
      "ldr r7, [r3], #4\n"
      "add r1, r6\n"  //
      RL_TAP_OF_TILE("r1", "r7")
      "le lr, 3b\n"
      "4:\n"
      "vldrw.32 q3, [r11, #48]\n"
      "vldrw.32 q4, [r11, #64]\n"
      "vldrw.32 q5, [r11, #80]\n"
      "vstrw.32 q0, [r12, q3]\n"
      "vstrw.32 q1, [r12, q4]\n"
      "vstrw.32 q2, [r12, q5]\n"
      "add r11, #96\n"
      "subs r5, #1\n"
      "bne 0b\n"
      "vpop {d8-d15}\n"
      "pop {r4-r11, pc}\n");
}

}  // namespace

void add_planes(const PlaneSums& sums) {
  static_assert(kTileColumns == 12 && kTilePositions == 12 && sizeof(PlaneTile) == 96);
  if (sums.counts[0] == 0) return;
  Tiles tiles{sums.taps,      sums.weight,    sums.count / 3,
              sums.count % 3, sums.in,        sums.out,
              sums.tiles,     sums.counts[0], 0};
  const float* initial = sums.initial;
  for (size_t left = sums.planes; left > 0; --left) {
    if (initial != nullptr) {
      tiles.initial = *initial;
      initial += sums.initial_plane;
    }
    add_plane(&tiles);
    tiles.in += sums.in_plane;
    tiles.weight += sums.weight_plane;
    tiles.out += sums.out_plane;
  }
}

// Four elements of a row at a time, the last ones masked. Other strides than 1 take gathers and scatters.
void copy_block(float* to, BlockStrides to_strides, const float* from, BlockStrides from_strides, size_t rows,
                size_t columns) {
  lengthen_rows(&to_strides, &from_strides, &rows, &columns);
  const bool adjacent = to_strides.column == 1 && from_strides.column == 1;
  const uint32x4_t lanes = vidupq_n_u32(0, 4);
  const uint32x4_t sources = vmulq_n_u32(lanes, static_cast<uint32_t>(from_strides.column));
  const uint32x4_t targets = vmulq_n_u32(lanes, static_cast<uint32_t>(to_strides.column));
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    const float* at = from;
    float* target = to;
    if (adjacent) {
      asm volatile(
          "wlstp.32 lr, %[columns], 2f\n"
          "1:\n"
          "vldrw.u32 q0, [%[at]], #16\n"
          "vstrw.32 q0, [%[target]], #16\n"
          "letp lr, 1b\n"
          "2:\n"
          : [at] "+r"(at), [target] "+r"(target)
          : [columns] "r"(columns)
          : "q0", "lr", "cc", "memory");
    } else {
      asm volatile(
          "wlstp.32 lr, %[columns], 2f\n"
          "1:\n"
          "vldrw.u32 q0, [%[at], %q[sources]]\n"
          "vstrw.32 q0, [%[target], %q[targets]]\n"
          "add %[at], %[step]\n"
          "add %[target], %[to_step]\n"
          "letp lr, 1b\n"
          "2:\n"
          : [at] "+r"(at), [target] "+r"(target)
          : [columns] "r"(columns), [sources] "w"(sources), [targets] "w"(targets),
            [step] "r"(from_strides.column * 16), [to_step] "r"(to_strides.column * 16)
          : "q0", "lr", "cc", "memory");
    }
  }
}

// A float16 is the lower half of a lane, and is converted there.
void widen_block(float* to, BlockStrides to_strides, const uint16_t* from, BlockStrides from_strides,
                 size_t rows, size_t columns) {
  const uint32x4_t lanes = vidupq_n_u32(0, 1);
  const uint32x4_t sources = vmulq_n_u32(lanes, static_cast<uint32_t>(from_strides.column));
  const uint32x4_t targets = vmulq_n_u32(lanes, static_cast<uint32_t>(to_strides.column));
  constexpr auto kFrom = static_cast<ptrdiff_t>(4 * sizeof(uint16_t)),
                 kTo = static_cast<ptrdiff_t>(4 * sizeof(float));
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    const uint16_t* at = from;
    float* target = to;
    asm volatile(
        "wlstp.32 lr, %[columns], 2f\n"
        "1:\n"
        "vldrh.u32 q0, [%[at], %q[sources], uxtw #1]\n"
        "vcvtb.f32.f16 q0, q0\n"
        "vstrw.32 q0, [%[target], %q[targets], uxtw #2]\n"
        "add %[at], %[step]\n"
        "add %[target], %[to_step]\n"
        "letp lr, 1b\n"
        "2:\n"
        : [at] "+r"(at), [target] "+r"(target)
        : [columns] "r"(columns), [sources] "w"(sources), [targets] "w"(targets),
          [step] "r"(from_strides.column * kFrom), [to_step] "r"(to_strides.column * kTo)
        : "q0", "lr", "cc", "memory");
  }
}

void narrow_block(uint16_t* to, BlockStrides to_strides, const float* from, BlockStrides from_strides,
                  size_t rows, size_t columns) {
  const uint32x4_t lanes = vidupq_n_u32(0, 1);
  const uint32x4_t sources = vmulq_n_u32(lanes, static_cast<uint32_t>(from_strides.column));
  const uint32x4_t targets = vmulq_n_u32(lanes, static_cast<uint32_t>(to_strides.column));
  constexpr auto kFrom = static_cast<ptrdiff_t>(4 * sizeof(float)),
                 kTo = static_cast<ptrdiff_t>(4 * sizeof(uint16_t));
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    const float* at = from;
    uint16_t* target = to;
    asm volatile(
        "wlstp.32 lr, %[columns], 2f\n"
        "1:\n"
        "vldrw.u32 q0, [%[at], %q[sources], uxtw #2]\n"
        "vcvtb.f16.f32 q0, q0\n"
        "vstrh.32 q0, [%[target], %q[targets], uxtw #1]\n"
        "add %[at], %[step]\n"
        "add %[target], %[to_step]\n"
        "letp lr, 1b\n"
        "2:\n"
        : [at] "+r"(at), [target] "+r"(target)
        : [columns] "r"(columns), [sources] "w"(sources), [targets] "w"(targets),
          [step] "r"(from_strides.column * kFrom), [to_step] "r"(to_strides.column * kTo)
        : "q0", "lr", "cc", "memory");
  }
}

namespace {

// Taps of several outputs. Steps are in bytes, from the end of an output to the next.
struct Taps {
  const float* in[9];
  const float* weight;  // 3 x 3 x 4 for each group
  const float* initial;
  float* out;
  uint32_t least;  // lower bound of the sums, as integers: a NaN sum has no sign here
  size_t groups;
  size_t outputs;
  ptrdiff_t in_step;
  ptrdiff_t out_step;
};

// Two or three rows of two or three taps, whose addresses are in registers: three instructions a tap and four
// for a group of channels.
#define RL_TAP_AT(address, weight) \
  "vldrw.32 q1, [" address "], #16\n vldrw.32 q2, " weight "\n vfma.f32 q0, q1, q2\n"
#define RL_TAP(address, weight) RL_TAP_AT(address, "[r9, #" weight "]")
#define RL_GROUPS(taps, advance)                                               \
  "push {r0, r4-r11, lr}\n"                                                    \
  "ldr r11, [r0, #44]\n"                                                       \
  "ldr r12, [r0, #48]\n"                                                       \
  "vdup.32 q3, r12\n"                                                          \
  "mov r12, r0\n"                                                              \
  "ldmia r0, {r0-r8}\n"                                                        \
  "1:\n"                                                                       \
  "ldrd r9, r10, [r12, #36]\n"                                                 \
  "ldr lr, [r12, #52]\n"                                                       \
  "sub r9, #144\n"                                                             \
  "dls lr, lr\n"                                                               \
  "2:\n"                                                                       \
  "vldrw.32 q0, [r10], #16\n" taps                                             \
  "vmax.s32 q0, q0, q3\n"                                                      \
  "vstrw.32 q0, [r11], #16\n"                                                  \
  "le lr, 2b\n"                                                                \
  "ldrd r9, r10, [r12, #60]\n"                                                 \
  "add r11, r10\n add r0, r9\n add r1, r9\n add r3, r9\n add r4, r9\n" advance \
  "ldr r9, [r12, #56]\n"                                                       \
  "subs r9, #1\n"                                                              \
  "str r9, [r12, #56]\n"                                                       \
  "bne 1b\n"                                                                   \
  "pop {r0, r4-r11, pc}\n"

// The first load advances to the weights of its group.
#define RL_FIRST_OF_2 RL_TAP_AT("r0", "[r9, #144]!") RL_TAP("r1", "16")
#define RL_SECOND_OF_2 RL_TAP("r3", "48") RL_TAP("r4", "64")
#define RL_FIRST_OF_3 RL_FIRST_OF_2 RL_TAP("r2", "32")
#define RL_SECOND_OF_3 RL_SECOND_OF_2 RL_TAP("r5", "80")
#define RL_THIRD_TAPS_ADVANCE "add r2, r9\n add r5, r9\n"
#define RL_THIRD_ROW_ADVANCE "add r6, r9\n add r7, r9\n"

[[gnu::naked, gnu::noinline]] void add_three_by_three([[maybe_unused]] Taps* taps) {
  asm volatile(RL_GROUPS(RL_FIRST_OF_3 RL_SECOND_OF_3 RL_TAP("r6", "96") RL_TAP("r7", "112")
                             RL_TAP("r8", "128"),
                         RL_THIRD_TAPS_ADVANCE RL_THIRD_ROW_ADVANCE "add r8, r9\n"));
}
[[gnu::naked, gnu::noinline]] void add_three_by_two([[maybe_unused]] Taps* taps) {
  asm volatile(
      RL_GROUPS(RL_FIRST_OF_2 RL_SECOND_OF_2 RL_TAP("r6", "96") RL_TAP("r7", "112"), RL_THIRD_ROW_ADVANCE));
}
[[gnu::naked, gnu::noinline]] void add_two_by_three([[maybe_unused]] Taps* taps) {
  asm volatile(RL_GROUPS(RL_FIRST_OF_3 RL_SECOND_OF_3, RL_THIRD_TAPS_ADVANCE));
}
[[gnu::naked, gnu::noinline]] void add_two_by_two([[maybe_unused]] Taps* taps) {
  asm volatile(RL_GROUPS(RL_FIRST_OF_2 RL_SECOND_OF_2, ""));
}

// Any number of taps: kOutputs outputs share the loads of the weights. Requires at least one row and one
// column of taps. The mask of the channels stays in the predicate: lanes past them load 0.
template <size_t kOutputs>
[[gnu::noinline]] void add_outputs(const ChannelSums& sums, const float* in, float* out, uint32_t least) {
  // ReLU as a maximum of integers: with the least int32 it has no effect.
  const int32x4_t lowest = vdupq_n_s32(static_cast<int32_t>(least));
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  const auto columns = static_cast<ptrdiff_t>(sums.columns);
  // In bytes: from tap to tap, and from the end of a row of taps to the next.
  const ptrdiff_t step = sums.column_stride * kBytes;
  const ptrdiff_t row_step = sums.row_stride * kBytes - columns * step;
  const ptrdiff_t weight_step = (sums.weight_row_stride - columns * 4) * kBytes;
  const float* group = sums.weight;
  for (size_t c = 0; c < sums.channels; c += 4, group += sums.group_stride) {
    const auto mask = static_cast<mve_pred16_t>(vctp32q(sums.channels - c));
    float32x4_t a = vld1q_z_f32(sums.initial + c, mask);
    const float* first = in + c;
    const float* weight = group;
    size_t rows = sums.rows;
    float* to = out + c;
    const auto store = [&](float32x4_t total) __attribute__((always_inline)) {
      vst1q_p_f32(to, vreinterpretq_f32_s32(vmaxq_s32(vreinterpretq_s32_f32(total), lowest)), mask);
      to += sums.out_step;
    };
    if constexpr (kOutputs == 1) {
      if (rows > 0) {
        asm volatile(
            "vmsr p0, %[mask]\n"
            "1:\n"
            "dls lr, %[columns]\n"
            "2:\n"
            "vpst\n"
            "vldrwt.u32 q6, [%[first]]\n"
            "vldrw.u32 q7, [%[weight]], #16\n"
            "add %[first], %[step]\n"
            "vfma.f32 %q[a], q6, q7\n"
            "le lr, 2b\n"
            "add %[first], %[row_step]\n"
            "add %[weight], %[weight_step]\n"
            "subs %[rows], #1\n"
            "bne 1b\n"
            : [first] "+r"(first), [weight] "+r"(weight), [rows] "+r"(rows), [a] "+w"(a)
            : [mask] "r"(mask), [columns] "r"(columns), [step] "r"(step), [row_step] "r"(row_step),
              [weight_step] "r"(weight_step)
            : "q6", "q7", "lr", "cc", "memory");
      }
      store(a);
    } else {
      float32x4_t b = a, c3 = a;
      const float* second = first + sums.in_step;
      const float* third = second + sums.in_step;
      if (rows > 0) {
        asm volatile(
            "vmsr p0, %[mask]\n"
            "1:\n"
            "dls lr, %[columns]\n"
            "2:\n"
            "vldrw.u32 q7, [%[weight]], #16\n"
            "vpsttt\n"
            "vldrwt.u32 q4, [%[first]]\n"
            "vldrwt.u32 q5, [%[second]]\n"
            "vldrwt.u32 q6, [%[third]]\n"
            "add %[first], %[step]\n"
            "vfma.f32 %q[a], q4, q7\n"
            "add %[second], %[step]\n"
            "vfma.f32 %q[b], q5, q7\n"
            "add %[third], %[step]\n"
            "vfma.f32 %q[c], q6, q7\n"
            "le lr, 2b\n"
            "add %[first], %[row_step]\n"
            "add %[second], %[row_step]\n"
            "add %[third], %[row_step]\n"
            "add %[weight], %[weight_step]\n"
            "subs %[rows], #1\n"
            "bne 1b\n"
            : [first] "+r"(first), [second] "+r"(second), [third] "+r"(third), [weight] "+r"(weight),
              [rows] "+r"(rows), [a] "+w"(a), [b] "+w"(b), [c] "+w"(c3)
            : [mask] "r"(mask), [columns] "r"(columns), [step] "r"(step), [row_step] "r"(row_step),
              [weight_step] "r"(weight_step)
            : "q4", "q5", "q6", "q7", "lr", "cc", "memory");
      }
      store(a);
      store(b);
      store(c3);
    }
  }
}

}  // namespace

void add_channels(const ChannelSums& sums) {
  const uint32_t least = sums.rectify ? 0 : 0x80000000u;
  const auto channels = static_cast<ptrdiff_t>(sums.channels);
  // Kernels of 2 or 3 rows and columns whose weights are stored as 3 x 3: those are the common 3 x 3 kernel
  // and its parts at the borders of an image.
  const bool is_known = sums.rows - 2 < 2 && sums.columns - 2 < 2 && sums.weight_row_stride == 3 * 4 &&
                        sums.group_stride == 9 * 4;
  if (is_known && channels % 4 == 0) {
    Taps taps;
    const float* row = sums.in;
    // Pointers to all nine taps; kernels of two rows or columns leave some unused.
    for (size_t i = 0; i < 9; i += 3, row += sums.row_stride) {
      taps.in[i] = row;
      taps.in[i + 1] = row + sums.column_stride;
      taps.in[i + 2] = row + 2 * sums.column_stride;
    }
    taps.weight = sums.weight;
    taps.initial = sums.initial;
    taps.out = sums.out;
    taps.least = least;
    taps.groups = sums.channels / 4;
    taps.outputs = sums.outputs;
    taps.in_step = (sums.in_step - channels) * static_cast<ptrdiff_t>(sizeof(float));
    taps.out_step = (sums.out_step - channels) * static_cast<ptrdiff_t>(sizeof(float));
    if (sums.rows == 2) return (sums.columns == 3 ? add_two_by_three : add_two_by_two)(&taps);
    return (sums.columns == 3 ? add_three_by_three : add_three_by_two)(&taps);
  }
  // Without taps the sums are the initial values: rows of no taps.
  ChannelSums some = sums;
  if (some.columns == 0) some.rows = 0;
  const float* in = some.in;
  float* out = some.out;
  size_t outputs = some.outputs;
  for (; outputs >= 3; outputs -= 3, in += 3 * some.in_step, out += 3 * some.out_step) {
    add_outputs<3>(some, in, out, least);
  }
  for (; outputs > 0; --outputs, in += some.in_step, out += some.out_step) {
    add_outputs<1>(some, in, out, least);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
