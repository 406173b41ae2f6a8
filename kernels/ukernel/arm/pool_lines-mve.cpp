// SPDX-License-Identifier: BSD-3-Clause
// Cortex-M55: eight windows at a time, an element of four in a vector. The last vector overlaps the one
// before, so that no access needs a mask; lanes past fewer than four windows repeat the first one.
#include <arm_mve.h>

#include "kernels/ukernel/pool_lines.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kLanes = 4;

// Lane i is i * step, or 0 from `count` on.
uint32x4_t lanes(ptrdiff_t step, size_t count) {
  const uint32x4_t all = vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<uint32_t>(step));
  return vpselq_u32(all, vdupq_n_u32(0), vctp32q(count));
}

// The elements of two vectors of windows, which are in q6 and q7 for `element`. `next` follows each element,
// `next_row` each row.
#define RL_WINDOWS(element, next, next_row) \
  "1:\n"                                    \
  "dls lr, %[columns]\n"                    \
  "2:\n"                                    \
  "vldrw.u32 q6, [%[in], %q[from]]\n"       \
  "vldrw.u32 q7, [%[second], %q[from]]\n"   \
  "add %[in], %[column]\n" element next     \
  "add %[second], %[column]\n"              \
  "le lr, 2b\n"                             \
  "add %[in], %[row]\n"                     \
  "add %[second], %[row]\n" next_row        \
  "subs %[rows], #1\n"                      \
  "bne 1b\n"

// Calls block(first, second) with the first windows of two vectors, until all windows are done.
template <class F>
void for_each_block(size_t count, F block) {
  const size_t last = count < kLanes ? 0 : count - kLanes;
  for (size_t i = 0; i < count; i += 2 * kLanes)
    block(i < last ? i : last, i + kLanes < last ? i + kLanes : last);
}

}  // namespace

void average_line(const PoolLine& line, float divisor) {
  const uint32x4_t from = lanes(line.in_step, line.count), to = lanes(line.out_step, line.count);
  const ptrdiff_t row = line.row_stride - static_cast<ptrdiff_t>(line.columns) * line.column_stride;
  for_each_block(line.count, [&](size_t first, size_t next) __attribute__((always_inline)) {
    const char* in = line.in + static_cast<ptrdiff_t>(first) * line.in_step;
    const char* second = line.in + static_cast<ptrdiff_t>(next) * line.in_step;
    float32x4_t a = vdupq_n_f32(0), b = a;
    size_t rows = line.columns > 0 ? line.rows : 0;
    if (rows > 0) {
      asm volatile(
          RL_WINDOWS("vadd.f32 %q[a], q6\n", "vadd.f32 %q[b], q7\n", "")
          : [in] "+r"(in), [second] "+r"(second), [rows] "+r"(rows), [a] "+w"(a), [b] "+w"(b)
          : [columns] "r"(line.columns), [from] "w"(from), [column] "r"(line.column_stride), [row] "r"(row)
          : "q6", "q7", "lr", "cc", "memory");
    }
    const auto store = [&](size_t window, float32x4_t sums) __attribute__((always_inline)) {
      // There is no division of vectors, but q0 consists of s0 to s3.
      register float32x4_t quotients asm("q0") = sums;
      asm("vdiv.f32 s0, s0, %[divisor]\n vdiv.f32 s1, s1, %[divisor]\n"
          "vdiv.f32 s2, s2, %[divisor]\n vdiv.f32 s3, s3, %[divisor]\n"
          : "+w"(quotients)
          : [divisor] "t"(divisor));
      char* out = line.out + static_cast<ptrdiff_t>(window) * line.out_step;
      vstrwq_scatter_offset_f32(reinterpret_cast<float*>(out), to, quotients);
    };
    store(first, a);
    if (next != first) store(next, b);
  });
}

// A lane takes an element that is greater or NaN, and its number.
void max_line(const PoolLine& line, const PoolNumbers& numbers) {
  const uint32x4_t from = lanes(line.in_step, line.count);
  const uint32x4_t to = lanes(line.out_step, line.count);
  const uint32x4_t to_index = lanes(numbers.out_step, line.count);
  const uint32x4_t steps = lanes(numbers.step, line.count);
  const ptrdiff_t row = line.row_stride - static_cast<ptrdiff_t>(line.columns) * line.column_stride;
  const int32_t down = numbers.down - static_cast<int32_t>(line.columns) * numbers.across;
  for_each_block(line.count, [&](size_t first, size_t next) __attribute__((always_inline)) {
    const char* in = line.in + static_cast<ptrdiff_t>(first) * line.in_step;
    const char* second = line.in + static_cast<ptrdiff_t>(next) * line.in_step;
    float32x4_t a = vdupq_n_f32(-__builtin_inff()), b = a;
    uint32x4_t here = vdupq_n_u32(static_cast<uint32_t>(numbers.first)), c = here, d = here;
    size_t rows = line.columns > 0 ? line.rows : 0;
    if (rows > 0) {
#define RL_TAKE(most, found, number)                                              \
  "vptt.f32 gt, " number ", " most "\n vmovt " most ", " number "\n vmovt " found \
  ", %q[here]\n"                                                                  \
  "vptt.f32 ne, " number ", " number "\n vmovt " most ", " number "\n vmovt " found ", %q[here]\n"
      asm volatile(
          RL_WINDOWS(RL_TAKE("%q[a]", "%q[c]", "q6") RL_TAKE("%q[b]", "%q[d]", "q7"),
                     "vadd.i32 %q[here], %q[here], %[across]\n", "vadd.i32 %q[here], %q[here], %[down]\n")
          : [in] "+r"(in), [second] "+r"(second), [rows] "+r"(rows), [a] "+w"(a), [b] "+w"(b), [c] "+w"(c),
            [d] "+w"(d), [here] "+w"(here)
          : [columns] "r"(line.columns), [from] "w"(from), [column] "r"(line.column_stride), [row] "r"(row),
            [across] "r"(numbers.across), [down] "r"(down)
          : "q6", "q7", "lr", "cc", "memory");
#undef RL_TAKE
    }
    const auto store = [&](size_t window, float32x4_t most, uint32x4_t found) __attribute__((always_inline)) {
      const auto at = static_cast<ptrdiff_t>(window);
      vstrwq_scatter_offset_f32(reinterpret_cast<float*>(line.out + at * line.out_step), to, most);
      if (numbers.out == nullptr) return;
      auto* index = reinterpret_cast<uint32_t*>(numbers.out + at * numbers.out_step);
      found = vaddq_u32(
          found, vaddq_n_u32(steps, static_cast<uint32_t>(window) * static_cast<uint32_t>(numbers.step)));
      vstrwq_scatter_offset_u32(index, to_index, found);
      vstrwq_scatter_offset_u32(index + 1, to_index, vdupq_n_u32(0));
    };
    store(first, a, c);
    if (next != first) store(next, b, d);
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
