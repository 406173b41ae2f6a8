// SPDX-License-Identifier: BSD-3-Clause
// kernels/ukernel/gemm.h. There is a function for each number of rows and of vectors in a row, so that all
// its sums stay in registers. Loops over them are unrolled before anything else: only then does GCC keep the
// array of sums out of memory.
#include <cstring>

#include "kernels/ukernel/gemm.h"
#include "kernels/ukernel/generic/vector.h"

#define RL_UNROLL _Pragma("GCC unroll 16")

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// kRows x kVectors sums, kVectors of B and one element of A have to fit into the registers.
#if defined(__AVX512F__)
constexpr size_t kRows = 6;
constexpr size_t kVectors = 4;
#elif defined(__aarch64__) || defined(__riscv_vector)
constexpr size_t kRows = 5;  // multiplies by a lane: the elements of A of all rows are in registers
constexpr size_t kVectors = 4;
#elif RL_VECTOR_BYTES > 4
constexpr size_t kRows = 6;
constexpr size_t kVectors = 2;
#else
constexpr size_t kRows = 4;
constexpr size_t kVectors = 4;
#endif
constexpr size_t kColumns = kVectors * kLanes;
// With fewer vectors in a row there is room for more rows; sums are more than an addition takes cycles.
#if defined(__AVX2__)
constexpr size_t kMostRows = 8;
constexpr size_t kNarrow = kVectors - 1;
#else
constexpr size_t kMostRows = kRows;
constexpr size_t kNarrow = 0;
#endif
// Rows of B that are copied at a time where vectors would read beyond its columns.
constexpr size_t kCopied = 16;
// Rows of a panel that are packed at a time: they stay in the first cache.
constexpr size_t kPacked = 32;

#if defined(__AVX2__)
constexpr bool kMasks = true;  // a part of a vector is loaded and stored as fast as a whole one
#else
constexpr bool kMasks = false;
#endif

template <class T>
RL_INLINE T* row_of(T* matrix, ptrdiff_t stride, size_t row) {
  return matrix + static_cast<ptrdiff_t>(row) * stride;
}

template <size_t kR, size_t kV>
struct Tile {
  F32 sums[kR][kV];

  // Of the last vector of a row there may be fewer columns: with masks only, see compute_padded.
  RL_INLINE static F32 load_columns(const float* row, size_t v, size_t last) {
    if (!kMasks || v + 1 < kV) return load(row + v * kLanes);
    return load_partial(row + v * kLanes, last);
  }
  RL_INLINE static void store_columns(float* row, size_t v, size_t last, F32 value) {
    if (!kMasks || v + 1 < kV) return store(row + v * kLanes, value);
    store_partial(row + v * kLanes, value, last);
  }

  RL_INLINE void begin(const GemmTile& tile) {
    RL_UNROLL for (size_t r = 0; r < kR; ++r) {
      RL_UNROLL for (size_t v = 0; v < kV; ++v) sums[r][v] = splat(0.0f);
    }
    if (tile.initial_from == GemmInitial::kZero) return;
    const size_t last = tile.columns - (kV - 1) * kLanes;
    RL_UNROLL for (size_t v = 0; v < kV; ++v) {
      if (tile.initial_from == GemmInitial::kColumns) {
        const F32 bias = load_columns(tile.initial, v, last);
        RL_UNROLL for (size_t r = 0; r < kR; ++r) sums[r][v] = bias;
      } else if (tile.initial_from == GemmInitial::kRows) {
        RL_UNROLL for (size_t r = 0; r < kR; ++r) sums[r][v] = splat(tile.initial[r]);
      } else {
        RL_UNROLL for (size_t r = 0; r < kR; ++r) sums[r][v] =
            load_columns(row_of(tile.c, tile.c_stride, r), v, last);
      }
    }
  }

  // The products of one row of B.
  RL_INLINE void add(const float* const* a, ptrdiff_t at, const float* b) {
    F32 row[kV];
    RL_UNROLL for (size_t v = 0; v < kV; ++v) row[v] = load(b + v * kLanes);
    RL_UNROLL for (size_t r = 0; r < kR; ++r) {
      const F32 factor = splat(a[r][at]);
      RL_UNROLL for (size_t v = 0; v < kV; ++v) sums[r][v] = multiply_add(factor, row[v], sums[r][v]);
    }
  }

  RL_INLINE void multiply(const GemmTile& tile) {
    const ptrdiff_t step = tile.a_step;
    const ptrdiff_t stride = tile.b_stride;
    for (size_t t = 0; t < tile.taps; ++t) {
      const float* const* pointers = tile.a + t * tile.a_tap_stride;
      const float* b = tile.b + static_cast<ptrdiff_t>(t) * tile.b_tap_stride;
      const float* a[kR];
      RL_UNROLL for (size_t r = 0; r < kR; ++r) a[r] = pointers[r] + tile.a_offset;
      ptrdiff_t at = 0;
      // GCC cuts the loop in two better than we would: with two steps in it written out it spills.
      _Pragma("GCC unroll 2") for (size_t left = tile.depth; left > 0; --left) {
        add(a, at, b);
        at += step;
        b += stride;
      }
    }
  }

  RL_INLINE void end(const GemmTile& tile) {
    const F32 low = splat(tile.low);
    const F32 high = splat(tile.high);
    const size_t last = tile.columns - (kV - 1) * kLanes;
    RL_UNROLL for (size_t r = 0; r < kR; ++r) {
      RL_UNROLL for (size_t v = 0; v < kV; ++v) {
        F32 sum = sums[r][v];
        if (tile.adds_to_c) sum += load_columns(row_of(tile.c, tile.c_stride, r), v, last);
        if (tile.residual != nullptr) {
          sum += load_columns(row_of(tile.residual, tile.residual_stride, r), v, last);
        }
        store_columns(row_of(tile.c, tile.c_stride, r), v, last, at_most(at_least(sum, low), high));
      }
    }
  }

  static void compute(const GemmTile& tile) {
    Tile sums;
    sums.begin(tile);
    sums.multiply(tile);
    sums.end(tile);
  }
};

using Compute = void (*)(const GemmTile&);

// The function for so many rows and vectors; null for more than there are.
template <size_t kR, size_t kV>
constexpr Compute compute_of() {
  if constexpr (kV <= kVectors && kR <= (kV <= kNarrow ? kMostRows : kRows)) {
    return &Tile<kR, kV>::compute;
  } else {
    return nullptr;
  }
}
template <size_t kR>
constexpr Compute kComputeRows[] = {compute_of<kR, 1>(), compute_of<kR, 2>(), compute_of<kR, 3>(),
                                    compute_of<kR, 4>()};
constexpr const Compute* kCompute[] = {kComputeRows<1>, kComputeRows<2>, kComputeRows<3>, kComputeRows<4>,
                                       kComputeRows<5>, kComputeRows<6>, kComputeRows<7>, kComputeRows<8>};
static_assert(kMostRows <= 8 && kVectors <= 4);

void compute_whole(const GemmTile& tile) { kCompute[tile.rows - 1][(tile.columns - 1) / kLanes](tile); }

void copy_rows(float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride,
               const GemmTile& tile) {
  for (size_t r = 0; r < tile.rows; ++r) {
    std::memcpy(row_of(to, to_stride, r), row_of(from, from_stride, r), tile.columns * sizeof(float));
  }
}

// Columns that end within a vector, where there are no masks: beside the tile is room for whole ones.
void compute_padded(const GemmTile& given) {
  float c[kMostRows * kColumns] = {};
  float residual[kMostRows * kColumns] = {};
  float initial[kColumns] = {};
  GemmTile tile = given;
  tile.columns = (given.columns + kLanes - 1) / kLanes * kLanes;
  tile.c = c;
  tile.c_stride = kColumns;
  if (given.adds_to_c || given.initial_from == GemmInitial::kC) {
    copy_rows(c, kColumns, given.c, given.c_stride, given);
  }
  if (given.initial_from == GemmInitial::kColumns) {
    std::memcpy(initial, given.initial, given.columns * sizeof(float));
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

void compute(const GemmTile& tile) {
  if (kMasks || tile.columns % kLanes == 0) return compute_whole(tile);
  compute_padded(tile);
}

// With rows of B that end within a vector: they are copied, a few at a time, and sums go on in C.
void compute_copied(const GemmTile& whole) {
  float copy[kCopied * kColumns] = {};
  float held[kMostRows * kColumns];
  GemmTile tile = whole;
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
    const float* from = whole.b + static_cast<ptrdiff_t>(t) * whole.b_tap_stride;
    for (size_t p = 0; p < whole.depth; p += tile.depth) {
      tile.depth = whole.depth - p < kCopied ? whole.depth - p : kCopied;
      tile.a_offset = whole.a_offset + static_cast<ptrdiff_t>(p) * whole.a_step;
      for (size_t i = 0; i < tile.depth; ++i) {
        std::memcpy(copy + i * kColumns, row_of(from, whole.b_stride, p + i), whole.columns * sizeof(float));
      }
      compute(tile);
      tile.initial_from = GemmInitial::kC;
    }
  }
  tile.taps = 0;
  if (whole.adds_to_c) {
    tile.residual = held;
    tile.residual_stride = kColumns;
    compute(tile);
  }
  tile.residual = whole.residual;
  tile.residual_stride = whole.residual_stride;
  tile.low = whole.low;
  tile.high = whole.high;
  compute(tile);
}

// 4 columns of 4 rows, each column's rows being contiguous.
#if RL_VECTOR_BYTES > 4
using Four = float __attribute__((vector_size(16)));

RL_INLINE void transpose(float* to, const float* from, ptrdiff_t column_stride) {
  Four in[4];
  RL_UNROLL for (int j = 0; j < 4; ++j) std::memcpy(&in[j], from + j * column_stride, sizeof(Four));
  const Four low0 = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
  const Four high0 = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
  const Four low1 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
  const Four high1 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  const Four out[] = {
      __builtin_shufflevector(low0, low1, 0, 1, 4, 5), __builtin_shufflevector(low0, low1, 2, 3, 6, 7),
      __builtin_shufflevector(high0, high1, 0, 1, 4, 5), __builtin_shufflevector(high0, high1, 2, 3, 6, 7)};
  RL_UNROLL for (int i = 0; i < 4; ++i) std::memcpy(to + i * kColumns, &out[i], sizeof(Four));
}
#else
RL_INLINE void transpose(float* to, const float* from, ptrdiff_t column_stride) {
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) to[i * kColumns + j] = from[i + j * column_stride];
  }
}
#endif

}  // namespace

size_t gemm_rows() { return kRows; }
size_t gemm_rows_of(size_t columns) { return columns <= kNarrow * kLanes ? kMostRows : kRows; }
size_t gemm_columns() { return kColumns; }
size_t gemm_lanes() { return kLanes; }

void gemm_tile(const GemmTile& tile) {
  const size_t read = (tile.columns + kLanes - 1) / kLanes * kLanes;
  if (read <= tile.b_columns || tile.taps * tile.depth == 0) return compute(tile);
  compute_copied(tile);
}

void gemm_pack(float* panel, const float* b, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t depth,
               size_t columns) {
  if (columns < kColumns) std::memset(panel, 0, depth * kColumns * sizeof(float));
  if (column_stride == 1) {
    for (size_t p = 0; p < depth; ++p) {
      std::memcpy(panel + p * kColumns, row_of(b, row_stride, p), columns * sizeof(float));
    }
    return;
  }
  const size_t fours = row_stride == 1 ? columns / 4 * 4 : 0;
  for (size_t p = 0; p < depth; p += kPacked) {
    const size_t end = depth - p < kPacked ? depth : p + kPacked;
    for (size_t j = 0; j < fours; j += 4) {
      const float* from = row_of(b, column_stride, j);
      size_t row = p;
      for (; row + 4 <= end; row += 4) transpose(panel + row * kColumns + j, from + row, column_stride);
      for (; row < end; ++row) {
        for (size_t i = 0; i < 4; ++i) panel[row * kColumns + j + i] = row_of(from, column_stride, i)[row];
      }
    }
    for (size_t j = fours; j < columns; ++j) {
      const float* from = row_of(b, column_stride, j);
      for (size_t row = p; row < end; ++row) panel[row * kColumns + j] = *row_of(from, row_stride, row);
    }
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
