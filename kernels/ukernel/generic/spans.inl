// SPDX-License-Identifier: BSD-3-Clause
// Spans with scalars, four at a time. RL_OWN_SPANS and RL_OWN_RECTIFY: the including source defines these
// functions itself.
#include "kernels/ukernel/spans.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

#define RL_INLINE __attribute__((always_inline))

// to[i] = number(i) for all i; advance(n) moves the pointers that number() reads.
template <class Number, class Advance>
[[gnu::always_inline]] inline void span_by_fours(float* to, size_t count, Number number, Advance advance) {
  for (; count >= 4; count -= 4, to += 4) {
    const float a = number(0), b = number(1), c = number(2), d = number(3);
    to[0] = a, to[1] = b, to[2] = c, to[3] = d;
    advance(4);
  }
  for (; count > 0; --count) {
    *to++ = number(0);
    advance(1);
  }
}

template <class Map>
[[gnu::always_inline]] inline void map_span(float* to, const float* from, size_t count, Map map) {
  span_by_fours(
      to, count, [&](size_t i) RL_INLINE { return map(from[i]); }, [&](size_t n) RL_INLINE { from += n; });
}

}  // namespace

#ifndef RL_OWN_SPANS
void fill_span(float* to, size_t count, float value) {
  span_by_fours(to, count, [&](size_t) RL_INLINE { return value; }, [](size_t) RL_INLINE {});
}

void copy_span(float* to, const float* from, size_t count) {
  map_span(to, from, count, [](float x) RL_INLINE { return x; });
}

void scale_span(float* to, const float* from, size_t count, float scale, float offset) {
  map_span(to, from, count, [&](float x) RL_INLINE { return x * scale + offset; });
}
#endif

#ifndef RL_OWN_RECTIFY
void rectify_span(float* to, const float* from, size_t count) {
  map_span(to, from, count, [](float x) RL_INLINE { return x < 0 ? 0 : x; });
}
#endif

void clamp_span(float* to, const float* from, size_t count, float low, float high) {
  map_span(to, from, count, [&](float x) RL_INLINE {
    x = x < low ? low : x;
    return x > high ? high : x;
  });
}

void add_span(float* to, const float* a, const float* b, size_t count) {
  span_by_fours(
      to, count, [&](size_t i) RL_INLINE { return a[i] + b[i]; },
      [&](size_t n) RL_INLINE {
        a += n;
        b += n;
      });
}

// (a + b) + (c + d) does not depend on the sum before.
float sum_span(const float* from, size_t count) {
  float sum = 0;
  for (; count >= 8; count -= 8, from += 8) {
    sum += (from[0] + from[1]) + (from[2] + from[3]);
    sum += (from[4] + from[5]) + (from[6] + from[7]);
  }
  for (; count > 0; --count) sum += *from++;
  return sum;
}

namespace {

template <size_t kCount>
[[gnu::noinline]] void add_columns(float* sums, const float* row, ptrdiff_t stride, size_t rows) {
  float totals[kCount];
#pragma GCC unroll 8
  for (size_t j = 0; j < kCount; ++j) totals[j] = sums[j];
  for (; rows > 0; --rows, row += stride) {
#pragma GCC unroll 8
    for (size_t j = 0; j < kCount; ++j) totals[j] += row[j];
  }
#pragma GCC unroll 8
  for (size_t j = 0; j < kCount; ++j) sums[j] = totals[j];
}

}  // namespace

void add_rows(float* sums, const float* row, ptrdiff_t stride, size_t rows, size_t columns) {
  for (; columns >= 8; columns -= 8, sums += 8, row += 8) add_columns<8>(sums, row, stride, rows);
  for (; columns > 0; --columns) add_columns<1>(sums++, row++, stride, rows);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
