// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/distance.h"

#include <algorithm>
#include <cmath>

#include "kernels/elements/element_access.h"
#include "kernels/reduction/sum.h"

namespace rushlight::kernels {

namespace {

// Rows that PairwiseSum adds in sequence, too; a plain loop keeps their sum in a register.
#ifdef __OPTIMIZE_SIZE__
constexpr ptrdiff_t kShort = 0;
#else
constexpr ptrdiff_t kShort = 32;
#endif

// The p-norm of `size` differences; difference(i) is the absolute value of one.
template <class T, class F>
T norm(ptrdiff_t size, T p, F difference) {
  // The limit of the p-norm is the largest difference.
  if (std::isinf(p)) {
    T largest = 0;
    for (ptrdiff_t i = 0; i < size; ++i) {
      const T d = difference(i);
      if (d > largest) largest = d;  // NaN is ignored, as in PyTorch
    }
    return largest;
  }
  // The common values of p need no pow(); 0 counts the differences that are not 0.
  const auto term = [&](ptrdiff_t i) {
    const T d = difference(i);
    if (p == 0) return std::isnan(d) ? d : static_cast<T>(d != 0);
    return p == 1 ? d : (p == 2 ? d * d : std::pow(d, p));
  };
  T total = 0;
  if (size <= kShort) {
    for (ptrdiff_t i = 0; i < size; ++i) total += term(i);
  } else {
    PairwiseSum<T> sum;
    for (ptrdiff_t i = 0; i < size; ++i) sum.add(term(i));
    total = sum.total();
  }
  return p == 0 || p == 1 ? total : (p == 2 ? std::sqrt(total) : std::pow(total, T(1) / p));
}

// load(at) reads an element as T, store(at, value) writes one.
template <class T, class Load, class Store>
void write_norms(const RowPairs& rows, T p, char* result, ptrdiff_t result_step, Load load, Store store) {
  const char* b = rows.b;
  for (ptrdiff_t j = 0; j < rows.count; ++j, b += rows.b_next, result += result_step) {
    store(result, norm(rows.size, p, [&](ptrdiff_t i) {
            return std::abs(load(rows.a + i * rows.a_step) - load(b + i * rows.b_step));
          }));
  }
}

// Elements of T, which need no conversion.
template <class T>
void write_typed(const RowPairs& rows, double p, char* results, ptrdiff_t result_step) {
  write_norms(
      rows, static_cast<T>(p), results, result_step,
      [](const char* at) { return *reinterpret_cast<const T*>(at); },
      [](char* at, T value) { *reinterpret_cast<T*>(at) = value; });
}

}  // namespace

void write_distances(const RowPairs& rows, double p, ScalarType type, char* results, ptrdiff_t result_step) {
  // The common dtypes have loops of their elements; all others load each element through a switch, in double.
  if (type == ScalarType::Float) return write_typed<float>(rows, p, results, result_step);
#ifndef __OPTIMIZE_SIZE__
  if (type == ScalarType::Double) return write_typed<double>(rows, p, results, result_step);
#endif
  write_norms(
      rows, p, results, result_step, [type](const char* at) { return load_number(at, type); },
      [type](char* at, double value) { store_number(at, type, value); });
}

}  // namespace rushlight::kernels
