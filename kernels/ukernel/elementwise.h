// SPDX-License-Identifier: BSD-3-Clause
// Functions of the elements of two or three arrays, over rows of n elements: an operand's rows are some bytes
// apart, or the same for all; its elements lie one after the other, or are one for the whole row. That covers
// every broadcast of two shapes: a caller walks over what more dimensions there are.
//
// `out` may be an input with the same rows; otherwise they do not overlap. Any alignment that the element
// type has, any counts; nothing outside of the rows is read or written. An element's result depends on its
// operands alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

struct RowInput {
  const void* data;
  ptrdiff_t stride;  // from row to row, in bytes
  bool one;          // for all elements of a row
};

struct Rows {
  size_t count;
  size_t n;
  RowInput in[3];
  void* out;
  ptrdiff_t stride;  // of out
  float number = 1;  // parameters, where the function has one
  uint64_t factor = 1;
};

#define RL_ROWS(name) RL_UKERNEL_EXACT(void, name, (const Rows& rows), (rows))

// float32. Rounded once, but for add_f32 without fused multiply-adds and pow_f32 (see vector_math.h).
RL_ROWS(add_f32)  // a + number b
RL_ROWS(mul_f32)
RL_ROWS(div_f32)
RL_ROWS(maximum_f32)  // NaN where either is
RL_ROWS(minimum_f32)
RL_ROWS(pow_f32)
RL_ROWS(clamp_rows_f32)  // a, at least b, at most c: NaN where any is
RL_ROWS(lerp_f32)        // a + c (b - a), computed from the nearer end
RL_ROWS(addcmul_f32)     // a + number b c
RL_ROWS(addcdiv_f32)     // a + number b / c

// Integers, which wrap.
RL_ROWS(add_i32)  // a + factor b
RL_ROWS(add_i64)
RL_ROWS(mul_i32)
RL_ROWS(mul_i64)

// One byte for each element: 1 where it holds, otherwise 0.
RL_ROWS(equal_f32)
RL_ROWS(equal_i32)
RL_ROWS(equal_i64)
RL_ROWS(not_equal_f32)
RL_ROWS(not_equal_i32)
RL_ROWS(not_equal_i64)
RL_ROWS(less_f32)
RL_ROWS(less_i32)
RL_ROWS(less_i64)
RL_ROWS(less_equal_f32)
RL_ROWS(less_equal_i32)
RL_ROWS(less_equal_i64)

// b where the byte a is not 0, otherwise c, of elements of so many bits.
RL_ROWS(where_8)
RL_ROWS(where_16)
RL_ROWS(where_32)
RL_ROWS(where_64)

#undef RL_ROWS

}  // namespace rushlight::ukernel
