// SPDX-License-Identifier: BSD-3-Clause
// Loops over vectors of doubles. Sums add chains of 64 vectors to a total, which bounds their rounding error.
#include "kernels/ukernel/doubles.h"

#include <cstring>

#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/generic/vector_math.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kWide = kWideLanes;
constexpr size_t kVectors = 4;
constexpr size_t kChain = 64;

// Combines all lanes by combine(a, b), in halves.
template <class Combine>
RL_INLINE double reduce_wide(F64 value, Combine combine) {
  double lanes[kWide];
  store(lanes, value);
  for (size_t step = kWide / 2; step > 0; step /= 2) {
    for (size_t i = 0; i < step; ++i) lanes[i] = combine(lanes[i], lanes[i + step]);
  }
  return lanes[0];
}

// The first `count` lanes; the others become 0.
RL_INLINE F64 first_lanes_of(F64 value, size_t count) {
  if (count == kWide) return value;
  double lanes[kWide];
  store(lanes, value);
  return load_partial(lanes, count);
}

// Calls term(i, count) for each vector in order and adds the results; lanes past count are ignored.
template <class Term>
RL_INLINE double sum_terms(size_t n, Term term) {
  F64 total[kVectors] = {};
  size_t i = 0;
  while (n - i >= kVectors * kWide) {
    F64 sums[kVectors] = {};
    for (size_t chain = 0; chain < kChain && n - i >= kVectors * kWide; ++chain, i += kVectors * kWide) {
      RL_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[v] += term(i + v * kWide, kWide);
    }
    RL_UNROLL for (size_t v = 0; v < kVectors; ++v) total[v] += sums[v];
  }
  for (; i < n; i += kWide) {
    const size_t count = n - i < kWide ? n - i : kWide;
    total[0] += first_lanes_of(term(i, count), count);
  }
  return reduce_wide((total[0] + total[1]) + (total[2] + total[3]), [](double a, double b) { return a + b; });
}

RL_INLINE F64 load_some(const double* x, size_t count) {
  return count == kWide ? load(x) : load_partial(x, count);
}
RL_INLINE void store_some(double* y, F64 value, size_t count) {
  if (count == kWide) return store(y, value);
  store_partial(y, value, count);
}

// NaN replaces everything and stays, since comparisons with it are false. For vectors and single values.
struct Largest {
  template <class V>
  RL_INLINE V operator()(V best, V x) const {
    return (x > best) | (x != x) ? x : best;
  }
};
struct Smallest {
  template <class V>
  RL_INLINE V operator()(V best, V x) const {
    return (x < best) | (x != x) ? x : best;
  }
};

template <class Order>
RL_INLINE double best_of_span(size_t n, const double* x, Order order) {
  double result = x[0];
  size_t i = 0;
  if (n >= kWide) {
    F64 best[kVectors];
    for (F64& each : best) each = load(x);
    for (; n - i >= kVectors * kWide; i += kVectors * kWide) {
      RL_UNROLL for (size_t v = 0; v < kVectors; ++v) best[v] = order(best[v], load(x + i + v * kWide));
    }
    for (; n - i >= kWide; i += kWide) best[0] = order(best[0], load(x + i));
    result = reduce_wide(order(order(best[0], best[1]), order(best[2], best[3])), order);
  }
  for (; i < n; ++i) result = order(result, x[i]);
  return result;
}

// Calls body(first column, columns) for vectors of columns.
template <class Body>
RL_INLINE void for_each_columns(size_t n, Body body) {
  size_t j = 0;
  for (; n - j >= kWide; j += kWide) body(j, kWide);
  if (j < n) body(j, n - j);
}

template <class Term>
RL_INLINE F64 sum_column(size_t rows, Term term) {
  F64 total = splat(0.0);
  F64 block = splat(0.0);
  for (size_t row = 0; row < rows; ++row) {
    block += term(row);
    if ((row + 1) % kChain != 0) continue;
    total += block;
    block = splat(0.0);
  }
  return total + block;
}

template <class Order>
RL_INLINE void best_of_rows(size_t rows, ptrdiff_t stride, size_t n, const double* x, double* y,
                            Order order) {
  for_each_columns(n, [&](size_t j, size_t count) {
    F64 best = load_some(x + j, count);
    for (size_t row = 1; row < rows; ++row) {
      best = order(best, load_some(x + j + static_cast<ptrdiff_t>(row) * stride, count));
    }
    store_some(y + j, best, count);
  });
}

// exp(x) for x <= 0: 2^n exp(r) with |r| <= ln 2 / 2, and the Taylor polynomial of degree 13, whose error is
// below 1e-17. Adding kShift leaves the nearest integer n plus the exponent bias in the low bits. NaN stays.
RL_INLINE F64 exp_of_difference(F64 x) {
  constexpr double kShift = 0x1.8p52 + 1023;
  const F64 shifted = x * splat(0x1.71547652b82fep+0) + splat(kShift);
  const F64 n = shifted - splat(kShift);
  // Cody-Waite: ln 2 in two parts.
  const F64 r = (x - n * splat(0x1.62e42fee00000p-1)) - n * splat(0x1.a39ef35793c76p-33);
  constexpr double kTaylor[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                1.0 / 120,        1.0 / 24,        1.0 / 6,        0.5};
  F64 tail = splat(kTaylor[0]);
  RL_UNROLL for (size_t i = 1; i < sizeof(kTaylor) / sizeof(*kTaylor); ++i) {
    tail = multiply_add(tail, r, splat(kTaylor[i]));
  }
  const F64 power = multiply_add(r * r, tail, r) + splat(1.0);
#if RL_VECTOR_BYTES > 4
  using I64 = M64;
#else
  using I64 = int64_t;
#endif
  I64 scale;
  std::memcpy(&scale, &shifted, sizeof(scale));
  scale = scale << 52;
  F64 factor;
  std::memcpy(&factor, &scale, sizeof(factor));
  return select(x < splat(-708.0), splat(0.0), power * factor);
}

// log(s) for s >= 1, by two steps of Newton's method from the logarithm of float32: y + (s exp(-y) - 1).
RL_INLINE double log_of_sum(double s) {
  double y = static_cast<double>(lane(log(splat(static_cast<float>(s))), 0));
  for (int step = 0; step < 2; ++step) {
    double lanes[kWide];
    store(lanes, exp_of_difference(splat(y > 0 ? -y : 0.0)));
    y = (y > 0 ? y : 0.0) + (s * lanes[0] - 1);
  }
  return y;
}

template <bool kLogarithm>
RL_INLINE void softmax_along(size_t n, const double* x, double* y) {
  const double most = best_of_span(n, x, Largest());
  const F64 largest = splat(most);
  const double sum = sum_terms(n, [=](size_t i, size_t count) {
    const F64 value = exp_of_difference(load_some(x + i, count) - largest);
    if (!kLogarithm) store_some(y + i, value, count);
    return value;
  });
  const F64 factor = splat(kLogarithm ? log_of_sum(sum) : 1.0 / sum);
  for_each_columns(n, [=](size_t i, size_t count) {
    const F64 value =
        kLogarithm ? load_some(x + i, count) - largest - factor : load_some(y + i, count) * factor;
    store_some(y + i, value, count);
  });
}

template <bool kLogarithm>
RL_INLINE void softmax_down(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const double* x,
                            double* y) {
  for_each_columns(n, [&](size_t j, size_t count) {
    const auto x_at = [&](size_t row) {
      return load_some(x + j + static_cast<ptrdiff_t>(row) * x_stride, count);
    };
    const auto y_at = [&](size_t row) { return y + j + static_cast<ptrdiff_t>(row) * y_stride; };
    F64 largest = x_at(0);
    for (size_t row = 1; row < rows; ++row) largest = Largest()(largest, x_at(row));
    F64 sum = sum_column(rows, [&](size_t row) {
      const F64 value = exp_of_difference(x_at(row) - largest);
      if (!kLogarithm) store_some(y_at(row), value, count);
      return value;
    });
    if (kLogarithm) {
      double lanes[kWide];
      store(lanes, sum);
      for (double& each : lanes) each = log_of_sum(each);
      sum = load(lanes);
    } else {
      sum = splat(1.0) / sum;
    }
    for (size_t row = 0; row < rows; ++row) {
      const F64 value = kLogarithm ? x_at(row) - largest - sum : load_some(y_at(row), count) * sum;
      store_some(y_at(row), value, count);
    }
  });
}

}  // namespace

double sum_span_f64(size_t n, const double* x) {
  return sum_terms(n, [=](size_t i, size_t count) { return load_some(x + i, count); });
}

double squares_span_f64(size_t n, const double* x, double mean) {
  const F64 center = splat(mean);
  return sum_terms(n, [=](size_t i, size_t count) {
    const F64 apart = load_some(x + i, count) - center;
    return apart * apart;
  });
}

double max_span_f64(size_t n, const double* x) { return best_of_span(n, x, Largest()); }
double min_span_f64(size_t n, const double* x) { return best_of_span(n, x, Smallest()); }

void sum_rows_f64(size_t rows, ptrdiff_t stride, size_t n, const double* x, double* y) {
  for_each_columns(n, [&](size_t j, size_t count) {
    const F64 sum = sum_column(
        rows, [&](size_t row) { return load_some(x + j + static_cast<ptrdiff_t>(row) * stride, count); });
    store_some(y + j, sum, count);
  });
}

void squares_rows_f64(size_t rows, ptrdiff_t stride, size_t n, const double* x, const double* mean,
                      double* y) {
  for_each_columns(n, [&](size_t j, size_t count) {
    const F64 center = load_some(mean + j, count);
    const F64 sum = sum_column(rows, [&](size_t row) {
      const F64 apart = load_some(x + j + static_cast<ptrdiff_t>(row) * stride, count) - center;
      return apart * apart;
    });
    store_some(y + j, sum, count);
  });
}

void max_rows_f64(size_t rows, ptrdiff_t stride, size_t n, const double* x, double* y) {
  best_of_rows(rows, stride, n, x, y, Largest());
}
void min_rows_f64(size_t rows, ptrdiff_t stride, size_t n, const double* x, double* y) {
  best_of_rows(rows, stride, n, x, y, Smallest());
}

void normalize_span_f64(size_t n, const double* x, double mean, double rstd, const double* weight,
                        const double* bias, double* y) {
  const F64 center = splat(mean);
  const F64 scale = splat(rstd);
  for_each_columns(n, [&](size_t i, size_t count) {
    F64 value = (load_some(x + i, count) - center) * scale;
    if (weight != nullptr) value *= load_some(weight + i, count);
    if (bias != nullptr) value += load_some(bias + i, count);
    store_some(y + i, value, count);
  });
}

void softmax_span_f64(size_t n, const double* x, double* y) { softmax_along<false>(n, x, y); }
void log_softmax_span_f64(size_t n, const double* x, double* y) { softmax_along<true>(n, x, y); }
void softmax_rows_f64(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const double* x,
                      double* y) {
  softmax_down<false>(rows, x_stride, y_stride, n, x, y);
}
void log_softmax_rows_f64(size_t rows, ptrdiff_t x_stride, ptrdiff_t y_stride, size_t n, const double* x,
                          double* y) {
  softmax_down<true>(rows, x_stride, y_stride, n, x, y);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
