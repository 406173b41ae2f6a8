// SPDX-License-Identifier: BSD-3-Clause
// Interpolation over vectors of the compiler; repetition by factors up to 4 uses shuffles. Interpolation
// along a row has scalar loads, as its neighbours lie anywhere; between rows, and between pixels with their
// channels in the lanes, it is a blend of vectors.
#include "kernels/ukernel/resample.h"

#include <utility>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// a (1 - share) + b share: one product is rounded, the other fused where possible.
RL_INLINE F32 blended(F32 a, F32 b, float share) { return multiply_add(b, splat(share), a * (1.0f - share)); }

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

  RL_INLINE Repeated(const float* from, size_t count)
      : Repeated(count == kLanes ? load(from) : load_partial(from, count), count,
                 std::make_index_sequence<kAcross>()) {}
  // Writes count * kAcross floats: parts that are whole, then the partial one.
  RL_INLINE void write(float* to) const {
    RL_UNROLL for (size_t part = 0; part < kAcross; ++part, to += kLanes) {
      const size_t before = part * kLanes;
      if (count == kLanes || count * kAcross >= before + kLanes) {
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

// All copies of a vector's elements are written to all `down` rows while they are in registers. The last
// vector overlaps the one before, instead of a partial one.
template <size_t kAcross>
RL_INLINE void repeat_row(const RepeatedRows& r, const float* from, float* to) {
  const auto repeat = [&](size_t i, size_t count) {
    const Repeated<kAcross> repeated(from + i, count);
    float* at = to + i * kAcross;
    for (size_t k = 0; k < r.down; ++k, at += r.to_stride) repeated.write(at);
  };
  if (r.n < kLanes) return repeat(0, r.n);
  size_t i = 0;
  for (; i + kLanes <= r.n; i += kLanes) repeat(i, kLanes);
  if (i < r.n) repeat(r.n - kLanes, kLanes);  // repeats some elements again
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

void resample_blend(size_t n, const float* a, const float* b, float share, float* out) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, blended(load(a + i), load(b + i), share));
  const size_t left = n - i;
  if (left == 0) return;
  store_partial(out + i, blended(load_partial(a + i, left), load_partial(b + i, left), share), left);
}

void resample_pixel(size_t n, const float* a, const float* b, const float* c, const float* d, float across,
                    float down, float* out) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 upper = blended(load(a + i), load(b + i), across);
    store(out + i, blended(upper, blended(load(c + i), load(d + i), across), down));
  }
  const size_t left = n - i;
  if (left == 0) return;
  const F32 upper = blended(load_partial(a + i, left), load_partial(b + i, left), across);
  const F32 lower = blended(load_partial(c + i, left), load_partial(d + i, left), across);
  store_partial(out + i, blended(upper, lower, down), left);
}

void resample_between(size_t n, const float* row, const int32_t* first, const int32_t* second,
                      const float* share, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = row[first[i]] * (1.0f - share[i]) + row[second[i]] * share[i];
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
