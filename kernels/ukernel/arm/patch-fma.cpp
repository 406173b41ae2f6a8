// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M4F, M7F and M33F: loads of several registers, which compilers do not emit. Eight channels take two
// loads and eight multiply-adds a tap, sixteen shifted columns with three taps 57 instructions. Planes take
// the scalar code of patch_planes.inl.
#define RL_OWN_CHANNELS
#define RL_OWN_SHIFTS
#define RL_OWN_HALVES
#define RL_OWN_TILES
#define RL_OWN_BLOCKS
#include "kernels/ukernel/arm/halves.h"
#include "kernels/ukernel/generic/patch_planes.inl"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Steps in bytes. Assembler reads the members by their offsets.
struct Steps {
  ptrdiff_t in;      // from tap to tap
  ptrdiff_t in_row;  // from the end of a row of taps to the next row
  ptrdiff_t weight_row;
  size_t columns;
};

constexpr ptrdiff_t bytes(ptrdiff_t elements) { return elements * static_cast<ptrdiff_t>(sizeof(float)); }

// Eight channels of one output: sums in s0 to s7, inputs in s8 to s15, weights in s16 to s23. Requires at
// least one row and one column of taps.
void add_group(const Steps& steps, const float* in, const float* weight, size_t rows, const float* initial,
               float* out) {
  size_t left;
  ptrdiff_t step, row_step;
  asm volatile(
      "vldmia %[initial], {s0-s7}\n"
      "ldrd %[step], %[row_step], [%[steps]]\n"
      "1:\n"
      "ldr %[left], [%[steps], #12]\n"
      "2:\n"
      "vldmia %[in], {s8-s15}\n"
      "vldmia %[weight]!, {s16-s23}\n"
      "vfma.f32 s0, s8, s16\n vfma.f32 s1, s9, s17\n vfma.f32 s2, s10, s18\n vfma.f32 s3, s11, s19\n"
      "vfma.f32 s4, s12, s20\n vfma.f32 s5, s13, s21\n vfma.f32 s6, s14, s22\n vfma.f32 s7, s15, s23\n"
      "add %[in], %[step]\n"
      "subs %[left], %[left], #1\n"
      "bne 2b\n"
      "ldr %[left], [%[steps], #8]\n"
      "add %[in], %[row_step]\n"
      "add %[weight], %[left]\n"
      "subs %[rows], %[rows], #1\n"
      "bne 1b\n"
      "vstmia %[out], {s0-s7}\n"
      : [in] "+r"(in), [weight] "+r"(weight), [rows] "+r"(rows), [left] "=&r"(left), [step] "=&r"(step),
        [row_step] "=&r"(row_step)
      : [initial] "r"(initial), [out] "r"(out), [steps] "r"(&steps)
      : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15",
        "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc", "memory");
}

// A single channel, of the last group: its weights are kChannelGroup apart.
void add_one(const ChannelSums& sums, const float* in, const float* weight, const float* initial,
             float* out) {
  float total = *initial;
  for (size_t y = sums.rows; y > 0; --y, in += sums.row_stride, weight += sums.weight_row_stride) {
    const float* at = in;
    for (size_t x = 0; x < sums.columns; ++x, at += sums.column_stride)
      total += weight[x * kChannelGroup] * *at;
  }
  *out = total;
}

#define RL_SUMS                                                                                         \
  "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", \
      "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", \
      "s30", "s31", "cc", "memory"
// A weight times eight columns, to the eight sums s0 to s7 or s8 to s15. The columns are in s16 to s23, or
// one or two further for the second and third tap of a group.
#define RL_FMA(sum, in, factor) "vfma.f32 s" #sum ", s" #in ", " factor "\n"
#define RL_EIGHT(a, b, c, d, e, f, g, h, p, q, r, s, t, u, v, w, factor) \
  RL_FMA(a, p, factor)                                                   \
  RL_FMA(b, q, factor)                                                   \
  RL_FMA(c, r, factor)                                                   \
  RL_FMA(d, s, factor) RL_FMA(e, t, factor) RL_FMA(f, u, factor) RL_FMA(g, v, factor) RL_FMA(h, w, factor)
#define RL_LOW(...) RL_EIGHT(0, 1, 2, 3, 4, 5, 6, 7, __VA_ARGS__)
#define RL_HIGH(...) RL_EIGHT(8, 9, 10, 11, 12, 13, 14, 15, __VA_ARGS__)
#define RL_ONE(half, a) half(16, 17, 18, 19, 20, 21, 22, 23, a)
#define RL_TWO(half, a, b) RL_ONE(half, a) half(17, 18, 19, 20, 21, 22, 23, 24, b)
#define RL_THREE(half, a, b, c) RL_TWO(half, a, b) half(18, 19, 20, 21, 22, 23, 24, 25, c)
// All groups of taps: at `at` the columns of the next one, then the instructions for one, two or three taps.
// Each ends the loop itself, which takes no branch but that back.
#define RL_NEXT_TAPS "subs %[count], #1\n bne 1b\n"
#define RL_TAPS(one, two, three)         \
  "cmp %[count], #0\n"                   \
  "beq 5f\n"                             \
  "1:\n"                                 \
  "ldrd %[at], %[more], [%[taps]], #8\n" \
  "add %[at], %[in]\n"                   \
  "cbnz %[more], 2f\n" one RL_NEXT_TAPS  \
  "b 5f\n"                               \
  "2:\n"                                 \
  "cmp %[more], #1\n"                    \
  "beq 3f\n" three RL_NEXT_TAPS          \
  "b 5f\n"                               \
  "3:\n" two RL_NEXT_TAPS "5:\n"

// kRows rows of weights and 16 / kRows columns; adds to the sums at `out`. The columns of a group and its
// weights are in s16 to s31.
template <size_t kRows>
inline void add_tile(const ShiftedSums& sums, const float* in, const float* weight, float* out) {
  const ShiftedTaps* taps = sums.taps;
  size_t count = sums.count;
  uint32_t at, more;
  if constexpr (kRows == 2) {
    float* second = out + sums.out_stride;
    const float* next = weight + sums.weight_stride;
    asm volatile("vldmia %[out], {s0-s7}\n"
                 "vldmia %[second], {s8-s15}\n" RL_TAPS(
                     "vldmia %[at], {s16-s23}\n vldmia %[weight]!, {s26}\n vldmia %[next]!, {s29}\n"  //
                     RL_ONE(RL_LOW, "s26") RL_ONE(RL_HIGH, "s29"),
                     "vldmia %[at], {s16-s24}\n vldmia %[weight]!, {s26-s27}\n vldmia %[next]!, {s29-s30}\n"  //
                     RL_TWO(RL_LOW, "s26", "s27") RL_TWO(RL_HIGH, "s29", "s30"),
                     "vldmia %[at], {s16-s25}\n vldmia %[weight]!, {s26-s28}\n vldmia %[next]!, {s29-s31}\n"  //
                     RL_THREE(RL_LOW, "s26", "s27", "s28") RL_THREE(RL_HIGH, "s29", "s30", "s31"))
                 "vstmia %[out], {s0-s7}\n"
                 "vstmia %[second], {s8-s15}\n"
                 : [taps] "+r"(taps), [count] "+l"(count), [at] "=&r"(at), [more] "=&l"(more),
                   [weight] "+r"(weight), [next] "+r"(next)
                 : [in] "r"(in), [out] "r"(out), [second] "r"(second)
                 : RL_SUMS);
  } else {
    asm volatile(
        "vldmia %[out], {s0-s15}\n" RL_TAPS(
            "vldmia %[weight]!, {s26}\n vldmia %[at]!, {s16-s23}\n"  //
            RL_ONE(RL_LOW, "s26") "vldmia %[at], {s16-s23}\n" RL_ONE(RL_HIGH, "s26"),
            "vldmia %[weight]!, {s26-s27}\n vldmia %[at], {s16-s24}\n"                 //
            RL_TWO(RL_LOW, "s26", "s27") "add %[at], #32\n vldmia %[at], {s16-s24}\n"  //
            RL_TWO(RL_HIGH, "s26", "s27"),
            "vldmia %[weight]!, {s26-s28}\n vldmia %[at], {s16-s25}\n"                          //
            RL_THREE(RL_LOW, "s26", "s27", "s28") "add %[at], #32\n vldmia %[at], {s16-s25}\n"  //
            RL_THREE(RL_HIGH, "s26", "s27", "s28")) "vstmia %[out], {s0-s15}\n"
        : [taps] "+r"(taps), [count] "+l"(count), [at] "=&r"(at), [more] "=&l"(more), [weight] "+r"(weight)
        : [in] "r"(in), [out] "r"(out)
        : RL_SUMS);
  }
}

// The last eight columns of a row.
void add_eight(const ShiftedSums& sums, const float* in, const float* weight, float* out) {
  const ShiftedTaps* taps = sums.taps;
  size_t count = sums.count;
  uint32_t at, more;
  asm volatile(
      "vldmia %[out], {s0-s7}\n" RL_TAPS(
          "vldmia %[at], {s16-s23}\n vldmia %[weight]!, {s26}\n" RL_ONE(RL_LOW, "s26"),
          "vldmia %[at], {s16-s24}\n vldmia %[weight]!, {s26-s27}\n" RL_TWO(RL_LOW, "s26", "s27"),
          "vldmia %[at], {s16-s25}\n vldmia %[weight]!, {s26-s28}\n"  //
          RL_THREE(RL_LOW, "s26", "s27", "s28")) "vstmia %[out], {s0-s7}\n"
      : [taps] "+r"(taps), [count] "+l"(count), [at] "=&r"(at), [more] "=&l"(more), [weight] "+r"(weight)
      : [in] "r"(in), [out] "r"(out)
      : RL_SUMS);
}

// All tiles of a plane. Sums in s0 on, the inputs of a group from s8 on, its weights in s25 to s27. r0, r1:
// groups of taps and how many are left, r2: weights, r3: further taps of the group, r12: the tile's inputs,
// lr: the group's.
#define RL_PLANE(sums, one, two, three, strided) \
  "push {r4-r11, lr}\n"                          \
  "vpush {s16-s31}\n"                            \
  "ldr r3, [r0, #32]\n"                          \
  "vmov s31, r3\n"                               \
  "ldmia r0, {r4-r11}\n"                         \
  "0:\n"                                         \
  "vldmia r11, {" sums                           \
  "}\n"                                          \
  "ldr r12, [r9], #8\n"                          \
  "mov r0, r4\n"                                 \
  "movs r1, r5\n"                                \
  "mov r2, r6\n"                                 \
  "add r12, r7\n"                                \
  "beq 5f\n"                                     \
  "1:\n"                                         \
  "ldrd lr, r3, [r0], #8\n"                      \
  "add lr, r12\n"                                \
  "cbnz r3, 2f\n" one                            \
  "subs r1, #1\n bne 1b\n"                       \
  "b 5f\n"                                       \
  "2:\n"                                         \
  "cmp r3, #1\n"                                 \
  "beq 3f\n" three                               \
  "subs r1, #1\n bne 1b\n"                       \
  "b 5f\n"                                       \
  "3:\n" two                                     \
  "subs r1, #1\n bne 1b\n"                       \
  "5:\n"                                         \
  "ldr r3, [r9, #-4]\n"                          \
  "vmov r2, s31\n"                               \
  "add r3, r8\n"                                 \
  "cmp r2, #4\n"                                 \
  "bne 6f\n"                                     \
  "vstmia r3, {" sums                            \
  "}\n"                                          \
  "subs r10, #1\n bne 0b\n"                      \
  "b 7f\n"                                       \
  "6:\n" strided                                 \
  "subs r10, #1\n bne 0b\n"                      \
  "7:\n"                                         \
  "vpop {s16-s31}\n"                             \
  "pop {r4-r11, pc}\n"

#define RL_STORE(sum) "vstr s" #sum ", [r3]\n add r3, r2\n"
#define RL_STORE_FOUR RL_STORE(0) RL_STORE(1) RL_STORE(2) RL_STORE(3)
#define RL_STORE_EIGHT RL_STORE_FOUR RL_STORE(4) RL_STORE(5) RL_STORE(6) RL_STORE(7)
#define RL_COLUMNS(last) "vldmia lr, {s8-s" last "}\n"
#define RL_FOUR(p, q, r, s, factor) \
  RL_FMA(0, p, factor) RL_FMA(1, q, factor) RL_FMA(2, r, factor) RL_FMA(3, s, factor)

[[gnu::naked, gnu::noinline]] void add_eight_by_one([[maybe_unused]] const PlaneTiles* tiles) {
#define RL_FIRST RL_LOW(8, 9, 10, 11, 12, 13, 14, 15, "s25")
#define RL_SECOND RL_LOW(9, 10, 11, 12, 13, 14, 15, 16, "s26")
#define RL_THIRD RL_LOW(10, 11, 12, 13, 14, 15, 16, 17, "s27")
  asm volatile(RL_PLANE("s0-s7", "vldmia r2!, {s25}\n" RL_COLUMNS("15") RL_FIRST,
                        "vldmia r2!, {s25-s26}\n" RL_COLUMNS("16") RL_FIRST RL_SECOND,
                        "vldmia r2!, {s25-s27}\n" RL_COLUMNS("17") RL_FIRST RL_SECOND RL_THIRD,
                        RL_STORE_EIGHT));
#undef RL_FIRST
#undef RL_SECOND
#undef RL_THIRD
}

[[gnu::naked, gnu::noinline]] void add_eight_by_two([[maybe_unused]] const PlaneTiles* tiles) {
#define RL_FIRST RL_LOW(8, 10, 12, 14, 16, 18, 20, 22, "s25")
#define RL_SECOND RL_LOW(9, 11, 13, 15, 17, 19, 21, 23, "s26")
#define RL_THIRD RL_LOW(10, 12, 14, 16, 18, 20, 22, 24, "s27")
  asm volatile(RL_PLANE("s0-s7", "vldmia r2!, {s25}\n vldmia lr, {s8-s22}\n" RL_FIRST,
                        "vldmia r2!, {s25-s26}\n" RL_COLUMNS("23") RL_FIRST RL_SECOND,
                        "vldmia r2!, {s25-s27}\n vldmia lr, {s8-s24}\n"  //
                        RL_FIRST RL_SECOND RL_THIRD,
                        RL_STORE_EIGHT));
#undef RL_FIRST
#undef RL_SECOND
#undef RL_THIRD
}

[[gnu::naked, gnu::noinline]] void add_four_by_one([[maybe_unused]] const PlaneTiles* tiles) {
#define RL_FIRST RL_FOUR(8, 9, 10, 11, "s25")
#define RL_SECOND RL_FOUR(9, 10, 11, 12, "s26")
#define RL_THIRD RL_FOUR(10, 11, 12, 13, "s27")
  asm volatile(RL_PLANE("s0-s3", "vldmia r2!, {s25}\n" RL_COLUMNS("11") RL_FIRST,
                        "vldmia r2!, {s25-s26}\n" RL_COLUMNS("12") RL_FIRST RL_SECOND,
                        "vldmia r2!, {s25-s27}\n" RL_COLUMNS("13") RL_FIRST RL_SECOND RL_THIRD,
                        RL_STORE_FOUR));
#undef RL_FIRST
#undef RL_SECOND
#undef RL_THIRD
}

[[gnu::naked, gnu::noinline]] void add_four_by_two([[maybe_unused]] const PlaneTiles* tiles) {
#define RL_FIRST RL_FOUR(8, 10, 12, 14, "s25")
#define RL_SECOND RL_FOUR(9, 11, 13, 15, "s26")
#define RL_THIRD RL_FOUR(10, 12, 14, 16, "s27")
  asm volatile(RL_PLANE("s0-s3", "vldmia r2!, {s25}\n" RL_COLUMNS("14") RL_FIRST,
                        "vldmia r2!, {s25-s26}\n" RL_COLUMNS("15") RL_FIRST RL_SECOND,
                        "vldmia r2!, {s25-s27}\n" RL_COLUMNS("16") RL_FIRST RL_SECOND RL_THIRD,
                        RL_STORE_FOUR));
#undef RL_FIRST
#undef RL_SECOND
#undef RL_THIRD
}

[[gnu::naked, gnu::noinline]] void add_single([[maybe_unused]] const PlaneTiles* tiles) {
#define RL_SINGLE(in, factor) RL_FMA(0, in, factor)
  asm volatile(RL_PLANE("s0", "vldmia r2!, {s25}\n vldr s8, [lr]\n" RL_SINGLE(8, "s25"),
                        "vldmia r2!, {s25-s26}\n" RL_COLUMNS("9") RL_SINGLE(8, "s25") RL_SINGLE(9, "s26"),
                        "vldmia r2!, {s25-s27}\n" RL_COLUMNS("10")  //
                        RL_SINGLE(8, "s25") RL_SINGLE(9, "s26") RL_SINGLE(10, "s27"),
                        RL_STORE(0)));
#undef RL_SINGLE
}

AddTiles adder_of(size_t kind, ptrdiff_t in_step) {
  if (kind == 2) return add_single;
  if (in_step == 1) return kind == 0 ? add_eight_by_one : add_four_by_one;
  return kind == 0 ? add_eight_by_two : add_four_by_two;
}

void start(float* out, size_t columns, float value) {
  for (; columns > 0; columns -= 8, out += 8) {
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) out[j] = value;
  }
}

}  // namespace

void add_shifted(const ShiftedSums& sums) {
  if (sums.initial != nullptr) {
    for (size_t i = 0; i < sums.rows; ++i)
      start(sums.out + static_cast<ptrdiff_t>(i) * sums.out_stride, sums.columns, sums.initial[i]);
  }
  const float* weight = sums.weight;
  float* out = sums.out;
  size_t rows = sums.rows;
  for (; rows >= 2; rows -= 2, weight += 2 * sums.weight_stride, out += 2 * sums.out_stride) {
    for (size_t x = 0; x < sums.columns; x += 8) add_tile<2>(sums, sums.in + x, weight, out + x);
  }
  if (rows == 0) return;
  size_t x = 0;
  for (; x + 16 <= sums.columns; x += 16) add_tile<1>(sums, sums.in + x, weight, out + x);
  if (x < sums.columns) add_eight(sums, sums.in + x, weight, out + x);
}

// Adjacent elements eight at a time. Others one at a time, four in an iteration.
void copy_block(float* to, BlockStrides to_strides, const float* from, BlockStrides from_strides, size_t rows,
                size_t columns) {
  lengthen_rows(&to_strides, &from_strides, &rows, &columns);
  if (from_strides.column != 1 || to_strides.column != 1) {
    return copy_strided(to, to_strides, from, from_strides, rows, columns);
  }
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    const float* at = from;
    float* target = to;
    size_t left = columns;
    asm volatile(
        "subs %[left], #8\n"
        "blt 2f\n"
        "1:\n"
        "vldmia %[at]!, {s0-s7}\n"
        "vstmia %[target]!, {s0-s7}\n"
        "subs %[left], #8\n"
        "bge 1b\n"
        "2:\n"
        "adds %[left], #4\n"
        "blt 3f\n"
        "vldmia %[at]!, {s0-s3}\n"
        "vstmia %[target]!, {s0-s3}\n"
        "subs %[left], #4\n"
        "3:\n"
        "adds %[left], #4\n"
        "beq 5f\n"
        "4:\n"
        "vldmia %[at]!, {s0}\n"
        "vstmia %[target]!, {s0}\n"
        "subs %[left], #1\n"
        "bne 4b\n"
        "5:\n"
        : [at] "+r"(at), [target] "+r"(target), [left] "+r"(left)
        :
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "cc", "memory");
  }
}

void add_channels(const ChannelSums& sums) {
  const auto columns = static_cast<ptrdiff_t>(sums.columns);
  const Steps steps{bytes(sums.column_stride), bytes(sums.row_stride - columns * sums.column_stride),
                    bytes(sums.weight_row_stride) - columns * bytes(kChannelGroup), sums.columns};
  const bool any = sums.rows > 0 && columns > 0;
  const float* in = sums.in;
  float* out = sums.out;
  for (size_t o = sums.outputs; o > 0; --o, in += sums.in_step, out += sums.out_step) {
    const float* weight = sums.weight;
    size_t c = 0;
    for (; any && c + kChannelGroup <= sums.channels; c += kChannelGroup, weight += sums.group_stride) {
      add_group(steps, in + c, weight, sums.rows, sums.initial + c, out + c);
    }
    for (; c < sums.channels; ++c, ++weight) add_one(sums, in + c, weight, sums.initial + c, out + c);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
