// SPDX-License-Identifier: BSD-3-Clause
// One function for each number of rows and of vectors in a row: the sums of a tile are local arrays with
// constant bounds, which stay in registers. Each step loads a row of B, broadcasts an element of each row of
// A and does rows x vectors multiply-adds. Factors and sums are T: float or double. narrow_gemm.inl has the
// tiles of 16-bit factors.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/ukernel/gemm.h"
#include "kernels/ukernel/generic/by_lane.h"
#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// The shape of a tile, see variants.yaml.
constexpr size_t kRows = kGemmRows;
constexpr size_t kVectors = kGemmVectors;
template <class T>
constexpr size_t kColumns = kVectors * kLanesOf<T>;
constexpr size_t kMostRows = kGemmMostRows;
constexpr size_t kNarrow = kGemmNarrow;
template <class T>
constexpr bool kByLane = kGemmByLane && sizeof(T) == sizeof(float);
// Rows of B in a copied block, for tiles where whole vectors would read past its columns.
constexpr size_t kCopied = 16;
// Rows of a panel that are packed in one pass: they stay in the L1 cache.
constexpr size_t kPacked = 32;

// A build for known calls names the rows and columns of their products (0 rows: any). Tiles that none of them
// has are computed row by row in padded copies.
#ifdef RL_GEMM_SHAPES
constexpr bool kHasAllTiles = false;
template <class T>
constexpr bool is_compiled(size_t rows, size_t vectors) {
  constexpr size_t kProducts[] = {RL_GEMM_SHAPES};
  for (size_t i = 0; i < sizeof(kProducts) / sizeof(*kProducts); i += 2) {
    const size_t all = kProducts[i];
    const size_t columns = kProducts[i + 1];
    // Whole panels, and the rest.
    const size_t rest = (columns % kColumns<T> + kLanesOf<T> - 1) / kLanesOf<T>;
    if (vectors != rest && (vectors != kVectors || columns < kColumns<T>)) continue;
    // gemm_split(): tiles of about equal rows, and a last one.
    const size_t most = vectors <= kNarrow ? kMostRows : kRows;
    const size_t tiles = (all + most - 1) / most;
    const size_t split = all == 0 ? 0 : (all + tiles - 1) / tiles;
    if (all == 0 || rows == split || rows == all - (tiles - 1) * split) return true;
  }
  return vectors == kVectors && rows == 1;
}
#else
constexpr bool kHasAllTiles = true;
template <class T>
constexpr bool is_compiled(size_t, size_t) {
  return true;
}
#endif
template <class T>
RL_INLINE bool has_tile(size_t rows, size_t columns) {
  return kHasAllTiles || is_compiled<T>(rows, (columns + kLanesOf<T> - 1) / kLanesOf<T>);
}

template <class T>
RL_INLINE T* row_of(T* matrix, ptrdiff_t stride, size_t row) {
  return matrix + static_cast<ptrdiff_t>(row) * stride;
}

// Advances to the rows after the first `rows`.
template <class T>
RL_INLINE void step(GemmStripOf<T>& strip, size_t rows) {
  const auto count = static_cast<ptrdiff_t>(rows);
  strip.rows -= rows;
  strip.a_offset += count * strip.a_stride;
  strip.c += count * strip.c_stride;
  if (strip.residual != nullptr) strip.residual += count * strip.residual_stride;
  if (strip.initial_from == GemmInitial::kRows) strip.initial += count;
}

template <class T, size_t kR, size_t kV>
struct Tile {
  using Vector = VectorOf<T>;
  static constexpr size_t kLanes = kLanesOf<T>;
  static constexpr T kInfinity = static_cast<T>(__builtin_inff());

  Vector sums[kR][kV];

  // The last vector of a row may be partial, only with masked loads and stores (kMasks); else see
  // compute_padded().
  RL_INLINE static Vector load_columns(const T* row, size_t v, size_t last) {
    if (!kMasks || v + 1 < kV) return load(row + v * kLanes);
    return load_partial(row + v * kLanes, last);
  }
  RL_INLINE static void store_columns(T* row, size_t v, size_t last, Vector value) {
    if (!kMasks || v + 1 < kV) return store(row + v * kLanes, value);
    store_partial(row + v * kLanes, value, last);
  }

  // Starts the sums: zeros, a bias for each column or row, or C.
  template <class Of>
  RL_INLINE void begin(const Of& tile) {
    RL_UNROLL for (size_t r = 0; r < kR; ++r) {
      RL_UNROLL for (size_t v = 0; v < kV; ++v) sums[r][v] = splat(T(0));
    }
    if (tile.initial_from == GemmInitial::kZero) return;
    const size_t last = tile.columns - (kV - 1) * kLanes;
    RL_UNROLL for (size_t v = 0; v < kV; ++v) {
      if (tile.initial_from == GemmInitial::kColumns) {
        const Vector bias = load_columns(tile.initial, v, last);
        RL_UNROLL for (size_t r = 0; r < kR; ++r) sums[r][v] = bias;
      } else if (tile.initial_from == GemmInitial::kRows) {
        RL_UNROLL for (size_t r = 0; r < kR; ++r) sums[r][v] = splat(tile.initial[r]);
      } else {
        RL_UNROLL for (size_t r = 0; r < kR; ++r) sums[r][v] =
            load_columns(row_of(tile.c, tile.c_stride, r), v, last);
      }
    }
  }

  // Adds the products with one row of B.
  RL_INLINE void add(const T* const* a, ptrdiff_t at, const T* b) {
    Vector row[kV];
    RL_UNROLL for (size_t v = 0; v < kV; ++v) row[v] = load(b + v * kLanes);
    RL_UNROLL for (size_t r = 0; r < kR; ++r) {
      const Vector factor = splat(a[r][at]);
      RL_UNROLL for (size_t v = 0; v < kV; ++v) sums[r][v] = multiply_add(factor, row[v], sums[r][v]);
    }
  }

  // Multiplies contiguous elements of A, a vector of them at a time, and advances past them. Nothing is
  // prefetched: processors that multiply by lane follow panels themselves.
  RL_INLINE void multiply_by_lane(const T* const* a, ptrdiff_t step, ptrdiff_t& at, const T*& b,
                                  ptrdiff_t stride, size_t& depth) {
    if constexpr (kByLane<T>) {
      for (; step == 1 && depth >= kLanes; depth -= kLanes, at += kLanes, b += kLanes * stride) {
        Vector factors[kR];
        RL_UNROLL for (size_t r = 0; r < kR; ++r) factors[r] = load(a[r] + at);
        add_lanes(std::make_index_sequence<kLanes>(), factors, b, stride);
      }
    }
  }
  template <size_t... kLane>
  RL_INLINE void add_lanes(std::index_sequence<kLane...>, const Vector* factors, const T* b,
                           ptrdiff_t stride) {
    ((add_lane<kLane>(factors, b), b += stride), ...);
  }
  template <size_t kLane>
  RL_INLINE void add_lane(const Vector* factors, const T* b) {
    Vector row[kV];
    RL_UNROLL for (size_t v = 0; v < kV; ++v) row[v] = load(b + v * kLanes);
    keep_loads_together();
    RL_UNROLL for (size_t r = 0; r < kR; ++r) {
      RL_UNROLL for (size_t v = 0; v < kV; ++v) {
        sums[r][v] = multiply_add_lane<kLane>(factors[r], row[v], sums[r][v]);
      }
    }
  }

  // Two steps in a loop, unrolled by GCC: with two in the source it spills registers. One where few are left.
  template <class Step>
  RL_INLINE static void for_each_step(size_t count, Step one) {
    if constexpr (kByLane<T>) {
      for (; count > 0; --count) one();
    } else {
      _Pragma("GCC unroll 2") for (; count > 0; --count) one();
    }
  }

  // All taps. Pointers are read once for each tap; the loop over the depth advances one index and one
  // pointer.
  RL_INLINE void multiply(const GemmTileOf<T>& tile) {
    for (size_t t = 0; t < tile.taps; ++t) {
      const T* const* pointers = tile.a + t * tile.a_tap_stride;
      const T* a[kR];
      RL_UNROLL for (size_t r = 0; r < kR; ++r) a[r] = pointers[r] + tile.a_offset;
      const ptrdiff_t step = tile.a_step;
      const ptrdiff_t stride = tile.b_stride;
      const T* b = tile.b + static_cast<ptrdiff_t>(t) * tile.b_tap_stride;
      ptrdiff_t at = 0;
      size_t left = tile.depth;
      multiply_by_lane(a, step, at, b, stride, left);
      for_each_step(left, [&] {
        add(a, at, b);
        at += step;
        b += stride;
      });
    }
  }

  // The same with a constant stride of the rows. Prefetches one cache line of the next panel for each step.
  RL_INLINE void multiply(const GemmStripOf<T>& strip, const T*& ahead, ptrdiff_t ahead_step) {
    for (size_t t = 0; t < strip.taps; ++t) {
      const T* a[kR];
      a[0] = strip.a[t] + strip.a_offset;
      RL_UNROLL for (size_t r = 1; r < kR; ++r) a[r] = a[r - 1] + strip.a_stride;
      const ptrdiff_t step = strip.a_step;
      const ptrdiff_t stride = strip.b_stride;
      const T* b = strip.b[t];
      ptrdiff_t at = 0;
      size_t left = strip.depth;
      multiply_by_lane(a, step, at, b, stride, left);
      for_each_step(left, [&] {
        // Narrow tiles have no load slots left for prefetches.
        if (kV == kVectors) {
          __builtin_prefetch(ahead, 0, 2);
          ahead += ahead_step;
        }
        add(a, at, b);
        at += step;
        b += stride;
      });
    }
  }

  template <class Of, class Finish>
  RL_INLINE void store_sums(const Of& tile, size_t last, Finish finish) {
    T* c = tile.c;
    const ptrdiff_t stride = tile.c_stride;
    RL_UNROLL for (size_t r = 0; r < kR; ++r, c += stride) {
      RL_UNROLL for (size_t v = 0; v < kV; ++v) store_columns(c, v, last, finish(sums[r][v]));
    }
  }

  // Stores the tile. The plain cases have their own loops, without tests for each vector. adds_to_c and
  // residual share one that is not unrolled, which holds the sums in memory: a fifth of the code, for a store
  // and a load of each vector.
  template <class Of>
  RL_INLINE void end(const Of& tile) {
    const size_t last = tile.columns - (kV - 1) * kLanes;
    const bool is_bounded = tile.low > -kInfinity || tile.high < kInfinity;
    if (!tile.adds_to_c && tile.residual == nullptr) {
      if (!is_bounded) return store_sums(tile, last, [](Vector sum) { return sum; });
      const Vector low = splat(tile.low);
      const Vector high = splat(tile.high);
      return store_sums(tile, last, [&](Vector sum) { return at_most(at_least(sum, low), high); });
    }
    Vector held[kR][kV];
    RL_UNROLL for (size_t r = 0; r < kR; ++r) {
      RL_UNROLL for (size_t v = 0; v < kV; ++v) held[r][v] = sums[r][v];
    }
    const Vector low = splat(tile.low);
    const Vector high = splat(tile.high);
    _Pragma("GCC unroll 1") for (size_t r = 0; r < kR; ++r) {
      T* c = row_of(tile.c, tile.c_stride, r);
      RL_UNROLL for (size_t v = 0; v < kV; ++v) {
        Vector sum = held[r][v];
        if (tile.adds_to_c) sum += load_columns(c, v, last);
        if (tile.residual != nullptr) {
          sum += load_columns(row_of(tile.residual, tile.residual_stride, r), v, last);
        }
        store_columns(c, v, last, at_most(at_least(sum, low), high));
      }
    }
  }

  static void compute(const GemmTileOf<T>& tile) {
    Tile sums;
    sums.begin(tile);
    sums.multiply(tile);
    sums.end(tile);
  }

  // Computes consecutive tiles and advances `strip` past them.
  static void compute_tiles(GemmStripOf<T>& strip, size_t tiles) {
    constexpr ptrdiff_t kLine = 64 / sizeof(T);
    const T* ahead = nullptr;
    const T* end = nullptr;
    if (strip.looks_ahead && strip.taps > 0) {
      const ptrdiff_t elements = static_cast<ptrdiff_t>(strip.depth) * strip.b_stride;
      ahead = strip.b[strip.taps - 1] + elements;
      end = ahead + static_cast<ptrdiff_t>(strip.taps) * elements;
    }
    for (; tiles > 0; --tiles) {
      Tile sums;
      sums.begin(strip);
      sums.multiply(strip, ahead, ahead < end ? kLine : 0);
      sums.end(strip);
      step(strip, kR);
    }
  }
};

// Tables of all tile shapes: two indices instead of nested branches. One for each entry, so that the linker
// drops the functions of an entry that nothing calls. `Of` names the function of a tile; null beyond the
// largest tile.
template <class Of, size_t kR, size_t kV>
constexpr typename Of::Function function_of() {
  using T = typename Of::Sum;
  if constexpr (kV <= kVectors && kR <= (kV <= kNarrow ? kMostRows : kRows) && is_compiled<T>(kR, kV)) {
    return Of::template function<Tile<T, kR, kV>>();
  } else {
    return nullptr;
  }
}
template <class Of, size_t kR>
constexpr typename Of::Function kRowFunctions[] = {function_of<Of, kR, 1>(), function_of<Of, kR, 2>(),
                                                   function_of<Of, kR, 3>(), function_of<Of, kR, 4>()};
template <class Of>
constexpr const typename Of::Function* kFunctions[] = {
    kRowFunctions<Of, 1>, kRowFunctions<Of, 2>, kRowFunctions<Of, 3>, kRowFunctions<Of, 4>,
    kRowFunctions<Of, 5>, kRowFunctions<Of, 6>, kRowFunctions<Of, 7>, kRowFunctions<Of, 8>};
static_assert(kMostGemmRows == 8 && kRows <= kMostRows && kMostRows <= kMostGemmRows && kVectors <= 4);

template <class T>
struct OneTile {
  using Sum = T;
  using Function = void (*)(const GemmTileOf<T>&);
  template <class AnyTile>
  static constexpr Function function() {
    return &AnyTile::compute;
  }
};
template <class T>
struct ManyTiles {
  using Sum = T;
  using Function = void (*)(GemmStripOf<T>&, size_t);
  template <class AnyTile>
  static constexpr Function function() {
    return &AnyTile::compute_tiles;
  }
};

template <class Of>
RL_INLINE typename Of::Function function_for(size_t rows, size_t columns) {
  return kFunctions<Of>[rows - 1][(columns - 1) / kLanesOf<typename Of::Sum>];
}

template <class T>
void compute_whole(const GemmTileOf<T>& tile) {
  function_for<OneTile<T>>(tile.rows, tile.columns)(tile);
}
template <class T>
void compute_whole(GemmStripOf<T> tile) {
  function_for<ManyTiles<T>>(tile.rows, tile.columns)(tile, 1);
}

template <class T, class Of>
void copy_rows(T* to, ptrdiff_t to_stride, const T* from, ptrdiff_t from_stride, const Of& tile) {
  for (size_t r = 0; r < tile.rows; ++r) {
    std::memcpy(row_of(to, to_stride, r), row_of(from, from_stride, r), tile.columns * sizeof(T));
  }
}

// For partial vectors without masks, and widths without code: computes the tile in padded copies of C,
// residual and initial values.
template <class Of>
void compute_padded(const Of& given) {
  using T = std::remove_pointer_t<decltype(given.c)>;
  constexpr size_t kLanes = kLanesOf<T>;
  constexpr size_t kColumns = kVectors * kLanes;
  T c[kMostRows * kColumns] = {};
  T residual[kMostRows * kColumns] = {};
  T initial[kColumns] = {};
  Of tile = given;
  tile.columns =
      has_tile<T>(given.rows, given.columns) ? (given.columns + kLanes - 1) / kLanes * kLanes : kColumns;
  tile.c = c;
  tile.c_stride = kColumns;
  if (given.adds_to_c || given.initial_from == GemmInitial::kC) {
    copy_rows(c, kColumns, given.c, given.c_stride, given);
  }
  if (given.initial_from == GemmInitial::kColumns) {
    std::memcpy(initial, given.initial, given.columns * sizeof(T));
    tile.initial = initial;
  }
  if (given.residual != nullptr) {
    copy_rows(residual, kColumns, given.residual, given.residual_stride, given);
    tile.residual = residual;
    tile.residual_stride = kColumns;
  }
  compute_whole(tile);
  copy_rows(given.c, given.c_stride, c, kColumns, given);
}

template <class T>
void compute(const GemmTileOf<T>& tile) {
  const bool is_whole = kMasks || tile.columns % kLanesOf<T> == 0;
  if (is_whole && has_tile<T>(tile.rows, tile.columns)) return compute_whole(tile);
  compute_padded(tile);
}

// For rows of B that end within the last vector, and tiles without code: copies blocks of kCopied rows and
// accumulates in C.
template <class T>
void compute_copied(const GemmTileOf<T>& whole) {
  constexpr size_t kColumns = kVectors * kLanesOf<T>;
  T copy[kCopied * kColumns] = {};
  T held[kMostRows * kColumns];
  GemmTileOf<T> tile = whole;
  tile.taps = 1;
  tile.b = copy;
  tile.b_stride = kColumns;
  tile.residual = nullptr;
  tile.adds_to_c = false;
  tile.low = -__builtin_inff();
  tile.high = __builtin_inff();
  if (whole.adds_to_c) copy_rows(held, kColumns, whole.c, whole.c_stride, whole);
  for (size_t t = 0; t < whole.taps; ++t) {
    tile.a = whole.a + t * whole.a_tap_stride;
    const T* from = whole.b + static_cast<ptrdiff_t>(t) * whole.b_tap_stride;
    for (size_t p = 0; p < whole.depth; p += tile.depth) {
      tile.depth = whole.depth - p < kCopied ? whole.depth - p : kCopied;
      tile.a_offset = whole.a_offset + static_cast<ptrdiff_t>(p) * whole.a_step;
      for (size_t i = 0; i < tile.depth; ++i) {
        std::memcpy(copy + i * kColumns, row_of(from, whole.b_stride, p + i), whole.columns * sizeof(T));
      }
      compute(tile);
      // Further blocks continue the sums in C.
      tile.initial_from = GemmInitial::kC;
    }
  }
  // Tiles without products finish the sums: first adds_to_c, then residual and clamp, in the order of the
  // contract.
  tile.taps = 0;
  if (whole.adds_to_c) {
    tile.residual = held;
    tile.residual_stride = kColumns;
    compute(tile);
    tile.initial_from = GemmInitial::kC;
  }
  tile.residual = whole.residual;
  tile.residual_stride = whole.residual_stride;
  tile.low = whole.low;
  tile.high = whole.high;
  compute(tile);
}

// The same for one row of a strip, tap by tap.
template <class T>
void compute_copied(const GemmStripOf<T>& strip) {
  constexpr size_t kColumns = kVectors * kLanesOf<T>;
  T held[kColumns];
  const T* a = nullptr;
  GemmTileOf<T> tile;
  tile.rows = 1;
  tile.columns = strip.columns;
  tile.depth = strip.depth;
  tile.a = &a;
  tile.a_step = strip.a_step;
  tile.b_stride = strip.b_stride;
  tile.b_columns = strip.columns;
  tile.initial_from = strip.initial_from;
  tile.initial = strip.initial;
  tile.c = strip.c;
  tile.c_stride = strip.c_stride;
  if (strip.adds_to_c) copy_rows(held, kColumns, strip.c, strip.c_stride, strip);
  for (size_t t = 0; t < strip.taps; ++t) {
    a = strip.a[t] + strip.a_offset;
    tile.b = strip.b[t];
    compute_copied(tile);
    tile.initial_from = GemmInitial::kC;
  }
  tile.taps = 0;
  if (strip.adds_to_c) {
    tile.residual = held;
    tile.residual_stride = kColumns;
    compute(tile);
    tile.initial_from = GemmInitial::kC;
  }
  tile.residual = strip.residual;
  tile.residual_stride = strip.residual_stride;
  tile.low = strip.low;
  tile.high = strip.high;
  compute(tile);
}

// Transposes 4 columns to 4 rows; the elements of each column are contiguous.
#if RL_VECTOR_BYTES > 4
// GCC ignores the attribute of a vector whose element type is a template parameter.
template <class T>
struct Four;
template <>
struct Four<float> {
  using Vector = float __attribute__((vector_size(16)));
};
template <>
struct Four<double> {
  using Vector = double __attribute__((vector_size(32)));
};

template <class T>
RL_INLINE void transpose(T* to, size_t width, const T* from, ptrdiff_t column_stride) {
  using Block = typename Four<T>::Vector;
  Block in[4];
  RL_UNROLL for (int j = 0; j < 4; ++j) std::memcpy(&in[j], from + j * column_stride, sizeof(Block));
  const Block low0 = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
  const Block high0 = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
  const Block low1 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
  const Block high1 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  const Block out[] = {
      __builtin_shufflevector(low0, low1, 0, 1, 4, 5), __builtin_shufflevector(low0, low1, 2, 3, 6, 7),
      __builtin_shufflevector(high0, high1, 0, 1, 4, 5), __builtin_shufflevector(high0, high1, 2, 3, 6, 7)};
  RL_UNROLL for (int i = 0; i < 4; ++i)
      std::memcpy(to + static_cast<size_t>(i) * width, &out[i], sizeof(Block));
}
#else
template <class T>
RL_INLINE void transpose(T* to, size_t width, const T* from, ptrdiff_t column_stride) {
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j)
      to[static_cast<size_t>(i) * width + static_cast<size_t>(j)] = from[i + j * column_stride];
  }
}
#endif

template <class T>
void compute_tile(const GemmTileOf<T>& tile) {
  constexpr size_t kLanes = kLanesOf<T>;
  const size_t read = (tile.columns + kLanes - 1) / kLanes * kLanes;
  if (has_tile<T>(tile.rows, tile.columns)) {
    if (read <= tile.b_columns || tile.taps * tile.depth == 0) return compute(tile);
    return compute_copied(tile);
  }
  GemmTileOf<T> row = tile;
  row.rows = 1;
  for (size_t r = 0; r < tile.rows; ++r) {
    compute_copied(row);
    ++row.a;
    row.c += tile.c_stride;
    if (row.residual != nullptr) row.residual += tile.residual_stride;
    if (row.initial_from == GemmInitial::kRows) ++row.initial;
  }
}

// Columns that are contiguous in memory are transposed in blocks of 4 x 4, kPacked rows at a time, so that
// the lines that are written stay in the cache.
template <class T>
void pack_panel(T* panel, const T* b, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t depth,
                size_t columns, size_t width) {
  // Columns past the end are zeros.
  if (columns < width) std::memset(panel, 0, depth * width * sizeof(T));
  if (column_stride == 1) {
    for (size_t p = 0; p < depth; ++p) {
      std::memcpy(panel + p * width, row_of(b, row_stride, p), columns * sizeof(T));
    }
    return;
  }
  const size_t fours = row_stride == 1 ? columns / 4 * 4 : 0;
  for (size_t p = 0; p < depth; p += kPacked) {
    const size_t end = depth - p < kPacked ? depth : p + kPacked;
    for (size_t j = 0; j < fours; j += 4) {
      const T* from = row_of(b, column_stride, j);
      size_t row = p;
      for (; row + 4 <= end; row += 4) transpose(panel + row * width + j, width, from + row, column_stride);
      for (; row < end; ++row) {
        for (size_t i = 0; i < 4; ++i) panel[row * width + j + i] = row_of(from, column_stride, i)[row];
      }
    }
    for (size_t j = fours; j < columns; ++j) {
      const T* from = row_of(b, column_stride, j);
      for (size_t row = p; row < end; ++row) panel[row * width + j] = *row_of(from, row_stride, row);
    }
  }
}

}  // namespace

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
