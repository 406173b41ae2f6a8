// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length, eight registers at a time: VSETVL bounds the last pass, so that no loop
// has a remainder.
#include <riscv_vector.h>

#include "kernels/ukernel/spans.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// to = f(vector, lanes) for each vector of `from`.
template <class F>
inline void map_span(float* to, const float* from, size_t count, F f) {
  while (count > 0) {
    const size_t lanes = __riscv_vsetvl_e32m8(count);
    __riscv_vse32_v_f32m8(to, f(__riscv_vle32_v_f32m8(from, lanes), lanes), lanes);
    to += lanes;
    from += lanes;
    count -= lanes;
  }
}

// x, or the limit if x exceeds it; comparisons with NaN are false.
inline vfloat32m8_t not_below(vfloat32m8_t x, float low, size_t lanes) {
  return __riscv_vfmerge_vfm_f32m8(x, low, __riscv_vmflt_vf_f32m8_b4(x, low, lanes), lanes);
}
inline vfloat32m8_t not_above(vfloat32m8_t x, float high, size_t lanes) {
  return __riscv_vfmerge_vfm_f32m8(x, high, __riscv_vmfgt_vf_f32m8_b4(x, high, lanes), lanes);
}

}  // namespace

void fill_span(float* to, size_t count, float value) {
  while (count > 0) {
    const size_t lanes = __riscv_vsetvl_e32m8(count);
    __riscv_vse32_v_f32m8(to, __riscv_vfmv_v_f_f32m8(value, lanes), lanes);
    to += lanes;
    count -= lanes;
  }
}

void copy_span(float* to, const float* from, size_t count) {
  map_span(to, from, count, [](vfloat32m8_t x, size_t) { return x; });
}

void scale_span(float* to, const float* from, size_t count, float scale, float offset) {
  map_span(to, from, count, [&](vfloat32m8_t x, size_t lanes) {
    return __riscv_vfmadd_vf_f32m8(x, scale, __riscv_vfmv_v_f_f32m8(offset, lanes), lanes);
  });
}

void rectify_span(float* to, const float* from, size_t count) {
  map_span(to, from, count, [](vfloat32m8_t x, size_t lanes) { return not_below(x, 0, lanes); });
}

void clamp_span(float* to, const float* from, size_t count, float low, float high) {
  map_span(to, from, count,
           [&](vfloat32m8_t x, size_t lanes) { return not_above(not_below(x, low, lanes), high, lanes); });
}

void add_span(float* to, const float* a, const float* b, size_t count) {
  while (count > 0) {
    const size_t lanes = __riscv_vsetvl_e32m8(count);
    const vfloat32m8_t sum =
        __riscv_vfadd_vv_f32m8(__riscv_vle32_v_f32m8(a, lanes), __riscv_vle32_v_f32m8(b, lanes), lanes);
    __riscv_vse32_v_f32m8(to, sum, lanes);
    to += lanes;
    a += lanes;
    b += lanes;
    count -= lanes;
  }
}

float sum_span(const float* from, size_t count) {
  vfloat32m1_t sum = __riscv_vfmv_s_f_f32m1(0, 1);
  while (count > 0) {
    const size_t lanes = __riscv_vsetvl_e32m8(count);
    sum = __riscv_vfredusum_vs_f32m8_f32m1(__riscv_vle32_v_f32m8(from, lanes), sum, lanes);
    from += lanes;
    count -= lanes;
  }
  return __riscv_vfmv_f_s_f32m1_f32(sum);
}

// The sums of as many columns as eight registers hold stay there.
void add_rows(float* sums, const float* row, ptrdiff_t stride, size_t rows, size_t columns) {
  while (columns > 0) {
    const size_t lanes = __riscv_vsetvl_e32m8(columns);
    vfloat32m8_t totals = __riscv_vle32_v_f32m8(sums, lanes);
    const float* at = row;
    for (size_t left = rows; left > 0; --left, at += stride) {
      totals = __riscv_vfadd_vv_f32m8(totals, __riscv_vle32_v_f32m8(at, lanes), lanes);
    }
    __riscv_vse32_v_f32m8(sums, totals, lanes);
    sums += lanes;
    row += lanes;
    columns -= lanes;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
