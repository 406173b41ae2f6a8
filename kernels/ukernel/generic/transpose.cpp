// SPDX-License-Identifier: BSD-3-Clause
// Transposes square blocks with rows of 16 bytes by interleaving, several at once where vectors are wider:
// each 16 bytes of a vector are a separate block, whose rows follow the previous block. Stored rows
// are then contiguous.
#include "kernels/ukernel/transpose.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "kernels/ukernel/generic/vector.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

// Rows of `to` that are written before the next rows of `from` are read: their pages and cache lines stay
// resident.
constexpr size_t kColumnBlock = 128;
// That fails if the rows of `to` are a multiple of kSets bytes apart: then their lines share few sets of an
// L1 cache, and each one would be loaded twice, once for each part that a block writes. Such matrices are
// copied in strips of kLine bytes of kRowBlock rows, which complete lines of a few rows of `to`. Above
// kCached bytes the strips cost more, since prefetchers follow fewer than kRowBlock rows.
constexpr ptrdiff_t kSets = 512;
constexpr size_t kLine = 64;
constexpr size_t kRowBlock = 128;
constexpr size_t kCached = size_t{1} << 21;

// Sixteen bytes, which are only copied.
struct Wide {
  uint64_t parts[2];
};

template <class T>
void transpose_one_by_one(size_t rows, size_t columns, const char* from, ptrdiff_t from_stride, char* to,
                          ptrdiff_t to_stride) {
  constexpr size_t kAlignment = alignof(T);
  // The inner loop is the longer one, which has less overhead.
  if (rows > columns) {
    for (size_t j = 0; j < columns; ++j) {
      const char* at = from + j * sizeof(T);
      char* const row = to + static_cast<ptrdiff_t>(j) * to_stride;
      for (size_t i = 0; i < rows; ++i, at += from_stride) {
        std::memmove(__builtin_assume_aligned(row + i * sizeof(T), kAlignment),
                     __builtin_assume_aligned(at, kAlignment), sizeof(T));
      }
    }
    return;
  }
  for (size_t i = 0; i < rows; ++i) {
    const char* const row = from + static_cast<ptrdiff_t>(i) * from_stride;
    char* at = to + i * sizeof(T);
    for (size_t j = 0; j < columns; ++j, at += to_stride) {
      std::memmove(__builtin_assume_aligned(at, kAlignment),
                   __builtin_assume_aligned(row + j * sizeof(T), kAlignment), sizeof(T));
    }
  }
}

#if RL_VECTOR_BYTES > 4

// Loads sixteen bytes of each of kGroups rows, `stride` bytes apart, to one vector.
template <class T, size_t kGroups>
struct Gathered {
  static constexpr size_t kCount = 16 * kGroups / sizeof(T);
  using Vector __attribute__((vector_size(16 * kGroups))) = T;
  using Half = Gathered<T, kGroups / 2>;

  template <size_t... kAt>
  RL_INLINE static Vector join(typename Half::Vector a, typename Half::Vector b,
                               std::index_sequence<kAt...>) {
    return __builtin_shufflevector(a, b, kAt...);
  }
  RL_INLINE static Vector load(const char* from, ptrdiff_t stride) {
    constexpr auto kHalf = static_cast<ptrdiff_t>(kGroups / 2);
    return join(Half::load(from, stride), Half::load(from + kHalf * stride, stride),
                std::make_index_sequence<kCount>());
  }
};
template <class T>
struct Gathered<T, 1> {
  using Vector __attribute__((vector_size(16))) = T;
  RL_INLINE static Vector load(const char* from, ptrdiff_t) {
    Vector vector;
    std::memcpy(&vector, from, sizeof(vector));
    return vector;
  }
};

template <class Vector, size_t... kAt>
RL_INLINE Vector reversed(Vector vector, std::index_sequence<kAt...>) {
  return __builtin_shufflevector(vector, vector, (sizeof...(kAt) - 1 - kAt)...);
}

// Blocks of kBlock x kBlock elements, one in each 16 bytes of a vector of kBytes.
template <class T, size_t kBytes>
struct Blocks {
  static constexpr size_t kBlock = 16 / sizeof(T);
  static constexpr size_t kGroups = kBytes / 16;
  static constexpr size_t kRows = kBlock * kGroups;
  using Rows = Gathered<T, kGroups>;
  using Vector = typename Rows::Vector;

  // Alternates elements of the lower (or upper) halves of each 16 bytes of a and b.
  template <size_t kFrom, size_t... kAt>
  RL_INLINE static Vector interleave(Vector a, Vector b, std::index_sequence<kAt...>) {
    return __builtin_shufflevector(a, b,
                                   (kAt / kBlock * kBlock + kFrom + kAt % kBlock / 2 + kAt % 2 * kRows)...);
  }

  // Transposes kRows rows of kBlock columns.
  RL_INLINE static void transpose(const char* from, ptrdiff_t from_stride, char* to, ptrdiff_t to_stride) {
    constexpr auto kAll = std::make_index_sequence<kRows>();
    Vector rows[kBlock];
    RL_UNROLL for (size_t i = 0; i < kBlock; ++i) {
      rows[i] = Rows::load(from + static_cast<ptrdiff_t>(i) * from_stride,
                           static_cast<ptrdiff_t>(kBlock) * from_stride);
    }
    RL_UNROLL for (size_t step = 1; step < kBlock; step *= 2) {
      Vector next[kBlock];
      RL_UNROLL for (size_t i = 0; i < kBlock / 2; ++i) {
        next[2 * i] = interleave<0>(rows[i], rows[i + kBlock / 2], kAll);
        next[2 * i + 1] = interleave<kBlock / 2>(rows[i], rows[i + kBlock / 2], kAll);
      }
      RL_UNROLL for (size_t i = 0; i < kBlock; ++i) rows[i] = next[i];
    }
    RL_UNROLL for (size_t i = 0; i < kBlock; ++i) {
      std::memcpy(to + static_cast<ptrdiff_t>(i) * to_stride, &rows[i], kBytes);
    }
  }

  // Transposes blocks of the rows from `first` on, and columns [begin, end). At the edges a block overlaps
  // the one before, except for rows if `whole`: then returns the first row that is left.
  RL_INLINE static size_t transpose_rows(bool whole, size_t first, size_t rows, size_t columns, size_t begin,
                                         size_t end, const char* from, ptrdiff_t from_stride, char* to,
                                         ptrdiff_t to_stride) {
    // The end of the columns of whole blocks.
    const size_t whole_end = begin + (end - begin) / kBlock * kBlock;
    for (; whole ? first + kRows <= rows : first < rows; first += kRows) {
      const size_t row = first + kRows <= rows ? first : rows - kRows;
      const char* block = from + static_cast<ptrdiff_t>(row) * from_stride + begin * sizeof(T);
      char* at = to + static_cast<ptrdiff_t>(begin) * to_stride + row * sizeof(T);
      const ptrdiff_t step = static_cast<ptrdiff_t>(kBlock) * to_stride;
      for (size_t blocks = (whole_end - begin) / kBlock; blocks > 0; --blocks, block += 16, at += step) {
        transpose(block, from_stride, at, to_stride);
      }
      if (whole_end == end) continue;
      const auto back = static_cast<ptrdiff_t>(whole_end + kBlock - columns);
      transpose(block - back * static_cast<ptrdiff_t>(sizeof(T)), from_stride, at - back * to_stride,
                to_stride);
    }
    return first;
  }
};

// Whole blocks of the widest vectors; the remaining rows take blocks of half that width, or of 16 bytes if
// the matrix or the rest is too small. Matrices that are narrower than a block are copied element by element.
template <class T>
void transpose_sized(size_t rows, size_t columns, const char* from, ptrdiff_t from_stride, char* to,
                     ptrdiff_t to_stride) {
  using Whole = Blocks<T, RL_VECTOR_BYTES>;
  using Half = Blocks<T, RL_VECTOR_BYTES / 2 < 16 ? 16 : RL_VECTOR_BYTES / 2>;
  using Small = Blocks<T, 16>;
  if (rows < Small::kBlock || columns < Small::kBlock) {
    return transpose_one_by_one<T>(rows, columns, from, from_stride, to, to_stride);
  }
  const bool by_strips = to_stride % kSets == 0 && rows * columns * sizeof(T) <= kCached;
  const size_t row_block = by_strips ? kRowBlock : rows;
  const size_t column_block = by_strips ? kLine / sizeof(T) : kColumnBlock;
  for (size_t i = 0; i < rows; i += row_block) {
    const size_t bottom = rows - i < row_block ? rows : i + row_block;
    for (size_t j = 0; j < columns; j += column_block) {
      const size_t end = columns - j < column_block ? columns : j + column_block;
      const auto blocks = [&](auto size, bool whole, size_t first) __attribute__((always_inline)) {
        return decltype(size)::transpose_rows(whole, first, bottom, columns, j, end, from, from_stride, to,
                                              to_stride);
      };
      const size_t done = blocks(Whole(), true, i);
      if (rows >= Half::kRows && bottom - done > Small::kRows) {
        blocks(Half(), false, done);
      } else {
        blocks(Small(), false, done);
      }
    }
  }
}

#else

template <class T>
void transpose_sized(size_t rows, size_t columns, const char* from, ptrdiff_t from_stride, char* to,
                     ptrdiff_t to_stride) {
  transpose_one_by_one<T>(rows, columns, from, from_stride, to, to_stride);
}

#endif

// A build for known dtypes names the sizes of their elements: others are copied byte by byte.
#ifdef RL_ELEMENT_SIZES
constexpr size_t kSizes[] = {RL_ELEMENT_SIZES};
constexpr bool is_compiled(size_t element) {
  for (const size_t size : kSizes) {
    if (size == element) return true;
  }
  return false;
}
void transpose_bytes(size_t rows, size_t columns, size_t element, const char* from, ptrdiff_t from_stride,
                     char* to, ptrdiff_t to_stride) {
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      std::memcpy(to + static_cast<ptrdiff_t>(j) * to_stride + i * element,
                  from + static_cast<ptrdiff_t>(i) * from_stride + j * element, element);
    }
  }
}
void reverse_bytes(size_t n, size_t element, const char* last, char* to) {
  for (size_t i = 0; i < n; ++i) std::memcpy(to + i * element, last - i * element, element);
}
#else
constexpr bool is_compiled(size_t) { return true; }
void transpose_bytes(size_t, size_t, size_t, const char*, ptrdiff_t, char*, ptrdiff_t) {}
void reverse_bytes(size_t, size_t, const char*, char*) {}
#endif

// Calls the function for elements of type T, if it is compiled.
template <class T>
RL_INLINE bool transpose_as(size_t rows, size_t columns, size_t element, const char* from,
                            ptrdiff_t from_stride, char* to, ptrdiff_t to_stride) {
  if constexpr (is_compiled(sizeof(T))) {
    if (element != sizeof(T)) return false;
    if constexpr (sizeof(T) > 8) {
      transpose_one_by_one<T>(rows, columns, from, from_stride, to, to_stride);
    } else {
      transpose_sized<T>(rows, columns, from, from_stride, to, to_stride);
    }
    return true;
  }
  return false;
}

// Longer rows are copied by memmove.
constexpr size_t kLongRow = 1024;

// Copies a row of at least kBytes; a rest is copied by a last chunk that overlaps the one before.
template <size_t kBytes>
RL_INLINE void copy_row(size_t bytes, const char* from, char* to) {
  struct Chunk {
    char bytes[kBytes];
  };
  Chunk chunk;
  const auto copy = [&](size_t at) {
    std::memcpy(&chunk, from + at, kBytes);
    std::memcpy(to + at, &chunk, kBytes);
  };
  size_t at = 0;
  for (; at + kBytes <= bytes; at += kBytes) copy(at);
  if (at < bytes) copy(bytes - kBytes);
}

template <size_t kBytes>
void copy_rows_by(size_t rows, size_t bytes, const char* from, ptrdiff_t from_stride, char* to,
                  ptrdiff_t to_stride) {
  for (size_t i = 0; i < rows; ++i, from += from_stride, to += to_stride) copy_row<kBytes>(bytes, from, to);
}

// Copies in reverse order. The last vector overlaps the one before; fewer elements than a vector are copied
// one by one.
template <class T>
void reverse_sized(size_t n, const char* last, char* to) {
  const char* const end = last + sizeof(T);
#if RL_VECTOR_BYTES > 4
  constexpr size_t kCount = RL_VECTOR_BYTES / sizeof(T);
  using Vector = typename Gathered<T, RL_VECTOR_BYTES / 16>::Vector;
  const auto copy = [&](size_t i) __attribute__((always_inline)) {
    Vector vector;
    std::memcpy(&vector, end - (i + kCount) * sizeof(T), sizeof(vector));
    vector = reversed(vector, std::make_index_sequence<kCount>());
    std::memcpy(to + i * sizeof(T), &vector, sizeof(vector));
  };
  if (n >= kCount) {
    for (size_t i = 0; i + kCount <= n; i += kCount) copy(i);
    if (n % kCount != 0) copy(n - kCount);
    return;
  }
#endif
  for (size_t i = 0; i < n; ++i) std::memcpy(to + i * sizeof(T), end - (i + 1) * sizeof(T), sizeof(T));
}

// The same for elements of type T, if the function is compiled for them.
template <class T>
RL_INLINE bool reverse_as(size_t n, size_t element, const char* last, char* to) {
  if constexpr (is_compiled(sizeof(T))) {
    if (element != sizeof(T)) return false;
    reverse_sized<T>(n, last, to);
    return true;
  }
  return false;
}

}  // namespace

void copy_rows(size_t rows, size_t bytes, const char* from, ptrdiff_t from_stride, char* to,
               ptrdiff_t to_stride) {
  // Short rows: a call of memmove would cost more than the copy.
  if (RL_VECTOR_BYTES > 4 && bytes >= 16 && bytes <= kLongRow) {
    if (bytes < RL_VECTOR_BYTES) return copy_rows_by<16>(rows, bytes, from, from_stride, to, to_stride);
    return copy_rows_by<RL_VECTOR_BYTES>(rows, bytes, from, from_stride, to, to_stride);
  }
  for (size_t i = 0; i < rows; ++i, from += from_stride, to += to_stride) std::memmove(to, from, bytes);
}

void transpose(size_t rows, size_t columns, size_t element, const char* from, ptrdiff_t from_stride, char* to,
               ptrdiff_t to_stride) {
  const bool is_done = transpose_as<uint8_t>(rows, columns, element, from, from_stride, to, to_stride) ||
                       transpose_as<uint16_t>(rows, columns, element, from, from_stride, to, to_stride) ||
                       transpose_as<uint32_t>(rows, columns, element, from, from_stride, to, to_stride) ||
                       transpose_as<uint64_t>(rows, columns, element, from, from_stride, to, to_stride) ||
                       transpose_as<Wide>(rows, columns, element, from, from_stride, to, to_stride);
  if (!is_done) transpose_bytes(rows, columns, element, from, from_stride, to, to_stride);
}

void reverse(size_t n, size_t element, const char* last, char* to) {
  const bool is_done =
      reverse_as<uint8_t>(n, element, last, to) || reverse_as<uint16_t>(n, element, last, to) ||
      reverse_as<uint32_t>(n, element, last, to) || reverse_as<uint64_t>(n, element, last, to);
  if (!is_done) reverse_bytes(n, element, last, to);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
