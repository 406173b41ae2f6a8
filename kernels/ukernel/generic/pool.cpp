// SPDX-License-Identifier: BSD-3-Clause
// Pools over vectors of results. Windows of stride 2 load two vectors and shuffle; other strides gather lane
// by lane. Byte pools keep the winning tap as a byte, so that a vector holds as many indices as values.
#include "kernels/ukernel/pool.h"

#include <type_traits>
#include <utility>

#include "kernels/ukernel/generic/blocks.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// The elements with even index of two consecutive vectors. The second load starts at the last element of the
// first, so that nothing past the last used element is read.
RL_INLINE F32 every_second(const float* x) {
#if RL_VECTOR_BYTES == 64
  return __builtin_shufflevector(load(x), load(x + 15), 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29,
                                 31);
#elif RL_VECTOR_BYTES == 32
  return __builtin_shufflevector(load(x), load(x + 7), 0, 2, 4, 6, 9, 11, 13, 15);
#elif RL_VECTOR_BYTES == 16
  return __builtin_shufflevector(load(x), load(x + 3), 0, 2, 5, 7);
#else
  return load(x);
#endif
}

// The same where elements past the last one can be read, as in a buffer: whole vectors need one shuffle.
template <size_t... kLane>
RL_INLINE F32 even_lanes(const float* x, std::index_sequence<kLane...>) {
#if RL_VECTOR_BYTES > 4
  return __builtin_shufflevector(load(x), load(x + kLanes), (2 * kLane)...);
#else
  return load(x);
#endif
}

// Loads of vectors of results: read(x, v) returns the elements of vector v, where x points to the element of
// the first result.
struct SecondLanes {
  static constexpr size_t kVectors = 1;
  size_t last = kLanes;
  RL_INLINE F32 read(const float* x, size_t) const { return every_second(x); }
  RL_INLINE void write(float* y, size_t, F32 value) const { store(y, value); }
};
struct StridedLanes {
  static constexpr size_t kVectors = 1;
  ptrdiff_t lane;
  size_t last;
  RL_INLINE F32 read(const float* x, size_t) const {
    float lanes[kLanes] = {};
    for (size_t i = 0; i < last; ++i) lanes[i] = x[static_cast<ptrdiff_t>(i) * lane];
    return load(lanes);
  }
  RL_INLINE void write(float* y, size_t, F32 value) const { store_partial(y, value, last); }
};

// Calls body(lanes, first result) for all results.
template <class Body>
RL_INLINE void for_each_result(size_t count, ptrdiff_t lane, Body body) {
  if (lane == 1) return for_each_tile(count, body);
  size_t i = 0;
  if (lane == 2 && kLanes > 1 && count >= kLanes) {
    for (; count - i >= kLanes; i += kLanes) body(SecondLanes(), i);
    if (i < count) body(SecondLanes(), count - kLanes);  // recomputes some results
    return;
  }
  for (; i < count; i += kLanes) body(StridedLanes{lane, count - i < kLanes ? count - i : kLanes}, i);
}

// 0, 1, 2, ... in the lanes.
RL_INLINE I32 lane_indices() {
  int32_t lanes[kLanes];
  for (size_t i = 0; i < kLanes; ++i) lanes[i] = static_cast<int32_t>(i);
  I32 result;
  std::memcpy(&result, lanes, sizeof(result));
  return result;
}

// Widens indices to int64; the loop over whole vectors has a constant count.
RL_INLINE void write_indices(int64_t* to, I32 numbers, size_t count) {
  int32_t lanes[kLanes];
  std::memcpy(lanes, &numbers, sizeof(lanes));
  if (count == kLanes) {
    for (size_t i = 0; i < kLanes; ++i) to[i] = lanes[i];
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = lanes[i];
  }
}

// One result with scalars, for which vectors are no faster.
RL_INLINE void max_of_window(const PoolWindow& window, const PoolIndices& numbers, const float* x, float* y,
                             int64_t* index) {
  float best = -__builtin_inff();
  int32_t found = numbers.first;
  for (size_t r = 0; r < window.rows; ++r) {
    const float* at = x + static_cast<ptrdiff_t>(r) * window.row;
    int32_t number = numbers.first + static_cast<int32_t>(r) * numbers.row;
    for (size_t c = 0; c < window.columns; ++c, at += window.column, number += numbers.column) {
      if (!(*at > best) && *at == *at) continue;
      best = *at;
      found = number;
    }
  }
  *y = best;
  if (index != nullptr) *index = found;
}

// Maxima without indices, three operations an element.
void max_values(size_t count, const PoolWindow& window, const float* x, float* y) {
  for_each_result(count, window.lane, [&](const auto& lanes, size_t i) {
    constexpr size_t kCount = std::decay_t<decltype(lanes)>::kVectors;
    F32 best[kCount];
    for (F32& each : best) each = splat(-__builtin_inff());
    const float* row = x + static_cast<ptrdiff_t>(i) * window.lane;
    for (size_t r = 0; r < window.rows; ++r, row += window.row) {
      const float* at = row;
      for (size_t c = 0; c < window.columns; ++c, at += window.column) {
        RL_UNROLL for (size_t v = 0; v < kCount; ++v) best[v] = larger(best[v], lanes.read(at, v));
      }
    }
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) lanes.write(y + i, v, best[v]);
  });
}

// Pools of planes: a row of results is the combination of a few rows of the plane, in a buffer with the
// padding, and then of shifted loads of the buffer. A result costs kernel rows + kernel columns operations
// instead of their product, if windows overlap. Stores of partial vectors, which some processors split by
// lane, are rare: rows of the buffer have space for whole vectors, and a result's vector may reach into
// results that are written later.

// padded() replaces the lanes from `count` on, which were loaded as zeros, by the padding.
struct Largest {
  RL_INLINE static F32 start() { return splat(-__builtin_inff()); }
  RL_INLINE static F32 combine(F32 best, F32 value) { return larger(best, value); }
  RL_INLINE static F32 padded(F32 best, [[maybe_unused]] size_t count) {
    if constexpr (kLanes == 1) return best;
    return select(lane_indices() < splat(static_cast<int32_t>(count)), best, start());
  }
};
struct Total {
  RL_INLINE static F32 start() { return splat(0.0f); }
  RL_INLINE static F32 combine(F32 sum, F32 value) { return sum + value; }
  RL_INLINE static F32 padded(F32 sum, size_t) { return sum; }
};

// Floats of a row of the buffer, and of the buffer, which fits in the L1 cache.
constexpr size_t kHeldRow = 4 * kPoolReach;
constexpr size_t kHeldRows = 2 * kHeldRow;

// ceil(a / b); divisions are slow, and dilations are rare.
RL_INLINE size_t divide_up(size_t a, size_t b) { return b == 1 ? a : (a + b - 1) / b; }

// Indices of a window's elements inside the plane, [begin, end).
struct Inside {
  size_t begin;
  size_t end;
  RL_INLINE Inside(const PoolAxis& axis, size_t window) {
    const size_t start = window * axis.step;  // plus pad
    begin = start >= axis.pad ? 0 : divide_up(axis.pad - start, axis.dilation);
    const size_t last = axis.in + axis.pad;
    end = start >= last ? 0 : divide_up(last - start, axis.dilation);
    if (end > axis.kernel) end = axis.kernel;
    if (begin > end) begin = end;
  }
  [[nodiscard]] RL_INLINE size_t count() const { return end - begin; }
};

// Columns of the plane, from `low` - pad on, whose windows are computed together.
struct HeldColumns {
  size_t first;   // result
  size_t count;   // results
  size_t before;  // padding in front of the plane's columns
  size_t from;    // the first column of the plane
  size_t width;   // columns of the plane
  size_t lead;    // floats in front of a row of the buffer: then the plane's columns are aligned vectors
  size_t pitch;   // floats from row to row of the buffer: padding on both sides, and space for whole vectors

  RL_INLINE HeldColumns(const PoolAxis& axis, size_t result) : first(result) {
    const size_t reach = (axis.kernel - 1) * axis.dilation + 1;
    const size_t most = (kHeldRow - reach) / axis.step + 1;
    count = axis.out - first < most ? axis.out - first : most;
    const size_t begin = first * axis.step;  // plus pad, as is `end`
    const size_t end = begin + (count - 1) * axis.step + reach;
    before = begin < axis.pad ? (axis.pad < end ? axis.pad : end) - begin : 0;
    from = begin < axis.pad ? 0 : begin - axis.pad;
    const size_t last = end < axis.pad ? 0 : end - axis.pad;
    width = last < axis.in ? last : axis.in;
    width = width > from ? width - from : 0;
    lead = (kLanes - before % kLanes) % kLanes;
    const size_t used = end - begin > before + width ? end - begin : before + width;
    pitch = (lead + used + kLanes - 1) / kLanes * kLanes;
  }
};

// held[c] = the combination of rows of column c. Whole vectors are stored. Without masks, the last vector of
// a row overlaps the one before it; a row shorter than a vector has a partial one.
template <class Op>
RL_INLINE void combine_rows(size_t rows, const float* x, ptrdiff_t stride, size_t width, float* held) {
  const auto combine = [&](const auto& tile, size_t j) __attribute__((always_inline)) {
    constexpr size_t kCount = std::decay_t<decltype(tile)>::kVectors;
    F32 sums[kCount];
    const float* at = x + j;
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) sums[v] = rows == 0 ? Op::start() : tile.read(at, v);
    for (size_t r = 1; r < rows; ++r) {
      at += stride;
      RL_UNROLL for (size_t v = 0; v < kCount; ++v) sums[v] = Op::combine(sums[v], tile.read(at, v));
    }
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) {
      store(held + j + v * kLanes, kCount > 1 ? sums[v] : Op::padded(sums[v], tile.last));
    }
  };
  if (kMasks || width < kLanes) return for_each_tile(width, combine);
  constexpr size_t kTogether = 4;
  size_t j = 0;
  for (; width - j >= kTogether * kLanes; j += kTogether * kLanes) combine(Tile<kTogether>(), j);
  if (width >= 2 * kLanes) {
    for (; width - j >= 2 * kLanes; j += 2 * kLanes) combine(Tile<2>(), j);
    if (width - j > kLanes) return combine(Tile<2>(), width - 2 * kLanes);
  } else {
    combine(Tile<1>(), 0);
    j = kLanes;
  }
  if (j < width) combine(Tile<1>(), width - kLanes);
}

// sums[v] = the combination of kernel elements of each lane, read(at + v * apart) the first of them.
template <class Op, size_t kVectors, class Read>
RL_INLINE void combine_taps(F32 (&sums)[kVectors], const PoolAxis& axis, const float* at, size_t apart,
                            Read read) {
  RL_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[v] = read(at + v * apart);
  for (size_t c = axis.kernel; c > 1; --c) {
    at += axis.dilation;
    RL_UNROLL for (size_t v = 0; v < kVectors; ++v) sums[v] = Op::combine(sums[v], read(at + v * apart));
  }
}

// y[j] = finish(the combination of held[j * step + c * dilation], j). Vectors may read past the last element,
// and write `room` elements of y.
template <class Op, class Finish>
RL_INLINE void combine_columns(const PoolAxis& axis, const float* held, size_t count, float* y, size_t room,
                               Finish finish) {
  const auto combine = [&](const float* at, auto read) __attribute__((always_inline)) {
    F32 sum[1];
    combine_taps<Op>(sum, axis, at, 0, read);
    return sum[0];
  };
  const auto next = [](const float* from) __attribute__((always_inline)) { return load(from); };
  const auto write = [&](size_t j, F32 sum) __attribute__((always_inline)) {
    sum = finish(sum, j);
    if (room - j >= kLanes) return store(y + j, sum);
    store_partial(y + j, sum, count - j);
  };
  // Two vectors of results share the loop over the kernel.
  const auto combine_all = [&](size_t step, auto read) __attribute__((always_inline)) {
    size_t j = 0;
    for (; j + kLanes < count; j += 2 * kLanes) {
      F32 sums[2];
      combine_taps<Op>(sums, axis, held + j * step, kLanes * step, read);
      write(j, sums[0]);
      write(j + kLanes, sums[1]);
    }
    if (j < count) write(j, combine(held + j * step, read));
  };
  if (axis.step == 1) return combine_all(1, next);
  if (axis.step == 2 && kLanes > 1) {
    const auto evens = [](const float* from) __attribute__((always_inline)) {
      return even_lanes(from, std::make_index_sequence<kLanes>());
    };
    return combine_all(2, evens);
  }
  // Other steps combine all positions, of which every step-th is taken: vectors of contiguous elements cost
  // less than lanes from anywhere.
  if constexpr (kPermutes) {
    // Each vector has some results, the others come from the next one.
    const I32 taken = lane_indices() * splat(static_cast<int32_t>(axis.step));
    const size_t each = (kLanes - 1) / axis.step + 1;
    for (size_t j = 0; j < count; j += each) {
      write(j, permuted(combine(held + j * axis.step, next), taken));
    }
  } else {
    float all[kHeldRow + kLanes];
    const size_t positions = (count - 1) * axis.step + 1;
    for (size_t i = 0; i < positions; i += kLanes) store(all + i, combine(held + i, next));
    for (size_t j = 0; j < count; j += kLanes) {
      float lanes[kLanes] = {};
      const size_t last = count - j < kLanes ? count - j : kLanes;
      for (size_t i = 0; i < last; ++i) lanes[i] = all[(j + i) * axis.step];
      write(j, load(lanes));
    }
  }
}

// Planes whose rows are computed together, since rows of the same number have the same windows.
constexpr size_t kPlanesTogether = 8;

// begin(columns) precedes the rows of some columns; finish_of(row) returns a function that makes a result of
// a combination in that row, from vectors of these and their first column. Many rows are held, so that loads
// of columns do not wait for the stores of their row.
template <class Op, class Begin, class FinishOf>
RL_INLINE void pool_planes(const PoolPlanes& pool, Begin begin, FinishOf finish_of) {
  // Vectors of every second element end two vectors after their first one.
  alignas(RL_VECTOR_BYTES) float held[kHeldRows + 4 * kLanes];
  const size_t together = pool.planes < kPlanesTogether ? pool.planes : kPlanesTogether;
  for (size_t j = 0; j < pool.columns.out;) {
    const HeldColumns columns(pool.columns, j);
    begin(columns);
    const size_t held_floats = together * columns.pitch;
    const size_t most_planes = held_floats <= kHeldRows ? together : kHeldRows / columns.pitch;
    const size_t most_rows = held_floats <= kHeldRows ? kHeldRows / held_floats : 1;
    const size_t rows_held = most_rows < pool.count ? most_rows : pool.count;
    // The padding stays for all rows.
    const size_t used = rows_held * most_planes * columns.pitch + 2 * kLanes;
    for (size_t i = 0; i < used; i += kLanes) store(held + i, Op::start());
    // Results of rows that follow each other without a gap are written in order.
    const bool follow =
        columns.count == pool.columns.out && pool.y_row == static_cast<ptrdiff_t>(pool.columns.out);
    for (size_t plane = 0; plane < pool.planes; plane += most_planes) {
      const size_t planes = pool.planes - plane < most_planes ? pool.planes - plane : most_planes;
      const float* const x = pool.x + static_cast<ptrdiff_t>(plane) * pool.x_plane + columns.from;
      float* const y = pool.y + static_cast<ptrdiff_t>(plane) * pool.y_plane + j;
      for (size_t done = 0; done < pool.count; done += rows_held) {
        const size_t rows = pool.count - done < rows_held ? pool.count - done : rows_held;
        float* to = held + columns.lead + columns.before;
        for (size_t i = done; i < done + rows; ++i) {
          const Inside inside(pool.rows, pool.first + i);
          const size_t top = (pool.first + i) * pool.rows.step + inside.begin * pool.rows.dilation;
          const float* from = x;
          if (inside.count() > 0) from += static_cast<ptrdiff_t>(top - pool.rows.pad) * pool.x_row;
          for (size_t p = 0; p < planes; ++p, from += pool.x_plane, to += columns.pitch) {
            combine_rows<Op>(inside.count(), from, static_cast<ptrdiff_t>(pool.rows.dilation) * pool.x_row,
                             columns.width, to);
          }
        }
        const float* in = held + columns.lead;
        for (size_t i = done; i < done + rows; ++i) {
          const auto finish = finish_of(pool.first + i);
          const size_t room = follow ? (pool.count - i) * columns.count : columns.count;
          float* row = y + static_cast<ptrdiff_t>(i) * pool.y_row;
          for (size_t p = 0; p < planes; ++p, row += pool.y_plane, in += columns.pitch) {
            combine_columns<Op>(pool.columns, in, columns.count, row, room, finish);
          }
        }
      }
    }
    j += columns.count;
  }
}

// The number of positions that a window counts in a dimension.
RL_INLINE size_t counted(const PoolAxis& axis, size_t window, bool counts_padding) {
  if (!counts_padding) return Inside(axis, window).count();
  const size_t left = axis.in + 2 * axis.pad - window * axis.step;
  return left < axis.kernel ? left : axis.kernel;
}

// Byte pools.

template <class T>
constexpr T kLeast = static_cast<T>(T(-1) < T(0) ? -128 : 0);

// Results first <= i < count, one at a time.
template <class T>
void max_of_windows(size_t first, size_t count, const PoolWindow& window, const PoolIndices& numbers,
                    const T* x, T* y, int64_t* index) {
  for (size_t i = first; i < count; ++i) {
    const T* row = x + static_cast<ptrdiff_t>(i) * window.lane;
    T best = kLeast<T>;
    int32_t found = 0;
    for (size_t r = 0; r < window.rows; ++r, row += window.row) {
      const T* at = row;
      int32_t number = static_cast<int32_t>(r) * numbers.row;
      for (size_t c = 0; c < window.columns; ++c, at += window.column, number += numbers.column) {
        if (*at <= best) continue;
        best = *at;
        found = number;
      }
    }
    y[i] = best;
    if (index == nullptr) continue;
    index[i] = int64_t{numbers.first} + static_cast<int64_t>(i) * numbers.lane + found;
  }
}

#if RL_VECTOR_BYTES > 4
constexpr size_t kMostTaps = 256;  // so that a byte can index them

// Not a template of the element type: GCC 12 ignores the vector attribute there.
using Signed = int8_t __attribute__((vector_size(RL_VECTOR_BYTES)));
using Unsigned = uint8_t __attribute__((vector_size(RL_VECTOR_BYTES)));
template <class T>
using BytesOf = std::conditional_t<std::is_same_v<T, int8_t>, Signed, Unsigned>;

// Adjacent results, one vector at a time; returns the number of results done.
template <class T>
RL_INLINE size_t max_of_vectors(size_t count, const PoolWindow& window, const PoolIndices& numbers,
                                const T* x, T* y, int64_t* index) {
  using Bytes = BytesOf<T>;
  using Taps = Unsigned;
  if (window.lane != 1 || window.rows * window.columns > kMostTaps || window.columns == 0) return 0;
  // Index offsets of the taps, looked up by the bytes of the winners.
  int32_t number_of[kMostTaps];
  for (size_t t = 0; t < window.rows * window.columns; ++t) {
    number_of[t] = static_cast<int32_t>(t / window.columns) * numbers.row +
                   static_cast<int32_t>(t % window.columns) * numbers.column;
  }
  number_of[0] = 0;  // also for a window without rows
  size_t i = 0;
  for (; i + RL_VECTOR_BYTES <= count; i += RL_VECTOR_BYTES) {
    Bytes best = kLeast<T> - Bytes{};
    Taps found{};
    uint8_t tap = 0;
    const T* row = x + i;
    for (size_t r = 0; r < window.rows; ++r, row += window.row) {
      const T* at = row;
      for (size_t c = 0; c < window.columns; ++c, at += window.column, ++tap) {
        Bytes value;
        std::memcpy(&value, at, sizeof value);
        // The first of equal values stays. Taps are compared in order, so that the byte of the winner is the
        // number of its tap.
        const auto wins = value > best;
        best = wins ? value : best;
        found = wins ? tap - Taps{} : found;
      }
    }
    std::memcpy(y + i, &best, sizeof best);
    if (index == nullptr) continue;
    uint8_t taps[RL_VECTOR_BYTES];
    std::memcpy(taps, &found, sizeof found);
    const int64_t first = int64_t{numbers.first} + static_cast<int64_t>(i) * numbers.lane;
    for (size_t j = 0; j < RL_VECTOR_BYTES; ++j) {
      index[i + j] = first + static_cast<int64_t>(j) * numbers.lane + number_of[taps[j]];
    }
  }
  return i;
}
#else
template <class T>
RL_INLINE size_t max_of_vectors(size_t, const PoolWindow&, const PoolIndices&, const T*, T*, int64_t*) {
  return 0;
}
#endif

template <class T>
RL_INLINE void max_of_bytes(size_t count, const PoolWindow& window, const PoolIndices& numbers, const T* x,
                            T* y, int64_t* index) {
  // Whole vectors of bytes, then single results.
  const size_t done = max_of_vectors(count, window, numbers, x, y, index);
  max_of_windows(done, count, window, numbers, x, y, index);
}

}  // namespace

void max_pool_i8(size_t count, const PoolWindow& window, const PoolIndices& numbers, const int8_t* x,
                 int8_t* y, int64_t* index) {
  max_of_bytes(count, window, numbers, x, y, index);
}

void max_pool_u8(size_t count, const PoolWindow& window, const PoolIndices& numbers, const uint8_t* x,
                 uint8_t* y, int64_t* index) {
  max_of_bytes(count, window, numbers, x, y, index);
}

void max_pool(size_t count, const PoolWindow& window, const PoolIndices& numbers, const float* x, float* y,
              int64_t* index) {
  // A single result, such as a global pool.
  if (kLanes > 1 && count == 1) return max_of_window(window, numbers, x, y, index);
  if (index == nullptr) return max_values(count, window, x, y);
  for_each_result(count, window.lane, [&](const auto& lanes, size_t i) {
    constexpr size_t kCount = std::decay_t<decltype(lanes)>::kVectors;
    F32 best[kCount];
    I32 found[kCount];
    for (F32& each : best) each = splat(-__builtin_inff());
    for (I32& each : found) each = splat(numbers.first);
    const float* row = x + static_cast<ptrdiff_t>(i) * window.lane;
    int32_t row_number = numbers.first;
    for (size_t r = 0; r < window.rows; ++r, row += window.row, row_number += numbers.row) {
      const float* at = row;
      int32_t number = row_number;
      for (size_t c = 0; c < window.columns; ++c, at += window.column, number += numbers.column) {
        RL_UNROLL for (size_t v = 0; v < kCount; ++v) {
          const F32 value = lanes.read(at, v);
          // A NaN wins over everything before it; numbers after it do not win.
          const M32 wins = (value > best[v]) | (value != value);
          best[v] = select(wins, value, best[v]);
          found[v] = select(wins, splat(number), found[v]);
        }
      }
    }
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) {
      const size_t from = i + v * kLanes;
      lanes.write(y + i, v, best[v]);
      const I32 result = lane_indices() + splat(static_cast<int32_t>(from));
      write_indices(index + from, found[v] + result * splat(numbers.lane), lanes.last);
    }
  });
}

// A sum for each row and one of the rows: shorter chains of additions have smaller rounding errors.
void average_pool(size_t count, const PoolWindow& window, float divisor, const float* x, float* y) {
  for_each_result(count, window.lane, [&](const auto& lanes, size_t i) {
    constexpr size_t kCount = std::decay_t<decltype(lanes)>::kVectors;
    F32 total[kCount] = {};
    const float* row = x + static_cast<ptrdiff_t>(i) * window.lane;
    for (size_t r = 0; r < window.rows; ++r, row += window.row) {
      F32 sums[kCount] = {};
      const float* at = row;
      for (size_t c = 0; c < window.columns; ++c, at += window.column) {
        RL_UNROLL for (size_t v = 0; v < kCount; ++v) sums[v] += lanes.read(at, v);
      }
      RL_UNROLL for (size_t v = 0; v < kCount; ++v) total[v] += sums[v];
    }
    RL_UNROLL for (size_t v = 0; v < kCount; ++v) lanes.write(y + i, v, total[v] / splat(divisor));
  });
}

void max_pool_planes(const PoolPlanes& pool) {
  pool_planes<Largest>(
      pool, [](const HeldColumns&) {}, [](size_t) { return [](F32 best, size_t) { return best; }; });
}

// The divisor of a window is the product of one number for its row and one for its column. Numbers of
// elements are exact in float; an empty window sums to 0, whatever it is divided by.
void average_pool_planes(const PoolPlanes& pool) {
  const PoolAxis& axis = pool.columns;
  const bool counts_all = pool.divisor != 0;
  const auto divisor_of = [&](const PoolAxis& of, size_t window) {
    const size_t count = counted(of, window, pool.counts_padding);
    return count == 0 ? 1.0f : static_cast<float>(count);
  };
  float across[kHeldRow + kLanes];
  const auto begin = [&](const HeldColumns& columns) {
    const F32 whole = splat(counts_all ? pool.divisor : static_cast<float>(axis.kernel));
    for (size_t j = 0; j < columns.count; j += kLanes) store(across + j, whole);
    if (counts_all) return;
    // Only windows at both ends of a row count fewer columns.
    const auto differs = [&](size_t j) {
      across[j] = divisor_of(axis, columns.first + j);
      return across[j] != static_cast<float>(axis.kernel);
    };
    size_t first = 0;
    while (first < columns.count && differs(first)) ++first;
    size_t end = columns.count;
    while (end > first && differs(end - 1)) --end;
  };
  pool_planes<Total>(pool, begin, [&](size_t row) {
    const F32 down = splat(counts_all ? 1.0f : divisor_of(pool.rows, row));
    return [&across, down](F32 sum, size_t j) { return sum / (load(across + j) * down); };
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
