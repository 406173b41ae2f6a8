// SPDX-License-Identifier: BSD-3-Clause
// Sums of shifted arrays, block copies and depthwise sums with scalars. RL_OWN_SHIFTS, RL_OWN_PLANES,
// RL_OWN_BLOCKS and RL_OWN_CHANNELS: the including source defines these functions itself.
#include "kernels/ukernel/generic/long_rows.h"
#include "kernels/ukernel/generic/patch_halves.inl"
#include "kernels/ukernel/patch.h"
#ifndef RL_OWN_PLANES
#include "kernels/ukernel/generic/plane_sums.inl"
#endif

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

#ifndef RL_OWN_SHIFTS
namespace {

inline const float* after(const float* from, ptrdiff_t bytes) {
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(from) + bytes);
}

// Adds a group of kTaps taps: an input serves all sums that see it through one of the taps, and a weight all
// columns.
template <size_t kTaps, size_t kRows, size_t kColumns>
[[gnu::always_inline]] inline void add_taps(const float* in, const float* weight, ptrdiff_t weight_stride,
                                            float (&totals)[kRows][kColumns]) {
  float factors[kRows][kTaps];
#pragma GCC unroll 3
  for (size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (size_t t = 0; t < kTaps; ++t) factors[i][t] = weight[static_cast<ptrdiff_t>(i) * weight_stride + t];
  }
#pragma GCC unroll 18
  for (size_t x = 0; x < kColumns + kTaps - 1; ++x) {
    const float number = in[x];
#pragma GCC unroll 3
    for (size_t t = 0; t < kTaps; ++t) {
      if (x < t || x - t >= kColumns) continue;
#pragma GCC unroll 3
      for (size_t i = 0; i < kRows; ++i) totals[i][x - t] += factors[i][t] * number;
    }
  }
}

// Tiles of kRows x kColumns sums, which stay in registers, while whole tiles are left; returns the columns
// that are done.
template <size_t kRows, size_t kColumns>
[[gnu::noinline]] size_t add_tiles(const ShiftedSums& sums, size_t row, size_t column) {
  const auto first = static_cast<ptrdiff_t>(row);
  const float* const weights = sums.weight + first * sums.weight_stride;
  const ShiftedTaps* const end = sums.taps + sums.count;
  for (; column + kColumns <= sums.columns; column += kColumns) {
    float totals[kRows][kColumns];
    float* out = sums.out + first * sums.out_stride + column;
#pragma GCC unroll 3
    for (size_t i = 0; i < kRows; ++i, out += sums.out_stride) {
      // Keeps one pointer to a row, where compilers prefer one to each element.
      asm("" : "+r"(out));
      if (sums.initial != nullptr) {
        const float start = sums.initial[row + i];
#pragma GCC unroll 16
        for (size_t j = 0; j < kColumns; ++j) totals[i][j] = start;
      } else {
#pragma GCC unroll 16
        for (size_t j = 0; j < kColumns; ++j) totals[i][j] = out[j];
      }
    }
    const float* in = sums.in + column;
    const float* weight = weights;
    for (const ShiftedTaps* taps = sums.taps; taps != end; ++taps) {
      const float* from = after(in, taps->in);
      static_assert(kShiftTaps == 1 || kShiftTaps == 3);
      if (kShiftTaps == 1 || kRows > 2) {
        add_taps<1>(from, weight, sums.weight_stride, totals);
        ++weight;
      } else if (taps->more == 0) {
        add_taps<1>(from, weight, sums.weight_stride, totals);
        ++weight;
      } else if (taps->more == 1) {
        add_taps<2>(from, weight, sums.weight_stride, totals);
        weight += 2;
      } else {
        add_taps<3>(from, weight, sums.weight_stride, totals);
        weight += 3;
      }
    }
    out = sums.out + first * sums.out_stride + column;
#pragma GCC unroll 3
    for (size_t i = 0; i < kRows; ++i, out += sums.out_stride) {
      asm("" : "+r"(out));
#pragma GCC unroll 16
      for (size_t j = 0; j < kColumns; ++j) out[j] = totals[i][j];
    }
  }
  return column;
}

}  // namespace

// Two rows share the loads of the columns; a single one has twice as many columns in a tile. Three rows are
// quicker if all groups have single taps, which share no loads; the weights of more would not fit in
// registers.
void add_shifted(const ShiftedSums& sums) {
  size_t row = 0;
  if (kShiftTaps > 1 && sums.has_single_taps) {
    for (; row + 3 <= sums.rows; row += 3) add_tiles<3, kShiftColumns>(sums, row, 0);
  }
  for (; row + 2 <= sums.rows; row += 2) add_tiles<2, kShiftColumns>(sums, row, 0);
  if (row == sums.rows) return;
  const size_t column = add_tiles<1, 2 * kShiftColumns>(sums, row, 0);
  add_tiles<1, kShiftColumns>(sums, row, column);
}
#endif

namespace {

// Any strides: the elements of a row one at a time, four in an iteration.
[[maybe_unused]] void copy_strided(float* to, BlockStrides to_strides, const float* from,
                                   BlockStrides from_strides, size_t rows, size_t columns) {
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    const float* at = from;
    float* target = to;
    const auto copy = [&]() __attribute__((always_inline)) {
      *target = *at;
      at += from_strides.column;
      target += to_strides.column;
    };
    size_t left = columns;
    for (; left >= 4; left -= 4) {
      copy();
      copy();
      copy();
      copy();
    }
    for (; left > 0; --left) copy();
  }
}

}  // namespace

#ifndef RL_OWN_BLOCKS
void copy_block(float* to, BlockStrides to_strides, const float* from, BlockStrides from_strides, size_t rows,
                size_t columns) {
  lengthen_rows(&to_strides, &from_strides, &rows, &columns);
  if (from_strides.column != 1 || to_strides.column != 1) {
    return copy_strided(to, to_strides, from, from_strides, rows, columns);
  }
  for (; rows > 0; --rows, to += to_strides.row, from += from_strides.row) {
    const float* at = from;
    float* target = to;
    size_t left = columns;
    for (; left >= 4; left -= 4, at += 4, target += 4) {
      const float a = at[0], b = at[1], c = at[2], d = at[3];
      target[0] = a, target[1] = b, target[2] = c, target[3] = d;
    }
    for (; left > 0; --left) *target++ = *at++;
  }
}
#endif

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
