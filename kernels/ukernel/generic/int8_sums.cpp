// SPDX-License-Identifier: BSD-3-Clause
// Sums of adjacent channels use vectors of int16, which hold 255 int8 terms before they are widened to int32:
// twice as many lanes as int32. Cores without such vectors sum four at a time in general registers.
#include "kernels/ukernel/int8_sums.h"

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kGroup = 4;  // sums in general registers

// Up to kGroup sums over their windows, in registers; adjacent ones have constant offsets.
template <bool kAdjacent>
RL_INLINE void sum_group(const Int8Windows& w, size_t count, const int8_t* in, int32_t* sums) {
  const ptrdiff_t lane = kAdjacent ? 1 : w.lane;
  if (count < kGroup) {
    for (size_t i = 0; i < count; ++i, in += lane) {
      int32_t sum = 0;
      const int8_t* row = in;
      for (size_t r = 0; r < w.rows; ++r, row += w.row) {
        const int8_t* from = row;
        for (size_t c = 0; c < w.columns; ++c, from += w.column) sum += *from;
      }
      sums[i] += sum;
    }
    return;
  }
  int32_t a = 0, b = 0, c = 0, d = 0;
  for (size_t r = 0; r < w.rows; ++r, in += w.row) {
    const int8_t* from = in;
    for (size_t left = w.columns; left > 0; --left, from += w.column) {
      a += from[0];
      b += from[lane];
      c += from[2 * lane];
      d += from[3 * lane];
    }
  }
  sums[0] += a;
  sums[1] += b;
  sums[2] += c;
  sums[3] += d;
}

// The sums from `first` on, in groups.
template <bool kAdjacent>
void sum_groups(const Int8Windows& w, size_t first, const int8_t* in, int32_t* sums) {
  const ptrdiff_t lane = kAdjacent ? 1 : w.lane;
  for (size_t i = first; i < w.count; i += kGroup) {
    const size_t count = w.count - i < kGroup ? w.count - i : kGroup;
    sum_group<kAdjacent>(w, count, in + static_cast<ptrdiff_t>(i) * lane, sums + i);
  }
}

#if RL_VECTOR_BYTES > 4
constexpr bool kHasVectors = true;
constexpr size_t kBytes = RL_VECTOR_BYTES / 2;  // elements of a vector
constexpr size_t kMost = 255;                   // 255 * -128 fits int16
using Narrow = int8_t __attribute__((vector_size(kBytes)));
using Wide = int16_t __attribute__((vector_size(RL_VECTOR_BYTES)));

RL_INLINE Wide widened(const int8_t* from) {
  Narrow numbers;
  __builtin_memcpy(&numbers, from, sizeof numbers);
  return __builtin_convertvector(numbers, Wide);
}

// Widens partial sums and adds them to sums in memory.
RL_INLINE void add_wide(Wide from, int32_t* sums) {
  using Sums = int32_t __attribute__((vector_size(2 * RL_VECTOR_BYTES)));
  Sums all;
  __builtin_memcpy(&all, sums, sizeof all);
  all += __builtin_convertvector(from, Sums);
  __builtin_memcpy(sums, &all, sizeof all);
}

// kVectors vectors of adjacent sums.
template <size_t kVectors>
void sum_block(const Int8Windows& w, const int8_t* in, int32_t* sums) {
  Wide parts[kVectors] = {};
  size_t left = kMost;
  for (size_t r = 0; r < w.rows; ++r, in += w.row) {
    const int8_t* from = in;
    for (size_t c = 0; c < w.columns; ++c, from += w.column) {
      RL_UNROLL for (size_t v = 0; v < kVectors; ++v) parts[v] += widened(from + v * kBytes);
      if (--left > 0) continue;
      RL_UNROLL for (size_t v = 0; v < kVectors; ++v) {
        add_wide(parts[v], sums + v * kBytes);
        parts[v] = Wide{};
      }
      left = kMost;
    }
  }
  RL_UNROLL for (size_t v = 0; v < kVectors; ++v) add_wide(parts[v], sums + v * kBytes);
}

// Sums whole vectors of adjacent sums; returns the number of sums done.
size_t sum_blocks(const Int8Windows& w, const int8_t* in, int32_t* sums) {
  size_t i = 0;
  for (; i + 4 * kBytes <= w.count; i += 4 * kBytes) sum_block<4>(w, in + i, sums + i);
  for (; i + kBytes <= w.count; i += kBytes) sum_block<1>(w, in + i, sums + i);
  return i;
}

// The sum of `count` contiguous elements.
int32_t sum_span(const int8_t* from, size_t count) {
  int32_t sums[kBytes] = {};
  Int8Windows w;
  w.rows = 1;
  w.columns = count / kBytes;
  w.column = kBytes;
  sum_block<1>(w, from, sums);
  int32_t sum = 0;
  for (const int32_t each : sums) sum += each;
  for (size_t i = w.columns * kBytes; i < count; ++i) sum += from[i];
  return sum;
}
#else
constexpr bool kHasVectors = false;
constexpr size_t kBytes = 1;
size_t sum_blocks(const Int8Windows&, const int8_t*, int32_t*) { return 0; }
int32_t sum_span(const int8_t*, size_t) { return 0; }
#endif

}  // namespace

void sum_int8(const Int8Windows& windows, const int8_t* in, int32_t* sums) {
  if (windows.lane == 1) {
    const size_t done = kHasVectors ? sum_blocks(windows, in, sums) : 0;
    return sum_groups<true>(windows, done, in, sums);
  }
  // Rows of windows that are contiguous: the lanes are elements of one window.
  const bool has_spans = windows.column == 1 && windows.columns >= kBytes;
  if (!kHasVectors || !has_spans) return sum_groups<false>(windows, 0, in, sums);
  for (size_t i = 0; i < windows.count; ++i, in += windows.lane) {
    const int8_t* row = in;
    for (size_t r = 0; r < windows.rows; ++r, row += windows.row) sums[i] += sum_span(row, windows.columns);
  }
}

void quantize_sums(const Requantization& to, size_t count, const int32_t* sums, int8_t* out) {
  // A copy, which stores cannot alias.
  const Requantization of = to;
  if (of.rounding != Rounding::kFloat) {
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<int8_t>(requantize(of, sums[i], 0));
    return;
  }
  const float scale = of.scales[0];
  const auto low = static_cast<float>(of.low - of.zero_point);
  const auto high = static_cast<float>(of.high - of.zero_point);
  for (size_t i = 0; i < count; ++i) {
    out[i] =
        static_cast<int8_t>(requantize_float(static_cast<float>(sums[i]), scale, low, high) + of.zero_point);
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
