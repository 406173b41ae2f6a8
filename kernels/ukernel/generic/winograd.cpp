// SPDX-License-Identifier: BSD-3-Clause
// Winograd transforms over vectors of the compiler: first the columns, then the rows of a tile. Lanes are
// independent, so that one lane or many give the same bits.
#include "kernels/ukernel/winograd.h"

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kIn = kWinogradIn;
constexpr size_t kOut = kWinogradOut;

RL_INLINE F32 load_lanes(const float* from, size_t count) {
  return count == kLanes ? load(from) : load_partial(from, count);
}
RL_INLINE void store_lanes(float* to, F32 value, size_t count) {
  if (count == kLanes) {
    store(to, value);
  } else {
    store_partial(to, value, count);
  }
}

// Transforms one row or column of inputs.
RL_INLINE void transform_inputs(const F32 (&d)[kIn], F32 (&t)[kIn]) {
  t[0] = d[0] - d[2];
  t[1] = d[1] + d[2];
  t[2] = d[2] - d[1];
  t[3] = d[1] - d[3];
}

// Transforms one row or column of products.
RL_INLINE void transform_outputs(const F32 (&m)[kIn], F32 (&y)[kOut]) {
  y[0] = m[0] + m[1] + m[2];
  y[1] = m[1] - m[2] - m[3];
}

// Transforms `count` lanes from `at` on: columns first, so that a row of results is complete when it is
// stored.
RL_INLINE void input_lanes(const WinogradInput& tile, size_t at, size_t count) {
  F32 columns[kIn][kIn];  // [row][column]
  for (size_t j = 0; j < kIn; ++j) {
    F32 d[kIn];
    F32 t[kIn];
    RL_UNROLL for (size_t i = 0; i < kIn; ++i) {
      const float* in = tile.in[i * kIn + j];
      d[i] = in == nullptr ? splat(0.0f) : load_lanes(in + at, count);
    }
    transform_inputs(d, t);
    RL_UNROLL for (size_t i = 0; i < kIn; ++i) columns[i][j] = t[i];
  }
  float* out = tile.out + at;
  for (size_t i = 0; i < kIn; ++i) {
    F32 t[kIn];
    transform_inputs(columns[i], t);
    RL_UNROLL for (size_t j = 0; j < kIn; ++j) {
      store_lanes(out, t[j], count);
      out += tile.out_stride;
    }
  }
}

// Adds 0 * output to `check` for each output: NaN if an output is not finite.
RL_INLINE void output_lanes(const WinogradOutput& tile, size_t at, size_t count, F32& check) {
  F32 columns[kOut][kIn];
  for (size_t j = 0; j < kIn; ++j) {
    F32 m[kIn];
    F32 y[kOut];
    RL_UNROLL for (size_t i = 0; i < kIn; ++i) {
      m[i] = load_lanes(tile.in + static_cast<ptrdiff_t>(i * kIn + j) * tile.in_stride + at, count);
    }
    transform_outputs(m, y);
    RL_UNROLL for (size_t i = 0; i < kOut; ++i) columns[i][j] = y[i];
  }
  const F32 bias = tile.bias == nullptr ? splat(0.0f) : load_lanes(tile.bias + at, count);
  const F32 low = splat(tile.low);
  const F32 high = splat(tile.high);
  for (size_t i = 0; i < kOut; ++i) {
    F32 y[kOut];
    transform_outputs(columns[i], y);
    RL_UNROLL for (size_t j = 0; j < kOut; ++j) check += y[j] * splat(0.0f);
    for (size_t j = 0; j < kOut; ++j) {
      float* out = tile.out[i * kOut + j];
      // Checked above, but not stored: it lies outside of the image.
      if (out == nullptr) continue;
      F32 sum = y[j] + bias;
      if (tile.residual != nullptr) sum += load_lanes(tile.residual[i * kOut + j] + at, count);
      store_lanes(out + at, at_most(at_least(sum, low), high), count);
    }
  }
}

// Transforms one row or column of weights.
RL_INLINE void transform_weights(const F64 (&g)[3], F64 (&t)[kIn]) {
  const F64 half = splat(0.5);
  t[0] = g[0];
  t[1] = half * g[0] + half * g[1] + half * g[2];
  t[2] = half * g[0] - half * g[1] + half * g[2];
  t[3] = g[2];
}

// Gathers `count` lanes from `at` on and transforms them; the others are zeros.
RL_INLINE void weight_lanes(const WinogradWeights& weights, size_t at, size_t count) {
  F64 columns[kIn][3];
  const float* in = weights.in + static_cast<ptrdiff_t>(at) * weights.lane_stride;
  RL_UNROLL for (ptrdiff_t j = 0; j < 3; ++j) {
    F64 g[3];
    F64 t[kIn];
    RL_UNROLL for (ptrdiff_t i = 0; i < 3; ++i) {
      float lanes[kWideLanes] = {};
      const float* from = in + i * weights.row_stride + j * weights.column_stride;
      for (size_t k = 0; k < count; ++k, from += weights.lane_stride) lanes[k] = *from;
      g[i] = load_wide(lanes);
    }
    transform_weights(g, t);
    RL_UNROLL for (size_t i = 0; i < kIn; ++i) columns[i][j] = t[i];
  }
  float* out = weights.out + at;
  RL_UNROLL for (size_t i = 0; i < kIn; ++i) {
    F64 t[kIn];
    transform_weights(columns[i], t);
    RL_UNROLL for (size_t j = 0; j < kIn; ++j, out += weights.out_stride) {
      if (count == kWideLanes) {
        store_narrow(out, t[j]);
        continue;
      }
      float lanes[kWideLanes];
      store_narrow(lanes, t[j]);
      for (size_t k = 0; k < count; ++k) out[k] = lanes[k];
    }
  }
}

}  // namespace

void winograd_weights(const WinogradWeights& weights) {
  size_t i = 0;
  for (; i + kWideLanes <= weights.lanes; i += kWideLanes) weight_lanes(weights, i, kWideLanes);
  if (i < weights.lanes) weight_lanes(weights, i, weights.lanes - i);
}

void winograd_input(const WinogradInput& tile) {
  size_t i = 0;
  for (; i + kLanes <= tile.lanes; i += kLanes) input_lanes(tile, i, kLanes);
  if (i < tile.lanes) input_lanes(tile, i, tile.lanes - i);
}

bool winograd_output(const WinogradOutput& tile) {
  F32 check = splat(0.0f);
  size_t i = 0;
  for (; i + kLanes <= tile.lanes; i += kLanes) output_lanes(tile, i, kLanes, check);
  if (i < tile.lanes) output_lanes(tile, i, tile.lanes - i, check);
  // A sum of zeros, NaN if one output of any lane was infinite or NaN. One test for all lanes.
  return !any(check != check);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
