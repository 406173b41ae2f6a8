// SPDX-License-Identifier: BSD-3-Clause
// Several windows share the loops over their elements.
#include "kernels/ukernel/pool_lines.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Sums need a register each, maxima two.
constexpr size_t kSums = 8;
constexpr size_t kMaxima = 4;

// Calls element(i, number) for each element of kCount windows, in order.
template <size_t kCount, class F>
[[gnu::always_inline]] inline void for_each_element(const PoolLine& line, const char* in, F element) {
  const ptrdiff_t in_step = line.in_step, column_stride = line.column_stride;
  const ptrdiff_t row_step = line.row_stride - static_cast<ptrdiff_t>(line.columns) * column_stride;
  for (size_t rows = line.columns > 0 ? line.rows : 0; rows > 0; --rows, in += row_step) {
    for (size_t columns = line.columns; columns > 0; --columns, in += column_stride) {
      const char* at = in;
#pragma GCC unroll 8
      for (size_t i = 0; i < kCount; ++i, at += in_step) {
        // Keeps one pointer, where compilers prefer one to each window.
        asm("" : "+r"(at));
        element(i, *reinterpret_cast<const float*>(at), columns == 1);
      }
    }
  }
}

template <size_t kCount>
[[gnu::noinline]] void average(const PoolLine& line, float divisor, const char* in, char* out) {
  float sums[kCount] = {};
  for_each_element<kCount>(line, in, [&](size_t i, float number, bool) { sums[i] += number; });
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i, out += line.out_step) {
    *reinterpret_cast<float*>(out) = sums[i] / divisor;
  }
}

// `first` is the index of the first element of the first window.
template <size_t kCount>
[[gnu::noinline]] void largest(const PoolLine& line, const PoolNumbers& numbers, const char* in, char* out,
                               int32_t first, char* index) {
  float most[kCount];
  int32_t found[kCount];
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) most[i] = -__builtin_inff(), found[i] = first;
  int32_t here = first;
  const int32_t row_step = numbers.down - static_cast<int32_t>(line.columns - 1) * numbers.across;
  for_each_element<kCount>(line, in, [&](size_t i, float number, bool is_last) {
    // One comparison for most elements; false for NaN.
    if (!(number <= most[i]) && (number > most[i] || number != number)) {
      most[i] = number;
      found[i] = here;
    }
    if (i == kCount - 1) here += is_last ? row_step : numbers.across;
  });
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i, out += line.out_step) {
    *reinterpret_cast<float*>(out) = most[i];
    if (index == nullptr) continue;
    *reinterpret_cast<int64_t*>(index) = found[i] + static_cast<int32_t>(i) * numbers.step;
    index += numbers.out_step;
  }
}

// Calls some(first window) for groups of kCount windows, and one(window) for the others.
template <size_t kCount, class Some, class One>
void for_each_group(size_t count, Some some, One one) {
  size_t i = 0;
  for (; i + kCount <= count; i += kCount) some(static_cast<ptrdiff_t>(i));
  for (; i < count; ++i) one(static_cast<ptrdiff_t>(i));
}

}  // namespace

void average_line(const PoolLine& line, float divisor) {
  const auto group = [&](auto function) {
    return [&line, divisor, function](ptrdiff_t i) {
      function(line, divisor, line.in + i * line.in_step, line.out + i * line.out_step);
    };
  };
  for_each_group<kSums>(line.count, group(average<kSums>), group(average<1>));
}

void max_line(const PoolLine& line, const PoolNumbers& numbers) {
  const auto group = [&](auto function) {
    return [&line, &numbers, function](ptrdiff_t i) {
      function(line, numbers, line.in + i * line.in_step, line.out + i * line.out_step,
               numbers.first + static_cast<int32_t>(i) * numbers.step,
               numbers.out == nullptr ? nullptr : numbers.out + i * numbers.out_step);
    };
  };
  for_each_group<kMaxima>(line.count, group(largest<kMaxima>), group(largest<1>));
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
