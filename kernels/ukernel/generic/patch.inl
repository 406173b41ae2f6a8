// SPDX-License-Identifier: BSD-3-Clause
// Sums of shifted arrays, block copies and depthwise sums with scalars. RL_OWN_SHIFTS and RL_OWN_CHANNELS: the
// including source defines these functions itself.
#include <type_traits>

#include "kernels/ukernel/patch.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#ifndef RL_OWN_SHIFTS
namespace {

inline const float* after(const float* from, ptrdiff_t bytes) {
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(from) + bytes);
}

// kRows x kColumns sums in registers: with every tap a column serves all rows, and a weight all columns.
template <size_t kRows, size_t kColumns>
[[gnu::noinline]] void add_tile(const ShiftedSums& sums, const float* in, const float* weight,
                                const float* initial, float* out) {
  float totals[kRows][kColumns];
#pragma GCC unroll 2
  for (size_t i = 0; i < kRows; ++i) {
    const float* from = out + static_cast<ptrdiff_t>(i) * sums.out_stride;
    const float start = initial != nullptr ? initial[i] : 0;
#pragma GCC unroll 16
    for (size_t j = 0; j < kColumns; ++j) totals[i][j] = start;
    if (initial == nullptr) {
#pragma GCC unroll 16
      for (size_t j = 0; j < kColumns; ++j) totals[i][j] = from[j];
    }
  }
  const float* second = weight + sums.weight_stride;
  const ShiftedTap* const end = sums.taps + sums.count;
  for (const ShiftedTap* tap = sums.taps; tap != end; ++tap) {
    const float* from = after(in, tap->in);
    float factors[2] = {*after(weight, tap->weight), 0};
    if constexpr (kRows == 2) factors[1] = *after(second, tap->weight);
#pragma GCC unroll 16
    for (size_t j = 0; j < kColumns; ++j) {
      const float number = from[j];
#pragma GCC unroll 2
      for (size_t i = 0; i < kRows; ++i) totals[i][j] += factors[i] * number;
    }
  }
#pragma GCC unroll 2
  for (size_t i = 0; i < kRows; ++i) {
    float* to = out + static_cast<ptrdiff_t>(i) * sums.out_stride;
#pragma GCC unroll 16
    for (size_t j = 0; j < kColumns; ++j) to[j] = totals[i][j];
  }
}

}  // namespace

void add_shifted(const ShiftedSums& sums) {
  constexpr size_t kTwice = 2 * kShiftColumns;
  size_t row = 0;
  const auto add_rows = [&](auto rows, auto wide) {
    const auto at = static_cast<ptrdiff_t>(row);
    const float* weight = sums.weight + at * sums.weight_stride;
    const float* initial = sums.initial != nullptr ? sums.initial + row : nullptr;
    float* out = sums.out + at * sums.out_stride;
    size_t column = 0;
    if constexpr (decltype(wide)::value) {
      for (; column + kTwice <= sums.columns; column += kTwice) {
        add_tile<decltype(rows)::value, kTwice>(sums, sums.in + column, weight, initial, out + column);
      }
    }
    for (; column < sums.columns; column += kShiftColumns) {
      add_tile<decltype(rows)::value, kShiftColumns>(sums, sums.in + column, weight, initial, out + column);
    }
    row += decltype(rows)::value;
  };
  while (row + 2 <= sums.rows) add_rows(std::integral_constant<size_t, 2>(), std::false_type());
  if (row < sums.rows) add_rows(std::integral_constant<size_t, 1>(), std::true_type());
}
#endif

void copy_block(float* to, BlockStrides to_strides, const float* from, BlockStrides from_strides, size_t rows,
                size_t columns) {
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    const float* at = from;
    float* target = to;
    size_t left = columns;
    if (from_strides.column == 1 && to_strides.column == 1) {
      for (; left >= 4; left -= 4, at += 4, target += 4) {
        const float a = at[0], b = at[1], c = at[2], d = at[3];
        target[0] = a, target[1] = b, target[2] = c, target[3] = d;
      }
    }
    for (; left > 0; --left, at += from_strides.column, target += to_strides.column) *target = *at;
  }
}

#ifndef RL_OWN_CHANNELS
namespace {

// The channels of a group, for one output.
template <size_t kCount>
inline void add_group(const ChannelSums& sums, const float* in, const float* weight, const float* initial,
                      float* out) {
  float totals[kCount];
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) totals[i] = initial[i];
  for (size_t y = sums.rows; y > 0; --y, in += sums.row_stride, weight += sums.weight_row_stride) {
    const float* at = in;
    const float* factor = weight;
    for (size_t x = sums.columns; x > 0; --x, at += sums.column_stride, factor += kChannelGroup) {
#pragma GCC unroll 8
      for (size_t i = 0; i < kCount; ++i) totals[i] += factor[i] * at[i];
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < kCount; ++i) out[i] = totals[i];
}

}  // namespace

void add_channels(const ChannelSums& sums) {
  const float* in = sums.in;
  float* out = sums.out;
  for (size_t o = sums.outputs; o > 0; --o, in += sums.in_step, out += sums.out_step) {
    const float* weight = sums.weight;
    size_t c = 0;
    for (; c + kChannelGroup <= sums.channels; c += kChannelGroup, weight += sums.group_stride) {
      add_group<kChannelGroup>(sums, in + c, weight, sums.initial + c, out + c);
    }
    for (; c < sums.channels; ++c, ++weight) add_group<1>(sums, in + c, weight, sums.initial + c, out + c);
  }
}
#endif

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
