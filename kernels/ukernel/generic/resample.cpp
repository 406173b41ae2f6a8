// SPDX-License-Identifier: BSD-3-Clause
// Interpolation over vectors of the compiler; repetition by factors up to 4 uses shuffles. Along a row, the
// inputs of a vector of outputs are lanes of one vector unless the row shrinks: a load and a permutation for
// each tap. Rows, and pixels with their channels in the lanes, are sums of vectors.
#include "kernels/ukernel/resample.h"

#include <type_traits>
#include <utility>

#include "kernels/ukernel/generic/blocks.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

RL_INLINE void copy_span(size_t n, const float* from, float* to) {
  for (; n >= kLanes; n -= kLanes, from += kLanes, to += kLanes) store(to, load(from));
  if (n > 0) store_partial(to, load_partial(from, n), n);
}

// Any factor, element by element; further rows are copies of the first one, which is in the cache.
RL_INLINE void repeat_each(const RepeatedRows& r, const float* from, float* to) {
  float* at = to;
  for (size_t i = 0; i < r.n; ++i) {
    const float value = from[i];
    for (size_t l = 0; l < r.across; ++l) *at++ = value;
  }
  for (size_t k = 1; k < r.down; ++k) {
    copy_span(r.n * r.across, to, to + static_cast<ptrdiff_t>(k) * r.to_stride);
  }
}

#if RL_VECTOR_BYTES > 4
// The first `count` <= kLanes elements, each repeated kAcross times.
template <size_t kAcross>
struct Repeated {
  F32 parts[kAcross];
  size_t count;

  RL_INLINE explicit Repeated(F32 value) : Repeated(value, kLanes, std::make_index_sequence<kAcross>()) {}
  RL_INLINE Repeated(const float* from, size_t count)
      : Repeated(load_partial(from, count), count, std::make_index_sequence<kAcross>()) {}
  // Writes kLanes * kAcross floats.
  RL_INLINE void write_all(float* to) const {
    RL_UNROLL for (size_t part = 0; part < kAcross; ++part) store(to + part * kLanes, parts[part]);
  }
  // Writes count * kAcross floats: parts that are whole, then the partial one.
  RL_INLINE void write(float* to) const {
    RL_UNROLL for (size_t part = 0; part < kAcross; ++part, to += kLanes) {
      const size_t before = part * kLanes;
      if (count * kAcross >= before + kLanes) {
        store(to, parts[part]);
      } else if (count * kAcross > before) {
        store_partial(to, parts[part], count * kAcross - before);
      }
    }
  }

 private:
  template <size_t... kPart>
  RL_INLINE Repeated(F32 value, size_t count, std::index_sequence<kPart...>)
      : parts{part<kPart>(value, std::make_index_sequence<kLanes>())...}, count(count) {}
  // Lane `kLane` of part kPart is element (kPart * kLanes + kLane) / kAcross of the vector.
  template <size_t kPart, size_t... kLane>
  RL_INLINE static F32 part(F32 value, std::index_sequence<kLane...>) {
    return __builtin_shufflevector(value, value, ((kPart * kLanes + kLane) / kAcross)...);
  }
};

// All copies of a vector's elements are written to two rows while they are in registers. The last vector
// overlaps the one before, instead of a partial one.
template <size_t kAcross>
RL_INLINE void repeat_row(const RepeatedRows& r, const float* from, float* to) {
  if (r.n < kLanes) {
    const Repeated<kAcross> repeated(from, r.n);
    for (size_t k = 0; k < r.down; ++k, to += r.to_stride) repeated.write(to);
    return;
  }
  // Pairs of rows share the loads; an odd number leaves one.
  const auto write_rows = [&](auto count) __attribute__((always_inline)) {
    const auto repeat = [&](size_t i) __attribute__((always_inline)) {
      const Repeated<kAcross> repeated(load(from + i));
      repeated.write_all(to + i * kAcross);
      if (count == 2) repeated.write_all(to + r.to_stride + i * kAcross);
    };
    size_t i = 0;
    for (; i + kLanes <= r.n; i += kLanes) repeat(i);
    if (i < r.n) repeat(r.n - kLanes);  // repeats some elements again
    to += static_cast<ptrdiff_t>(count) * r.to_stride;
  };
  for (size_t k = r.down; k > 1; k -= 2) write_rows(std::integral_constant<size_t, 2>());
  if (r.down % 2 != 0) write_rows(std::integral_constant<size_t, 1>());
}
#else
template <size_t>
RL_INLINE void repeat_row(const RepeatedRows& r, const float* from, float* to) {
  repeat_each(r, from, to);
}
#endif

template <class Row>
RL_INLINE void for_each_row(const RepeatedRows& r, Row row) {
  const float* from = r.from;
  float* to = r.to;
  for (size_t i = 0; i < r.rows; ++i) {
    row(from, to);
    from += r.from_stride;
    to += static_cast<ptrdiff_t>(r.down) * r.to_stride;
  }
}

// The factor across is a constant of the shuffles.
template <size_t kAcross>
RL_INLINE void repeat(const RepeatedRows& r) {
  for_each_row(r, [&](const float* from, float* to) { repeat_row<kAcross>(r, from, to); });
}

// kTaps: a constant number of rows, or 0 for any.
template <size_t kTaps>
void sum_rows(size_t n, size_t any, const float* const* rows, const float* weights, float* out) {
  const size_t taps = kTaps == 0 ? any : kTaps;
  for_each_tile(n, [&](const auto& tile, size_t i) {
    constexpr size_t kCount = std::decay_t<decltype(tile)>::kVectors;
    F32 sums[kCount];
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) sums[v] = tile.read(rows[0] + i, v) * weights[0];
    for (size_t t = 1; t < taps; ++t) {
      const F32 weight = splat(weights[t]);
      RL_UNROLL for (size_t v = 0; v < kCount; ++v) {
        sums[v] = multiply_add(tile.read(rows[t] + i, v), weight, sums[v]);
      }
    }
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) tile.write(out + i, v, sums[v]);
  });
}

// The lanes of a vector of outputs for one tap: inputs at `index` from `row` on.
RL_INLINE F32 gathered(const float* row, const int32_t* index) {
  float lanes[kLanes];
  for (size_t l = 0; l < kLanes; ++l) lanes[l] = row[index[l]];
  return load(lanes);
}

template <size_t kTaps>
void along(const ResampledRow& given) {
  const ResampledRow r = given;  // a copy, which `out` cannot alias
  const size_t taps = kTaps == 0 ? r.taps : kTaps;
  for (size_t i = 0; i < r.n; i += kLanes) {
    const size_t count = r.n - i < kLanes ? r.n - i : kLanes;
    const int32_t* const first = r.first + i;
    const int32_t base = first[0];
    F32 sum = splat(0.0F);
    const auto add = [&](auto tap) __attribute__((always_inline)) {
      for (size_t t = 0; t < taps; ++t) {
        sum = multiply_add(tap(r.row + t), load(r.weights + t * r.weight_stride + i), sum);
      }
    };
    if (kPermutes && first[count - 1] - base < static_cast<int32_t>(kLanes)) {
      I32 index;
      std::memcpy(&index, first, sizeof(index));
      index -= splat(base);
      add([&](const float* from)
              __attribute__((always_inline)) { return permuted(load(from + base), index); });
    } else if (count == kLanes) {
      add([&](const float* from) __attribute__((always_inline)) { return gathered(from, first); });
    } else {
      int32_t index[kLanes] = {};
      for (size_t l = 0; l < count; ++l) index[l] = first[l];
      add([&](const float* from) __attribute__((always_inline)) { return gathered(from, index); });
    }
    if (count == kLanes) {
      store(r.out + i, sum);
    } else {
      store_partial(r.out + i, sum, count);
    }
  }
}

}  // namespace

void resample_gather(size_t n, const float* row, const int32_t* index, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = row[index[i]];
}

void resample_repeat(const RepeatedRows& given) {
  const RepeatedRows r = given;  // a copy, which `to` cannot alias
  switch (r.across) {
    case 1:
      return repeat<1>(r);
    case 2:
      return repeat<2>(r);
    case 3:
      return repeat<3>(r);
    case 4:
      return repeat<4>(r);
    default:
      for_each_row(r, [&](const float* from, float* to) { repeat_each(r, from, to); });
  }
}

void resample_sum(size_t n, size_t taps, const float* const* rows, const float* weights, float* out) {
  if (taps == 2) return sum_rows<2>(n, taps, rows, weights, out);
  if (taps == 4) return sum_rows<4>(n, taps, rows, weights, out);
  sum_rows<0>(n, taps, rows, weights, out);
}

void resample_along(const ResampledRow& row) {
  if (row.taps == 2) return along<2>(row);
  along<0>(row);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
