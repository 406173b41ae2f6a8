// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: three rows by eight columns in q0 to q5, three steps of the depth at a time, in low-overhead
// loops. In assembler, as neither gcc 12 nor clang-19 keeps the nine elements of the left factor in
// registers. 55 instructions for 144 products, of which 48 take two cycles each and overlap in pairs.
#include <arm_mve.h>

#include "kernels/ukernel/generic/panel_tile.h"
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = kPanelRows;
constexpr bool kTakesColumns = false;

#define RL_NEXT_COLUMNS "vldrw.32 q6, [r3], #16\n vldrw.32 q7, [r3], #16\n"
// A step of the depth: q6 and q7 hold eight columns, a, b and c the elements of three rows.
#define RL_STEP(a, b, c)                         \
  "vfma.f32 q0, q6, " a "\n vfma.f32 q1, q7, " a \
  "\n"                                           \
  "vfma.f32 q2, q6, " b "\n vfma.f32 q3, q7, " b \
  "\n"                                           \
  "vfma.f32 q4, q6, " c "\n vfma.f32 q5, q7, " c "\n"

// Three elements of each row by LDMIA, and three steps.
#define RL_THREE_STEPS                                                                                 \
  "ldmia r0!, {r4, r5, r6}\n" RL_NEXT_COLUMNS                                                          \
  "ldmia r1!, {r7, r8, r9}\n"                                                                          \
  "ldmia r2!, {r10, r11, r12}\n" RL_STEP("r4", "r7", "r10") RL_NEXT_COLUMNS RL_STEP("r5", "r8", "r11") \
      RL_NEXT_COLUMNS RL_STEP("r6", "r9", "r12")

// Consecutive full tiles. Assembler reads the members by their offsets. Steps are in bytes.
struct Tiles {
  const float* from;  // start of each row's sums; null: `out`
  float* out;
  ptrdiff_t out_step;
  const float* out_end;  // the end of the last tile
  size_t sixths;         // steps of six in a part's depth, rounded up
  size_t has_half;
  size_t rest;  // steps of the depth after them
  size_t more_parts;
  ptrdiff_t part_step;  // from the end of a part to the next part
  size_t rectify;
  const float* panel;
  const float* left;
  ptrdiff_t left_step;
  ptrdiff_t tile_step;  // from the end of a tile's last row to the next tile's first
  size_t parts_left;    // in the current tile; starts as more_parts
};

// Uses all registers but sp: first, second and third row, panel, nine elements and the loop count. The rest
// is in memory, whose address is on the stack.
[[gnu::naked, gnu::noinline]] void add_all([[maybe_unused]] Tiles* tiles) {
  asm volatile(
      "push {r0, r1, r3-r11, lr}\n"
      "vpush {d8-d15}\n"
      "mov r12, r0\n"
      // The three rows of the first tile.
      "ldrd r0, r4, [r12, #44]\n"
      "add r1, r0, r4\n"
      "add r2, r1, r4\n"
      "0:\n"
      // The next tile: its sums start from `out` if `from` is null, row by row.
      "ldrd r4, r5, [r12]\n"
      "cbnz r4, 1f\n"
      "ldr r4, [r12, #8]\n"
      "vldrw.32 q0, [r5]\n"
      "vldrw.32 q1, [r5, #16]\n"
      "add r5, r4\n"
      "vldrw.32 q2, [r5]\n"
      "vldrw.32 q3, [r5, #16]\n"
      "add r5, r4\n"
      "vldrw.32 q4, [r5]\n"
      "vldrw.32 q5, [r5, #16]\n"
      "b 2f\n"
      "1:\n"
      // All rows start from the same eight values.
      "vldrw.32 q0, [r4]\n"
      "vldrw.32 q1, [r4, #16]\n"
      "vldrw.32 q2, [r4]\n"
      "vldrw.32 q3, [r4, #16]\n"
      "vldrw.32 q4, [r4]\n"
      "vldrw.32 q5, [r4, #16]\n"
      "2:\n"
      // Every tile reads the panel from its start.
      "ldr r3, [r12, #40]\n"
      "3:\n"
      // A part: passes of six steps, the first one perhaps of three.
      "ldrd lr, r4, [r12, #16]\n"
      "wls lr, lr, 6f\n"
      "cbnz r4, 5f\n"
      "4:\n" RL_THREE_STEPS
      "5:\n" RL_THREE_STEPS
      "le lr, 4b\n"
      "6:\n"
      // r12 has been an element; the steps that are left are done one at a time.
      "ldr r12, [sp, #64]\n"
      "ldr lr, [r12, #24]\n"
      "wls lr, lr, 8f\n"
      "7:\n"
      "ldr r4, [r0], #4\n"
      "ldr r7, [r1], #4\n"
      "ldr r10, [r2], #4\n" RL_NEXT_COLUMNS RL_STEP("r4", "r7", "r10")
      "le lr, 7b\n"
      "8:\n"
      // Continues with the next part, or finishes the tile.
      "ldrd r4, r5, [r12, #28]\n"
      "cbnz r4, 11f\n"
      "9:\n"
      "ldr r6, [r12, #36]\n"
      "cbz r6, 10f\n"
      // Compares as integers: a NaN sum has no sign here.
      "vmov.i32 q7, #0\n"
      "vmax.s32 q0, q0, q7\n vmax.s32 q1, q1, q7\n vmax.s32 q2, q2, q7\n"
      "vmax.s32 q3, q3, q7\n vmax.s32 q4, q4, q7\n vmax.s32 q5, q5, q7\n"
      "10:\n"
      // Stores the tile.
      "ldrd r4, r5, [r12, #4]\n"
      "vstrw.32 q0, [r4]\n"
      "vstrw.32 q1, [r4, #16]\n"
      "add r4, r5\n"
      "vstrw.32 q2, [r4]\n"
      "vstrw.32 q3, [r4, #16]\n"
      "add r4, r5\n"
      "vstrw.32 q4, [r4]\n"
      "vstrw.32 q5, [r4, #16]\n"
      "add r4, r5\n"
      "str r4, [r12, #4]\n"
      // Moves the rows to the next tile.
      "ldrd r5, r6, [r12, #48]\n"
      "add r0, r2, r6\n"
      "add r1, r0, r5\n"
      "add r2, r1, r5\n"
      "ldr r5, [r12, #12]\n"
      "cmp r4, r5\n"
      "bne 0b\n"
      "vpop {d8-d15}\n"
      "pop {r0, r1, r3-r11, pc}\n"
      "11:\n"
      // Moves the rows to the next part, unless it was the last one: then the count is restored for the next
      // tile.
      "ldr r6, [r12, #56]\n"
      "cbz r6, 12f\n"
      "subs r6, #1\n"
      "str r6, [r12, #56]\n"
      "add r0, r5\n"
      "add r1, r5\n"
      "add r2, r5\n"
      "b 3b\n"
      "12:\n"
      "str r4, [r12, #56]\n"
      "b 9b\n");
}

#define RL_OWN_TILES
// The loop of six steps may be entered in its middle: `thirds` counts threes of the depth, `sixths` the
// passes, and has_half skips the first half of the first pass. `seen` are the bytes by which a row's pointer
// advances in a tile.
inline void add_tiles(const float* left, ptrdiff_t left_stride, const float* panel, Tile& tile,
                      size_t count) {
  constexpr auto kBytes = static_cast<ptrdiff_t>(sizeof(float));
  const size_t thirds = tile.depth / 3;
  const size_t more_parts = tile.parts - 1;
  const ptrdiff_t part = static_cast<ptrdiff_t>(tile.depth) * kBytes;
  const ptrdiff_t seen = part + static_cast<ptrdiff_t>(more_parts) * (part + tile.part_step);
  const ptrdiff_t left_step = left_stride * kBytes;
  float* end = tile.out + static_cast<ptrdiff_t>(count * kRows) * tile.out_step / kBytes;
  const bool begins = tile.from_step == 0;
  Tiles tiles{begins ? tile.from : nullptr,
              tile.out,
              tile.out_step,
              end,
              (thirds + 1) / 2,
              thirds % 2,
              tile.depth - thirds * 3,
              more_parts,
              tile.part_step,
              tile.rectify,
              panel,
              left,
              left_step,
              left_step - seen,
              more_parts};
  add_all(&tiles);
  tile.out = end;
  if (!begins) tile.from = end;
}

inline const float* at(const float* from, ptrdiff_t bytes) {
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(from) + bytes);
}

// A single row by intrinsics, or one full tile. ReLU is a maximum of integers with 0, which NaN passes if its
// sign is clear.
template <size_t kTileRows>
inline void add_tile(const float* left, ptrdiff_t left_stride, const float* panel, const Tile& tile) {
  if constexpr (kTileRows == 1) {
    float32x4_t low = vld1q_f32(tile.from), high = vld1q_f32(tile.from + 4);
    for (size_t part = tile.parts; part > 0; --part, left = at(left, tile.part_step)) {
      for (size_t k = tile.depth; k > 0; --k, panel += kPanelColumns) {
        const float number = *left++;
        low = vfmaq_n_f32(low, vld1q_f32(panel), number);
        high = vfmaq_n_f32(high, vld1q_f32(panel + 4), number);
      }
    }
    if (tile.rectify != 0) {
      const int32x4_t zero = vdupq_n_s32(0);
      low = vreinterpretq_f32_s32(vmaxq_s32(vreinterpretq_s32_f32(low), zero));
      high = vreinterpretq_f32_s32(vmaxq_s32(vreinterpretq_s32_f32(high), zero));
    }
    vst1q_f32(tile.out, low);
    vst1q_f32(tile.out + 4, high);
  } else {
    Tile one = tile;
    add_tiles(left, left_stride, panel, one, 1);
  }
}

// Pairs, then both pairs.
inline float sum_of(float32x4_t lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

}  // namespace

// Four rows at a time, four elements of each.
void multiply_rows(const RowProduct& product) {
  const float* left = product.left;
  float* out = product.out;
  const size_t vectors = product.depth / 4;
  const mve_pred16_t last = vctp32q(product.depth % 4);
  size_t rows = product.rows;
  for (; rows >= 4; rows -= 4) {
    const float* row[4] = {left, left + product.left_stride, left + 2 * product.left_stride,
                           left + 3 * product.left_stride};
    left += 4 * product.left_stride;
    const float* right = product.right;
    register float32x4_t first asm("q0") = vdupq_n_f32(0);
    register float32x4_t second asm("q1") = first;
    register float32x4_t third asm("q2") = first;
    register float32x4_t fourth asm("q3") = first;
    // The last 0 to 3 elements are masked; missing ones are 0 in both factors. The lanes of a sum are added
    // in the registers that are parts of its vector, as in sum_of().
    asm volatile(
        "wls lr, %[vectors], 2f\n"
        "1:\n"
        "vldrw.u32 q6, [%[right]], #16\n"
        "vldrw.u32 q7, [%[first]], #16\n vfma.f32 q0, q7, q6\n"
        "vldrw.u32 q7, [%[second]], #16\n vfma.f32 q1, q7, q6\n"
        "vldrw.u32 q7, [%[third]], #16\n vfma.f32 q2, q7, q6\n"
        "vldrw.u32 q7, [%[fourth]], #16\n vfma.f32 q3, q7, q6\n"
        "le lr, 1b\n"
        "2:\n"
        "cbz %[rest], 3f\n"
        "vctp.32 %[rest]\n"
        "vpstttt\n"
        "vldrwt.u32 q6, [%[right]]\n"
        "vldrwt.u32 q4, [%[first]]\n"
        "vldrwt.u32 q5, [%[second]]\n"
        "vldrwt.u32 q7, [%[third]]\n"
        "vpstttt\n"
        "vfmat.f32 q0, q4, q6\n"
        "vfmat.f32 q1, q5, q6\n"
        "vfmat.f32 q2, q7, q6\n"
        "vldrwt.u32 q4, [%[fourth]]\n"
        "vpst\n"
        "vfmat.f32 q3, q4, q6\n"
        "3:\n"
        "vadd.f32 s0, s0, s1\n vadd.f32 s2, s2, s3\n vadd.f32 s0, s0, s2\n"
        "vadd.f32 s4, s4, s5\n vadd.f32 s6, s6, s7\n vadd.f32 s4, s4, s6\n"
        "vadd.f32 s8, s8, s9\n vadd.f32 s10, s10, s11\n vadd.f32 s8, s8, s10\n"
        "vadd.f32 s12, s12, s13\n vadd.f32 s14, s14, s15\n vadd.f32 s12, s12, s14\n"
        : [right] "+r"(right), [first] "+r"(row[0]), [second] "+r"(row[1]), [third] "+r"(row[2]),
          [fourth] "+r"(row[3]), "+w"(first), "+w"(second), "+w"(third), "+w"(fourth)
        : [vectors] "r"(vectors), [rest] "l"(product.depth % 4)
        : "q4", "q5", "q6", "q7", "lr", "cc", "memory");
    // Lane 0 is the low part of its vector, and takes no move.
    asm volatile(
        "vldr s1, [%[out]]\n vadd.f32 s1, s1, s0\n vstr s1, [%[out]]\n add %[out], %[step]\n"
        "vldr s1, [%[out]]\n vadd.f32 s1, s1, s4\n vstr s1, [%[out]]\n add %[out], %[step]\n"
        "vldr s1, [%[out]]\n vadd.f32 s1, s1, s8\n vstr s1, [%[out]]\n add %[out], %[step]\n"
        "vldr s1, [%[out]]\n vadd.f32 s1, s1, s12\n vstr s1, [%[out]]\n add %[out], %[step]\n"
        : [out] "+r"(out), "+w"(first)
        : [step] "r"(product.out_stride * 4), "w"(second), "w"(third), "w"(fourth)
        : "memory");
  }
  for (; rows > 0; --rows, left += product.left_stride, out += product.out_stride) {
    float32x4_t sum = vdupq_n_f32(0);
    size_t k = 0;
    for (; k + 4 <= product.depth; k += 4)
      sum = vfmaq_f32(sum, vld1q_f32(left + k), vld1q_f32(product.right + k));
    sum = vfmaq_f32(sum, vld1q_z_f32(left + k, last), vld1q_z_f32(product.right + k, last));
    *out += sum_of(sum);
  }
}

void copy_panel(float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride, size_t rows) {
  for (; rows > 0; --rows, to += to_stride, from += from_stride) {
    const float32x4_t low = vld1q_f32(from), high = vld1q_f32(from + 4);
    vst1q_f32(to, low);
    vst1q_f32(to + 4, high);
  }
}

void pack_panel(float* to, const float* from, ptrdiff_t from_stride, ptrdiff_t depth_stride, size_t columns,
                size_t depth) {
  const uint32x4_t low = vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<uint32_t>(from_stride));
  const uint32x4_t high = vaddq_n_u32(low, static_cast<uint32_t>(from_stride) * 4);
  const mve_pred16_t low_mask = vctp32q(columns), high_mask = vctp32q(columns > 4 ? columns - 4 : 0);
  // Partial panels: gathers with masks, whose other lanes are 0.
  for (; depth > 0 && columns < kPanelColumns; --depth, to += kPanelColumns, from += depth_stride) {
    vst1q_f32(to, vldrwq_gather_shifted_offset_z_f32(from, low, low_mask));
    vst1q_f32(to + 4, vldrwq_gather_shifted_offset_z_f32(from, high, high_mask));
  }
  if (depth == 0) return;
  asm volatile(
      "dls lr, %[depth]\n"
      "1:\n"
      "vldrw.u32 q0, [%[from], %q[low], uxtw #2]\n"
      "vldrw.u32 q1, [%[from], %q[high], uxtw #2]\n"
      "add %[from], %[step]\n"
      "vstrw.32 q0, [%[to]], #16\n"
      "vstrw.32 q1, [%[to]], #16\n"
      "le lr, 1b\n"
      : [to] "+r"(to), [from] "+r"(from)
      : [depth] "r"(depth), [step] "r"(depth_stride * 4), [low] "w"(low), [high] "w"(high)
      : "q0", "q1", "lr", "cc", "memory");
}

void gather_panel(float* to, ptrdiff_t to_stride, const PanelWindows& windows,
                  const PanelPosition& position) {
  const uint32x4_t height = vdupq_n_u32(position.height);
  const uint32x4_t width = vdupq_n_u32(position.width);
  for (size_t j = 0; j < kPanelColumns; j += 4, to += 4) {
    const uint32x4_t row = vreinterpretq_u32_s32(vaddq_n_s32(vld1q_s32(windows.row + j), position.row));
    const uint32x4_t column =
        vreinterpretq_u32_s32(vaddq_n_s32(vld1q_s32(windows.column + j), position.column));
    // One unsigned comparison an axis covers both borders. Masked lanes load nothing and are 0.
    const mve_pred16_t inside = vcmphiq_m_u32(width, column, vcmphiq_u32(height, row));
    const uint32x4_t offset = vreinterpretq_u32_s32(vld1q_s32(windows.offset + j));
    const float* from = position.from;
    float* at = to;
    for (size_t i = position.channels; i > 0; --i, at += to_stride, from += position.channel_stride) {
      vst1q_f32(at, vldrwq_gather_shifted_offset_z_f32(from, offset, inside));
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/panel.inl"
