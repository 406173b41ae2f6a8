// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions of two or three arrays over rows of n elements. An operand has a row stride, which
// may be 0, and contiguous elements or one element for the whole row. This covers every broadcast of two
// shapes: the caller loops over further dimensions.
//
// `out` may be an input with the same rows; otherwise it overlaps no operand. Any counts, alignment of the
// element type; accesses only the described elements. Each result depends only on its own operands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/variants.h"

namespace rushlight::ukernel {

// An operand. Row i begins `stride` * i bytes after `data`, and its elements are contiguous unless `one`:
//
//   stride of the rows, one = false   a full array           stride 0, one = false   one row for all rows
//   stride of the rows, one = true    a column               stride 0, one = true    a scalar
struct RowInput {
  const void* data;
  ptrdiff_t stride;  // in bytes from row to row
  bool one;          // one element for the whole row
};

// `count` rows of n elements. `in` holds the operands a, b and c of the formulas below, as many as a function
// has.
struct Rows {
  size_t count;
  size_t n;
  RowInput in[3];
  void* out;
  ptrdiff_t stride;  // bytes from row to row of `out`
  float number = 1;  // parameter of the functions below that name it
  uint64_t factor = 1;
};

#define RL_ROWS(name) RL_UKERNEL_EXACT(void, name, (const Rows& rows), (rows))

// float32. Rounded once, except add_f32 without fused multiply-adds, lerp_f32, addcmul_f32, addcdiv_f32 and
// pow_f32 (errors: vector_math.h); log_add_f32 and log2_add_f32 have errors of 3e-7 of the result or of 1.
// Subnormals are kept.
RL_ROWS(add_f32)  // a + number b
RL_ROWS(mul_f32)
RL_ROWS(div_f32)
RL_ROWS(maximum_f32)  // NaN if one operand is NaN
RL_ROWS(minimum_f32)
RL_ROWS(pow_f32)
RL_ROWS(log_add_f32)     // log(e^a + e^b)
RL_ROWS(log2_add_f32)    // log2(2^a + 2^b)
RL_ROWS(clamp_rows_f32)  // a, at least b, at most c; NaN if one is NaN
RL_ROWS(lerp_f32)        // a + c (b - a), computed from the nearer end
RL_ROWS(addcmul_f32)     // a + number b c
RL_ROWS(addcdiv_f32)     // a + number b / c

// Integers; overflow wraps.
RL_ROWS(add_i32)  // a + factor b
RL_ROWS(add_i64)
RL_ROWS(mul_i32)
RL_ROWS(mul_i64)

// Comparisons: one byte for each element, 1 if true, else 0. Comparisons with NaN are false, but
// not_equal_f32 is true.
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

// b if the byte a is nonzero, else c. b and c have elements of 8 to 64 bits, which are copied as bits. The
// mask may be broadcast too: then a row is one copy.
RL_ROWS(where_8)
RL_ROWS(where_16)
RL_ROWS(where_32)
RL_ROWS(where_64)

#undef RL_ROWS

}  // namespace rushlight::ukernel
