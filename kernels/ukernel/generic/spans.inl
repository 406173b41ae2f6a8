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

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
