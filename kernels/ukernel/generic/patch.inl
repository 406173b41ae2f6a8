// SPDX-License-Identifier: BSD-3-Clause
// Sums of shifted arrays, block copies and depthwise sums with scalars. RL_OWN_SHIFTS and RL_OWN_CHANNELS:
// the including source defines these functions itself.
#include <type_traits>

#include "kernels/ukernel/generic/patch_halves.inl"
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
    for (size_t j = 0; j < kColumns; ++j) totals[i][j] = initial != nullptr ? start : from[j];
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

constexpr size_t kTogether = 4;  // channels and outputs whose sums are in registers together

// kCount channels of a group, for kOutputs outputs, which share the loads of the weights.
template <size_t kCount, size_t kOutputs>
[[gnu::noinline]] void add_group(const ChannelSums& sums, const float* in, const float* weight,
                                 const float* initial, float* out) {
  float totals[kOutputs][kCount];
  const float* row[kOutputs];
#pragma GCC unroll 4
  for (size_t o = 0; o < kOutputs; ++o) {
    row[o] = in + static_cast<ptrdiff_t>(o) * sums.in_step;
#pragma GCC unroll 4
    for (size_t i = 0; i < kCount; ++i) totals[o][i] = initial[i];
  }
  const ptrdiff_t row_step = sums.row_stride - static_cast<ptrdiff_t>(sums.columns) * sums.column_stride;
  for (size_t y = sums.rows; y > 0; --y, weight += sums.weight_row_stride) {
    const float* factor = weight;
    for (size_t x = sums.columns; x > 0; --x, factor += kChannelGroup) {
      float factors[kCount];
#pragma GCC unroll 4
      for (size_t i = 0; i < kCount; ++i) factors[i] = factor[i];
#pragma GCC unroll 4
      for (size_t o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 4
        for (size_t i = 0; i < kCount; ++i) totals[o][i] += factors[i] * row[o][i];
        row[o] += sums.column_stride;
      }
    }
#pragma GCC unroll 4
    for (size_t o = 0; o < kOutputs; ++o) row[o] += row_step;
  }
#pragma GCC unroll 4
  for (size_t o = 0; o < kOutputs; ++o, out += sums.out_step) {
#pragma GCC unroll 4
    for (size_t i = 0; i < kCount; ++i) out[i] = totals[o][i];
  }
}

template <size_t kOutputs>
void add_channels_of(const ChannelSums& sums, const float* in, float* out) {
  static_assert(kChannelGroup % kTogether == 0);
  for (size_t c = 0, count; c < sums.channels; c += count) {
    const float* weight =
        sums.weight + static_cast<ptrdiff_t>(c / kChannelGroup) * sums.group_stride + c % kChannelGroup;
    count = sums.channels - c < kTogether ? 1 : kTogether;
    if (count == 1) {
      add_group<1, kOutputs>(sums, in + c, weight, sums.initial + c, out + c);
    } else {
      add_group<kTogether, kOutputs>(sums, in + c, weight, sums.initial + c, out + c);
    }
  }
}

}  // namespace

void add_channels(const ChannelSums& sums) {
  constexpr auto kMany = static_cast<ptrdiff_t>(kTogether);
  const float* in = sums.in;
  float* out = sums.out;
  size_t left = sums.outputs;
  for (; left >= kTogether; left -= kTogether, in += kMany * sums.in_step, out += kMany * sums.out_step) {
    add_channels_of<kTogether>(sums, in, out);
  }
  for (; left > 0; --left, in += sums.in_step, out += sums.out_step) add_channels_of<1>(sums, in, out);
}
#endif

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
