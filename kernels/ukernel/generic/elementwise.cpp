// SPDX-License-Identifier: BSD-3-Clause
// Elementwise functions: float32 over vectors of the compiler, other types as loops that compilers vectorize.
// A broadcast operand of a row is one vector that each step loads again: one loop serves all forms.
#include "kernels/ukernel/elementwise.h"

#include <cstring>

#include "kernels/ukernel/generic/vector_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Row `row` of an operand and of the result; strides are in bytes.
template <class T>
RL_INLINE const T* row_of(const RowInput& input, size_t row) {
  return reinterpret_cast<const T*>(static_cast<const char*>(input.data) +
                                    static_cast<ptrdiff_t>(row) * input.stride);
}
template <class T>
RL_INLINE T* out_row(const Rows& rows, size_t row) {
  return reinterpret_cast<T*>(static_cast<char*>(rows.out) + static_cast<ptrdiff_t>(row) * rows.stride);
}

// An operand of a row as vectors. A broadcast operand is stored to one vector in `held`, which each step
// loads again, so that one loop serves all cases.
struct Source {
  const float* at;
  size_t step;

  RL_INLINE F32 full(size_t i) const { return load(at + i * step); }
  RL_INLINE F32 first(size_t i, size_t count) const {
    return step == 0 ? load(at) : load_partial(at + i, count);
  }
};
// `held` has kLanes floats; it must live as long as the source.
RL_INLINE Source source_of(const RowInput& input, size_t row, float* held) {
  const auto* at = row_of<float>(input, row);
  if (!input.one) return {at, 1};
  store(held, splat(*at));
  return {held, 0};
}

// out = f(a, b) by whole vectors, then a partial one, for functions of two operands. Loads come before the
// store of the same elements, so that `out` may be an operand. Functions of few instructions take kVectors at
// a time: each vector alone needs more instructions to count and to move on than to compute.
template <size_t kVectors = 1, class F>
RL_INLINE void for_pairs(const Rows& rows, F f) {
  float held[2][kLanes];
  const size_t n = rows.n;
  const size_t count = rows.count;
  for (size_t row = 0; row < count; ++row) {
    const Source a = source_of(rows.in[0], row, held[0]);
    const Source b = source_of(rows.in[1], row, held[1]);
    float* out = out_row<float>(rows, row);
    size_t i = 0;
    if constexpr (kVectors > 1) {
      for (; i + kVectors * kLanes <= n; i += kVectors * kLanes) {
        F32 results[kVectors];
        RL_UNROLL for (size_t k = 0; k < kVectors; ++k) {
          results[k] = f(a.full(i + k * kLanes), b.full(i + k * kLanes));
        }
        RL_UNROLL for (size_t k = 0; k < kVectors; ++k) store(out + i + k * kLanes, results[k]);
      }
    }
    for (; i + kLanes <= n; i += kLanes) store(out + i, f(a.full(i), b.full(i)));
    if (i < n) store_partial(out + i, f(a.first(i, n - i), b.first(i, n - i)), n - i);
  }
}

// The same for three operands.
template <class F>
RL_INLINE void for_triples(const Rows& rows, F f) {
  float held[3][kLanes];
  const size_t n = rows.n;
  const size_t count = rows.count;
  for (size_t row = 0; row < count; ++row) {
    const Source a = source_of(rows.in[0], row, held[0]);
    const Source b = source_of(rows.in[1], row, held[1]);
    const Source c = source_of(rows.in[2], row, held[2]);
    float* out = out_row<float>(rows, row);
    size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store(out + i, f(a.full(i), b.full(i), c.full(i)));
    const size_t left = n - i;
    if (left > 0) store_partial(out + i, f(a.first(i, left), b.first(i, left), c.first(i, left)), left);
  }
}

// Elements of any type that a step computes: compilers turn a loop of constant length into vectors, and one
// of at most 16 into scalars.
#ifdef __OPTIMIZE_SIZE__
constexpr size_t kStep = 1;
#else
constexpr size_t kStep = 32;
#endif

// An operand of a row, as Source, of any type. `held` has kStep elements.
template <class T>
struct Elements {
  const T* at;
  size_t step;

  RL_INLINE const T* from(size_t i) const { return at + i * step; }
};
template <class T>
RL_INLINE Elements<T> elements_of(const RowInput& input, size_t row, T* held) {
  const T* at = row_of<T>(input, row);
  if (!input.one) return {at, 1};
  for (size_t i = 0; i < kStep; ++i) held[i] = *at;
  return {held, 0};
}

// Writes a row of n results: compute(results, i, count) gives `count` of them from the i-th on. They pass
// through an array, since `out` may be an operand.
template <class Out, class F>
RL_INLINE void for_steps(Out* out, size_t n, F compute) {
  size_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    Out results[kStep];
    compute(results, i, kStep);
    std::memcpy(out + i, results, sizeof(results));
  }
  _Pragma("GCC unroll 1") for (; i < n; ++i) compute(out + i, i, 1);
}

template <class In, class Out, class F>
RL_INLINE void for_elements(const Rows& rows, F f) {
  In held[2][kStep];
  const size_t n = rows.n;
  const size_t count = rows.count;
  for (size_t row = 0; row < count; ++row) {
    const Elements<In> a = elements_of<In>(rows.in[0], row, held[0]);
    const Elements<In> b = elements_of<In>(rows.in[1], row, held[1]);
    for_steps(out_row<Out>(rows, row), n,
              [&](Out* results, size_t i, size_t some) __attribute__((always_inline)) {
                const In* left = a.from(i);
                const In* right = b.from(i);
                for (size_t j = 0; j < some; ++j) results[j] = f(left[j], right[j]);
              });
  }
}

// where: the result copies bits, so that T is any type of its size. Both candidates are loaded before they
// are selected: the loop then has no branch and vectorizes.
template <class T>
RL_INLINE void choose(const Rows& rows) {
  uint8_t held_mask[kStep];
  T held[2][kStep];
  const size_t n = rows.n;
  const size_t count = rows.count;
  for (size_t row = 0; row < count; ++row) {
    const Elements<uint8_t> mask = elements_of<uint8_t>(rows.in[0], row, held_mask);
    const Elements<T> a = elements_of<T>(rows.in[1], row, held[0]);
    const Elements<T> b = elements_of<T>(rows.in[2], row, held[1]);
    for_steps(out_row<T>(rows, row), n,
              [&](T* results, size_t i, size_t some) __attribute__((always_inline)) {
                const uint8_t* is_first = mask.from(i);
                const T* first = a.from(i);
                const T* second = b.from(i);
                for (size_t j = 0; j < some; ++j) {
                  const T yes = first[j];
                  const T no = second[j];
                  results[j] = is_first[j] != 0 ? yes : no;
                }
              });
  }
}

// NaN of either operand is the result, unlike with fmax: if b is NaN and a is not, both comparisons are
// false, and b is selected.
RL_INLINE F32 largest(F32 a, F32 b) { return select((a > b) | (a != a), a, b); }
RL_INLINE F32 least(F32 a, F32 b) { return select((a < b) | (a != a), a, b); }

}  // namespace

void add_f32(const Rows& rows) {
  const F32 factor = splat(rows.number);
  for_pairs<kVectorsAtATime>(rows, [=](F32 a, F32 b) { return multiply_add(b, factor, a); });
}
void mul_f32(const Rows& rows) {
  for_pairs<kVectorsAtATime>(rows, [](F32 a, F32 b) { return a * b; });
}
void div_f32(const Rows& rows) {
  for_pairs<kVectorsAtATime>(rows, [](F32 a, F32 b) { return a / b; });
}
void maximum_f32(const Rows& rows) {
  for_pairs<kVectorsAtATime>(rows, [](F32 a, F32 b) { return largest(a, b); });
}
void minimum_f32(const Rows& rows) {
  for_pairs<kVectorsAtATime>(rows, [](F32 a, F32 b) { return least(a, b); });
}
void pow_f32(const Rows& rows) {
  for_pairs(rows, [](F32 a, F32 b) { return pow(a, b); });
}
void log_add_f32(const Rows& rows) {
  for_pairs(rows, [](F32 a, F32 b) { return log_add(a, b); });
}
void log2_add_f32(const Rows& rows) {
  for_pairs(rows, [](F32 a, F32 b) { return log2_add(a, b); });
}
void clamp_rows_f32(const Rows& rows) {
  for_triples(rows, [](F32 x, F32 low, F32 high) {
    const F32 above = select((x < low) | (low != low), low, x);
    return select((above > high) | (high != high), high, above);
  });
}
// As PyTorch: from the end for weights of 0.5 and more, so that a weight of 1 gives exactly `end`.
void lerp_f32(const Rows& rows) {
  for_triples(rows, [](F32 start, F32 end, F32 weight) {
    const F32 difference = end - start;
    const F32 from_start = multiply_add(weight, difference, start);
    const F32 from_end = end - difference * (1.0f - weight);
    return select(absolute(weight) < 0.5f, from_start, from_end);
  });
}
// The product with the factor is rounded; its product with c is fused where possible.
void addcmul_f32(const Rows& rows) {
  const F32 factor = splat(rows.number);
  for_triples(rows, [=](F32 a, F32 b, F32 c) { return multiply_add(factor * b, c, a); });
}
void addcdiv_f32(const Rows& rows) {
  const F32 factor = splat(rows.number);
  for_triples(rows, [=](F32 a, F32 b, F32 c) { return a + factor * b / c; });
}

// The factor is reduced to the width of T first, which does not change the low bits of the sum.
template <class T>
RL_INLINE void add_scaled(const Rows& rows) {
  const auto factor = static_cast<T>(rows.factor);
  for_elements<T, T>(rows, [=](T a, T b) { return a + factor * b; });
}

// Unsigned, where overflow wraps.
void add_i32(const Rows& rows) { add_scaled<uint32_t>(rows); }
void add_i64(const Rows& rows) { add_scaled<uint64_t>(rows); }
void mul_i32(const Rows& rows) {
  for_elements<uint32_t, uint32_t>(rows, [](uint32_t a, uint32_t b) { return a * b; });
}
void mul_i64(const Rows& rows) {
  for_elements<uint64_t, uint64_t>(rows, [](uint64_t a, uint64_t b) { return a * b; });
}

#define RL_COMPARISON(name, type, result)                                                \
  void name(const Rows& rows) {                                                          \
    for_elements<type, uint8_t>(rows, [](type a, type b) -> uint8_t { return result; }); \
  }
RL_COMPARISON(equal_f32, float, a == b)
RL_COMPARISON(equal_i32, int32_t, a == b)
RL_COMPARISON(equal_i64, int64_t, a == b)
RL_COMPARISON(not_equal_f32, float, a != b)
RL_COMPARISON(not_equal_i32, int32_t, a != b)
RL_COMPARISON(not_equal_i64, int64_t, a != b)
RL_COMPARISON(less_f32, float, a < b)
RL_COMPARISON(less_i32, int32_t, a < b)
RL_COMPARISON(less_i64, int64_t, a < b)
RL_COMPARISON(less_equal_f32, float, a <= b)
RL_COMPARISON(less_equal_i32, int32_t, a <= b)
RL_COMPARISON(less_equal_i64, int64_t, a <= b)
#undef RL_COMPARISON

void where_8(const Rows& rows) { choose<uint8_t>(rows); }
void where_16(const Rows& rows) { choose<uint16_t>(rows); }
void where_32(const Rows& rows) { choose<uint32_t>(rows); }
void where_64(const Rows& rows) { choose<uint64_t>(rows); }

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
