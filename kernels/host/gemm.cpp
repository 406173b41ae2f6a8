// SPDX-License-Identifier: BSD-3-Clause
// Blocked matrix product after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
// 2008. B is cut into panels of gemm_columns() columns and blocks of 512 rows that fit in the L2 cache, and
// packed unless it is constant (packed at load) or small. Tiles of gemm_rows() rows by one panel are computed
// in registers and divided among threads. Few rows with contiguous columns of B are dot products instead,
// because packing would cost more than the product. The arithmetic is float32, float64 for float64, or
// products of float16 or bfloat16 with sums in float32 if the processor has them.
//
// The loops, from the outermost to the innermost:
//
//   blocks of kDepthBlock rows of B
//     blocks of panels, at most kBlockBytes          packed here, stay in the L2 cache
//       blocks of kRowBlock rows of A                only if A is converted
//         tiles of gemm_rows() rows by one panel     divided among threads, sums in registers
#include "kernels/host/gemm.h"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/checks/checks.h"
#include "kernels/checks/selected_calls.h"
#include "kernels/checks/selection.h"
#include "kernels/host/activate.h"
#include "kernels/host/elements.h"
#include "kernels/host/parts.h"
#include "kernels/host/product/arithmetic.h"
#include "kernels/ukernel/dot.h"
#include "kernels/ukernel/gemm.h"
#include "runtime/base/log.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kMostColumns = 128;  // upper limit of gemm_columns()
constexpr size_t kDepthBlock = 512;   // rows of B in a block: a row tile of A stays in the L1 cache
constexpr size_t kBlockBytes = size_t{1} << 20;   // bytes of B in a block: stays in the L2 cache
constexpr size_t kDirectBytes = size_t{1} << 17;  // up to this size B is used without packing
constexpr size_t kRowBlock = 96;                  // rows of A converted at a time
constexpr size_t kStripElements = size_t{1}
                                  << 14;  // of A that a panel is multiplied by: stay in the L2 cache
constexpr size_t kSmallDepth = 32;        // rows of B converted at a time
constexpr size_t kStackElements = kSmallDepth * kMostColumns;  // of a panel without scratch memory
// A tile of fewer rows waits for its panel of B: it takes the time of about this many rows.
constexpr size_t kLeastRows = 4;
constexpr size_t kFewTiles = 16;  // fewer would leave threads without work
// Smaller products of a batch are divided among threads as wholes, larger ones each on all threads.
constexpr ptrdiff_t kSmallProduct = 8 * kThreadProducts;
constexpr ptrdiff_t kPackGrain = ptrdiff_t{1} << 14;  // packed elements worth a thread

constexpr uint64_t kLayout = 0x67656d6d;  // "gemm": identifies panels of B

size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

ptrdiff_t offset(ptrdiff_t stride, size_t index) { return stride * static_cast<ptrdiff_t>(index); }

// The part of the matrix that begins at (row, column).
Matrix part_of(const Matrix& matrix, ScalarType type, size_t row, size_t column) {
  Matrix part = matrix;
  part.data = static_cast<char*>(matrix.data) +
              (offset(matrix.row_stride, row) + offset(matrix.column_stride, column)) *
                  static_cast<ptrdiff_t>(element_size(type));
  return part;
}

template <class T>
const T* elements(const Matrix& matrix, size_t row, size_t column) {
  return static_cast<const T*>(matrix.data) + offset(matrix.row_stride, row) +
         offset(matrix.column_stride, column);
}

Matrix transposed(const Matrix& matrix) { return {matrix.data, matrix.column_stride, matrix.row_stride}; }

Gemm transposed(const Gemm& gemm) {
  Gemm result = gemm;
  std::swap(result.rows, result.columns);
  result.a = transposed(gemm.b);
  result.b = transposed(gemm.a);
  result.out = transposed(gemm.out);
  result.bias = transposed(gemm.bias);
  result.residual = transposed(gemm.residual);
  return result;
}

// Removes the terms with factor 0, and transposes the product if that makes the rows of the result
// contiguous. A whole matrix as bias becomes the residual, which tiles add. Factors without depth may have no
// memory: with strides of 0 no pointer into them is computed.
Gemm simplified(Gemm gemm) {
  if (gemm.alpha == 0) gemm.depth = 0;
  if (gemm.depth == 0) gemm.a = gemm.b = {};
  if (gemm.beta == 0) gemm.bias.data = nullptr;
  const bool is_matrix =
      gemm.bias.data != nullptr && gemm.bias.row_stride != 0 && gemm.bias.column_stride != 0;
  if (is_matrix && gemm.beta == 1 && gemm.residual.data == nullptr) std::swap(gemm.bias, gemm.residual);
  // C^T = B^T A^T: exchanges strides only. Packed panels fix the roles of A and B.
  const bool rows_are_contiguous = gemm.out.column_stride == 1 && gemm.columns != 1;
  const bool columns_are = gemm.out.row_stride == 1 || gemm.columns == 1;
  if (!rows_are_contiguous && columns_are && gemm.rows != 1 && gemm.packed_b == nullptr)
    return transposed(gemm);
  return gemm;
}

// True if a call of the build may multiply by a right factor with contiguous columns. Products of two
// matrices are examined. Convolutions are products in two dtypes only, see is_by_columns().
constexpr bool kReachesDots = is_reached_through("kernels/host/gemm", [](const SelectedCall& call) {
  if (call.has("transposed")) {
    return contains(kAnySelectedType, ScalarType::Double) || contains(kAnySelectedType, ScalarType::BFloat16);
  }
  if (!call.has("mat2")) return true;
  const CallValue& right = call["mat2"];
  const CallValue& out = call["out"];
  if (right.count != 2 || out.count != 2 || out.size(1) == 1 || out.strides()[1] != 1) return true;
  return right.size(0) == 1 || right.strides()[0] == 1;
});

// Builds for known calls have tiles alone, which takes less code.
template <class Kernels>
constexpr bool kHasStrips = !kKnowsCalls && !std::is_void_v<typename Kernels::Strip>;

// The division of a product into blocks, and the computation of them.
template <class Kernels>
class Plan {
  using T = typename Kernels::Sum;
  using Factor = typename Kernels::Factor;

 public:
  Plan(const Gemm& gemm, const Kernels& kernels) : gemm_(simplified(gemm)), kernels_(kernels) {
    const bool reads = Kernels::kNarrow || is_of(Kernels::kFactors);
    const bool writes = is_of(Kernels::kSums);
    // The order of these decisions matters: each uses the ones before it.
    dots_ = is_of_few_vectors();
    staged_ = !writes || (gemm_.out.column_stride != 1 && gemm_.columns != 1) || is_out(gemm_.bias) ||
              is_out(gemm_.residual);
    converts_a_ = !dots_ && (!reads || (gemm_.a.column_stride != 1 && gemm_.depth > 1 &&
                                        (Kernels::kNarrow || gemm_.columns > kMostColumns)));
    packs_b_ = gemm_.packed_b == nullptr && !dots_ && !is_b_contiguous();
    panel_ = kernels_.columns();
    panels_ = divide_up(gemm_.columns, panel_);
    // Staged sums cannot be added to `out` block by block, so their depth is not divided.
    depth_block_ = staged_ ? std::max<size_t>(gemm_.depth, 1) : kDepthBlock;
    depth_block_ = std::min(depth_block_, std::max<size_t>(gemm_.depth, 1));
    // Panels of one block of depth that fit in kBlockBytes.
    const size_t fitting = kBlockBytes / panel_bytes(kernels_, depth_block_);
    panel_block_ = std::min(panels_, std::max<size_t>(fitting, 1));
    row_block_ = converts_a_ ? std::min(gemm_.rows, kRowBlock) : gemm_.rows;
    depth_step_ = depth_block_;
    // With rows for one tile each panel is read once, so blocks of B need not stay in cache: all panels are
    // divided among threads, which join once.
    if (!packs_b_ && !converts_a_ && gemm_.rows <= kernels_.rows()) {
      depth_step_ = std::max<size_t>(gemm_.depth, 1);
      panel_block_ = panels_;
    }
    // The tile starts with the bias itself, so this requires factors of 1 and a layout that the microkernel
    // reads.
    bias_in_tile_ = gemm_.bias.data == nullptr || (writes && gemm_.alpha == 1 && gemm_.beta == 1 &&
                                                   bias_kind() != ukernel::GemmInitial::kC);
    const Matrix& residual = gemm_.residual;
    // The microkernel ends a tile with residual and clamp. Both need the finished sum, thus alpha 1 and the
    // bias.
    end_in_tile_ =
        bias_in_tile_ && gemm_.alpha == 1 && is_clamp(gemm_.activation) &&
        (residual.data == nullptr || (writes && (residual.column_stride == 1 || gemm_.columns == 1)));
  }

  // Elements and bytes of a panel of `depth` rows.
  [[nodiscard]] static size_t panel_elements(const Kernels& kernels, size_t depth) {
    return divide_up(depth, kernels.group()) * kernels.group() * kernels.columns();
  }
  [[nodiscard]] static size_t panel_bytes(const Kernels& kernels, size_t depth) {
    return panel_elements(kernels, depth) * sizeof(Factor);
  }

  // Packs `columns` columns of `b`, at most a panel.
  static void pack_panel(const Kernels& kernels, Factor* panel, ScalarType type, const Matrix& b,
                         size_t depth, size_t columns);

  [[nodiscard]] size_t scratch_bytes() const { return b_bytes() + a_bytes(); }

  // True if the product can be computed without scratch memory: sums that are staged need the whole depth of
  // a panel, which does not fit on the stack.
  [[nodiscard]] bool can_do_without() const { return is_of(Kernels::kSums) && !(staged_ && packs_b_); }

  // Without scratch memory, reduces the depth of blocks so that a packed panel fits on the stack.
  Error run(KernelContext* context, void* scratch) {
    if (kReachesDots && dots_) {
      multiply_few(context);
      return Error::Ok;
    }
    alignas(64) Factor small[kStackElements];
    b_block_ = static_cast<Factor*>(scratch);
    if (scratch == nullptr && scratch_bytes() != 0) {
      RL_CHECK(can_do_without(), Error::MemoryAllocationFailed, "out of scratch memory: need %lu bytes",
               log_number(scratch_bytes()));
      converts_a_ = false;
      row_block_ = gemm_.rows;
      if (packs_b_) {
        depth_block_ = depth_step_ = std::min(depth_block_, kStackElements / panel_);
        panel_block_ = 1;
      }
      b_block_ = small;
    }
    a_block_ = b_block_ + b_bytes() / sizeof(Factor);
    // Depth, panels, rows: a block of B is packed once and used by all rows. Runs once even with depth 0, to
    // write bias or zeros.
    for (size_t depth = 0; depth == 0 || depth < gemm_.depth; depth += depth_step_) {
      for (size_t panel = 0; panel < panels_; panel += panel_block_) {
        const size_t panels = std::min(panel_block_, panels_ - panel);
        if (packs_b_) pack(context, depth, panel, panels);
        for (size_t row = 0; row < gemm_.rows; row += row_block_)
          multiply(context, depth, panel, panels, row);
      }
    }
    return Error::Ok;
  }

 private:
  // True if the matrices are of the type that the microkernels take. False for 16-bit floats that are
  // converted, so in builds without them it is a constant.
  [[nodiscard]] bool is_of(ScalarType type) const {
    return !Kernels::kNarrow && ((kAnySelectedType & types::kReducedFloat) == 0 || gemm_.type == type);
  }

  [[nodiscard]] bool is_out(const Matrix& matrix) const {
    return matrix.data != nullptr && matrix.data == gemm_.out.data;
  }

  // The layout of the bias; kC means none that the microkernel can start with.
  [[nodiscard]] ukernel::GemmInitial bias_kind() const {
    const Matrix& bias = gemm_.bias;
    if (bias.data == nullptr) return ukernel::GemmInitial::kZero;
    if (bias.row_stride == 0 && (bias.column_stride == 1 || gemm_.columns == 1)) {
      return ukernel::GemmInitial::kColumns;
    }
    if (bias.column_stride == 0 && (bias.row_stride == 1 || gemm_.rows == 1))
      return ukernel::GemmInitial::kRows;
    return ukernel::GemmInitial::kC;
  }

  // True for few rows and contiguous columns of B, which are then used without packing.
  [[nodiscard]] bool is_of_few_vectors() const {
    return kReachesDots && gemm_.packed_b == nullptr && gemm_.depth > 0 &&
           gemm_.rows <= 2 * ukernel::kDotRows && gemm_.b.row_stride == 1 && gemm_.a.column_stride == 1;
  }

  [[nodiscard]] bool is_b_contiguous() const {
    if (gemm_.depth == 0) return true;
    if (!is_of(Kernels::kFactors) || (gemm_.b.column_stride != 1 && gemm_.columns != 1)) return false;
    // Rows that are a multiple of 1 KiB apart map to the same cache sets. Each tile copies the part of B that
    // ends within a vector.
    const bool meets = gemm_.b.row_stride % 256 == 0;
    const bool is_ragged = gemm_.columns % kernels_.lanes() != 0;
    return gemm_.rows <= 2 * ukernel::gemm_rows() ||
           (!meets && !is_ragged && gemm_.depth * gemm_.columns * sizeof(T) <= kDirectBytes);
  }

  [[nodiscard]] size_t b_bytes() const {
    return packs_b_ ? panel_block_ * panel_bytes(kernels_, depth_block_) : 0;
  }
  [[nodiscard]] size_t a_bytes() const {
    return converts_a_ ? row_block_ * depth_block_ * sizeof(Factor) : 0;
  }

  // A loop of `count` items with `each` multiplications; serial without a context.
  template <class Body>
  static void for_each(KernelContext* context, size_t count, size_t each, Body&& body) {
    if (context == nullptr) {
      body(0, count);
    } else {
      context->parallel_for(count, items_for_thread(static_cast<ptrdiff_t>(each)),
                            [&](size_t begin, size_t end, size_t) { body(begin, end); });
    }
  }

  [[nodiscard]] size_t depth_from(size_t depth) const { return std::min(depth_block_, gemm_.depth - depth); }

  void pack(KernelContext* context, size_t depth, size_t first, size_t panels) {
    const size_t rows = depth_from(depth);
    for_each(context, panels, 4 * rows * panel_, [&](size_t begin, size_t end) {
      for (size_t p = begin; p < end; ++p) {
        const size_t column = (first + p) * panel_;
        pack_panel(kernels_, b_block_ + p * panel_elements(kernels_, rows), gemm_.type,
                   part_of(gemm_.b, gemm_.type, depth, column), rows,
                   std::min(panel_, gemm_.columns - column));
      }
    });
  }

  void multiply(KernelContext* context, size_t depth, size_t panel, size_t panels, size_t row) {
    const size_t rows = std::min(row_block_, gemm_.rows - row);
    const size_t deep = std::min(depth_step_, gemm_.depth - depth);
    if (converts_a_) {
      for_each(context, rows, 4 * deep, [&](size_t begin, size_t end) {
        // Rows without gaps are one span.
        const size_t together = continues(gemm_.a, deep) ? end - begin : 1;
        for (size_t i = begin; i < end; i += together) {
          Kernels::load_factors(a_block_ + i * deep, gemm_.type,
                                part_of(gemm_.a, gemm_.type, row + i, depth).data, gemm_.a.column_stride,
                                together * deep);
        }
      });
    }
    if (is_row()) {
      // Panels that are added together do not depend on threads, as their NaN may.
      const size_t together = kMostColumns / panel_;
      for_each(context, divide_up(panels, together), kLeastRows * together * panel_ * deep,
               [&](size_t begin, size_t end) {
                 multiply_row(panel + begin * together, panel + std::min(end * together, panels));
               });
      return;
    }
    const size_t split = ukernel::gemm_split(rows, kernels_.rows_of(gemm_.columns));
    // 16-bit dtypes have staged sums. Adjacent panels of these are finished together, if enough tiles for
    // threads remain.
    size_t wide = 1;
    if constexpr ((kAnySelectedType & types::kReducedFloat) != 0) {
      if (staged_) wide = std::max<size_t>(kMostColumns / panel_, 1);
      if (divide_up(rows, split) * panels < kFewTiles * wide) wide = 1;
    }
    // Several tiles of rows by one panel are one call.
    const bool in_strips = has_strips();
    size_t high = split;
    if (in_strips) {
      const size_t fitting = std::max<size_t>(kStripElements / (split * std::max<size_t>(deep, 1)), 1);
      // Enough calls for all threads.
      const bool is_alone = context == nullptr || context->threads() == 1;
      const size_t fair = std::max<size_t>(divide_up(rows, split) * panels / kFewTiles, 1);
      high = split * (is_alone ? fitting : std::min(fitting, fair));
    }
    // They are numbered with panels fastest, so that a thread keeps the rows of A and goes through the block
    // of B.
    const size_t across = divide_up(panels, wide);
    const size_t items = divide_up(rows, high) * across;
    const size_t each = std::max(high, kLeastRows) * panel_ * wide * deep;
    for_each(context, items, each, [&](size_t begin, size_t end) {
      size_t at = row + begin / across * high;
      size_t p = begin % across;
      for (size_t item = begin; item < end; ++item) {
        const size_t count = std::min(high, row + rows - at);
        for (size_t d = depth; d == depth || d < depth + deep; d += depth_block_) {
          if (in_strips) {
            multiply_strip(d, panel, p, row, at, count, split);
          } else {
            multiply_tile(d, panel, p * wide, wide == 1 ? 1 : std::min(wide, panels - p * wide), row, at,
                          count);
          }
        }
        if (++p == across) {
          p = 0;
          at += high;
        }
      }
    });
  }

  // True if one row is multiplied by panels that were packed at load: several at a time.
  [[nodiscard]] bool is_row() const {
    return kHasStrips<Kernels> && gemm_.rows == 1 && !staged_ && !converts_a_ && gemm_.packed_b != nullptr &&
           gemm_.a.column_stride == 1 && gemm_.depth > 0;
  }

  // The whole depth of panels [begin, end), in blocks.
  void multiply_row([[maybe_unused]] size_t begin, [[maybe_unused]] size_t end) {
    if constexpr (kHasStrips<Kernels>) {
      const size_t together = kMostColumns / panel_;
      const size_t panel = panel_elements(kernels_, gemm_.depth);
      for (size_t p = begin; p < end; p += together) {
        const size_t count = std::min(together, end - p);
        const size_t column = p * panel_;
        const size_t columns = std::min(count * panel_, gemm_.columns - column);
        T* const out = const_cast<T*>(elements<T>(gemm_.out, 0, column));
        // The microkernel writes whole panels.
        T whole[kMostColumns] = {};
        T part[kMostColumns];
        T* const sums = columns == count * panel_ ? out : whole;
        const auto* packed = static_cast<const Factor*>(gemm_.packed_b) + p * panel;
        // As in a tile: the first block starts with the bias, later ones are added.
        const bool starts_with_bias = bias_in_tile_ && gemm_.bias.data != nullptr;
        for (size_t j = 0; starts_with_bias && j < columns; ++j) {
          sums[j] = *elements<T>(gemm_.bias, 0, column + j);
        }
        for (size_t depth = 0; depth < gemm_.depth; depth += depth_block_) {
          const bool is_first = depth == 0;
          T* const to = is_first ? sums : part;
          kernels_.multiply_row(count, depth_from(depth), elements<Factor>(gemm_.a, 0, depth),
                                packed + depth * panel_, panel, is_first && starts_with_bias, to);
          for (size_t j = 0; !is_first && j < columns; ++j) sums[j] += part[j];
        }
        if (sums != out) std::copy_n(sums, columns, out);
        finish_row(out, 0, column, columns, !bias_in_tile_);
      }
    }
  }

  // True if there are several tiles of rows, with constant distances, and whole vectors of each row of B may
  // be read.
  [[nodiscard]] bool has_strips() const {
    if (!kHasStrips<Kernels> || staged_ || gemm_.rows <= kernels_.rows()) return false;
    return packs_b_ || gemm_.packed_b != nullptr || gemm_.columns % kernels_.lanes() == 0;
  }

  // Panel first + p from row `depth` of B on, of which `deep` rows are packed, and the distance of its rows.
  [[nodiscard]] std::pair<const Factor*, ptrdiff_t> factors(size_t depth, size_t deep, size_t first,
                                                            size_t p) const {
    if (packs_b_) return {b_block_ + p * panel_elements(kernels_, deep), static_cast<ptrdiff_t>(panel_)};
    if (gemm_.packed_b == nullptr) {
      return {elements<Factor>(gemm_.b, depth, (first + p) * panel_), gemm_.b.row_stride};
    }
    return {static_cast<const Factor*>(gemm_.packed_b) + (first + p) * panel_elements(kernels_, gemm_.depth) +
                depth * panel_,
            static_cast<ptrdiff_t>(panel_)};
  }

  // Rows [row, row + rows) by panel first + p, whose tiles are one call; A was converted from row `block` on.
  void multiply_strip([[maybe_unused]] size_t depth, [[maybe_unused]] size_t first, [[maybe_unused]] size_t p,
                      [[maybe_unused]] size_t block, [[maybe_unused]] size_t row,
                      [[maybe_unused]] size_t rows, [[maybe_unused]] size_t split) {
    if constexpr (kHasStrips<Kernels>) {
      const size_t column = (first + p) * panel_;
      const size_t deep = depth_from(depth);
      const bool ends = depth + deep == gemm_.depth;
      typename Kernels::Strip strip;
      strip.rows = rows;
      strip.tile_rows = split;
      strip.columns = std::min(panel_, gemm_.columns - column);
      strip.depth = deep;
      const Factor* a = converts_a_ ? a_block_ + (row - block) * deep : elements<Factor>(gemm_.a, row, depth);
      strip.a = &a;
      strip.a_stride = converts_a_ ? static_cast<ptrdiff_t>(deep) : gemm_.a.row_stride;
      strip.a_step = converts_a_ ? 1 : gemm_.a.column_stride;
      const Factor* b = nullptr;
      std::tie(b, strip.b_stride) = factors(depth, deep, first, p);
      strip.b = &b;
      strip.looks_ahead = packs_b_ || gemm_.packed_b != nullptr;
      strip.c = const_cast<T*>(elements<T>(gemm_.out, row, column));
      strip.c_stride = gemm_.out.row_stride;
      start(&strip, row, column, depth == 0, ends);
      kernels_.multiply(strip);
      if (ends && !end_in_tile_) {
        finish_rows(strip.c, strip.c_stride, row, column, rows, strip.columns, !bias_in_tile_);
      }
    }
  }

  // Rows [row, row + rows) by `count` panels from first + p on, several only if sums are staged; A was
  // converted from row `block` on.
  void multiply_tile(size_t depth, size_t first, size_t p, size_t count, size_t block, size_t row,
                     size_t rows) {
    T stage[ukernel::kMostGemmRows * kMostColumns];
    const size_t column = (first + p) * panel_;
    const size_t columns = std::min(count * panel_, gemm_.columns - column);
    const size_t deep = depth_from(depth);
    const bool ends = depth + deep == gemm_.depth;
    const Factor* lines[ukernel::kMostGemmRows];
    typename Kernels::Tile tile;
    tile.rows = rows;
    tile.depth = deep;
    tile.a = lines;
    if (converts_a_) {
      for (size_t i = 0; i < rows; ++i) lines[i] = a_block_ + (row - block + i) * deep;
    } else {
      for (size_t i = 0; i < rows; ++i) lines[i] = elements<Factor>(gemm_.a, row + i, depth);
      tile.a_step = gemm_.a.column_stride;
    }
    // Staged rows have no gaps, but tiles of 16-bit factors write whole panels.
    const size_t staged_stride = Kernels::kNarrow ? kMostColumns : columns;
    tile.c = staged_ ? stage : const_cast<T*>(elements<T>(gemm_.out, row, column));
    tile.c_stride = staged_ ? static_cast<ptrdiff_t>(staged_stride) : gemm_.out.row_stride;
    start(&tile, row, column, depth == 0, ends);
    for (size_t i = 0; i < count; ++i, ++p) {
      tile.columns = std::min(panel_, columns - i * panel_);
      std::tie(tile.b, tile.b_stride) = factors(depth, deep, first, p);
      // Used in place, the last panel has fewer columns, and nothing behind them may be read.
      tile.b_columns = packs_b_ || gemm_.packed_b != nullptr ? panel_ : tile.columns;
      kernels_.multiply(tile);
      if (i + 1 == count) break;
      tile.c += panel_;
      if (tile.initial_from == ukernel::GemmInitial::kColumns) tile.initial += panel_;
      if (tile.residual != nullptr) tile.residual += panel_;
    }
    if (!ends) return;
    tile.c = staged_ ? stage : const_cast<T*>(elements<T>(gemm_.out, row, column));
    if (Kernels::kNarrow) {
      for (size_t i = 1; i < rows; ++i) std::copy_n(stage + i * staged_stride, columns, stage + i * columns);
      tile.c_stride = static_cast<ptrdiff_t>(columns);
    }
    if (!end_in_tile_) finish_rows(tile.c, tile.c_stride, row, column, rows, columns, !bias_in_tile_);
    if (staged_) store(stage, columns, row, column, rows, columns);
  }

  void multiply_few(KernelContext* context) {
    for_each(context, gemm_.columns, std::max(gemm_.rows, kLeastRows) * gemm_.depth,
             [&](size_t begin, size_t end) {
               for (size_t column = begin; column < end; column += kMostColumns) {
                 for (size_t row = 0; row < gemm_.rows; row += ukernel::kDotRows) {
                   multiply_few(row, column, std::min(kMostColumns, end - column));
                 }
               }
             });
  }

  void multiply_few(size_t row, size_t column, size_t columns) {
    T stage[ukernel::kDotRows * kMostColumns];
    ukernel::DotProductsOf<T> dots;
    dots.rows = std::min(ukernel::kDotRows, gemm_.rows - row);
    dots.columns = columns;
    dots.c = staged_ ? stage : const_cast<T*>(elements<T>(gemm_.out, row, column));
    dots.c_stride = staged_ ? static_cast<ptrdiff_t>(kMostColumns) : gemm_.out.row_stride;
    if (gemm_.type == Kernels::kSums) {
      dots.depth = gemm_.depth;
      dots.a = elements<T>(gemm_.a, row, 0);
      dots.a_stride = gemm_.a.row_stride;
      dots.b = elements<T>(gemm_.b, 0, column);
      dots.b_stride = gemm_.b.column_stride;
      Kernels::dot(dots);
    } else {
      convert_few(dots, row, column);
    }
    finish_rows(dots.c, dots.c_stride, row, column, dots.rows, columns, gemm_.bias.data != nullptr);
    if (staged_) store(stage, kMostColumns, row, column, dots.rows, columns);
  }

  // The products of `dots`, whose operands have another dtype: blocks of both are converted on the stack.
  void convert_few(const ukernel::DotProductsOf<T>& whole, size_t row, size_t column) const {
    constexpr size_t kDepth = 256;
    constexpr size_t kColumns = 16;
    T a[ukernel::kDotRows * kDepth];
    T b[kColumns * kDepth];
    T part[ukernel::kDotRows * kColumns];
    ukernel::DotProductsOf<T> dots = whole;
    dots.a = a;
    dots.b = b;
    dots.c = part;
    dots.a_stride = dots.b_stride = kDepth;
    dots.c_stride = kColumns;
    for (size_t depth = 0; depth < gemm_.depth; depth += kDepth) {
      dots.depth = std::min(kDepth, gemm_.depth - depth);
      for (size_t i = 0; i < whole.rows; ++i) {
        Kernels::load(a + i * kDepth, gemm_.type, part_of(gemm_.a, gemm_.type, row + i, depth).data, 1,
                      dots.depth);
      }
      for (size_t j = 0; j < whole.columns; j += kColumns) {
        dots.columns = std::min(kColumns, whole.columns - j);
        for (size_t k = 0; k < dots.columns; ++k) {
          Kernels::load(b + k * kDepth, gemm_.type, part_of(gemm_.b, gemm_.type, depth, column + j + k).data,
                        1, dots.depth);
        }
        Kernels::dot(dots);
        for (size_t i = 0; i < whole.rows; ++i) {
          T* sums = whole.c + offset(whole.c_stride, i) + j;
          for (size_t k = 0; k < dots.columns; ++k) {
            sums[k] = (depth == 0 ? T(0) : sums[k]) + part[i * kColumns + k];
          }
        }
      }
    }
  }

  // Converts staged sums and stores them in `out`.
  void store(const T* sums, size_t stride, size_t row, size_t column, size_t rows, size_t columns) const {
    const size_t together = continues(gemm_.out, columns) && stride == columns ? rows : 1;
    for (size_t i = 0; i < rows; i += together) {
      Kernels::store(part_of(gemm_.out, gemm_.type, row + i, column).data, gemm_.out.column_stride,
                     gemm_.type, sums + i * stride, together * columns);
    }
  }

  // Initial sums, residual and clamp of a tile.
  template <class Of>
  void start(Of* tile, size_t row, size_t column, bool begins, bool ends) const {
    // The first block of depth starts the sums, later ones add to `out`.
    tile->adds_to_c = !begins;
    if (begins && bias_in_tile_) {
      tile->initial_from = bias_kind();
      if (tile->initial_from != ukernel::GemmInitial::kZero) {
        tile->initial = tile->initial_from == ukernel::GemmInitial::kRows
                            ? elements<T>(gemm_.bias, row, 0)
                            : elements<T>(gemm_.bias, 0, column);
      }
    }
    if (ends && end_in_tile_) {
      if (gemm_.residual.data != nullptr) {
        tile->residual = elements<T>(gemm_.residual, row, column);
        tile->residual_stride = gemm_.residual.row_stride;
      }
      if (gemm_.activation.kind == ActivationKind::kClamp) {
        tile->low = static_cast<T>(gemm_.activation.low);
        tile->high = static_cast<T>(gemm_.activation.high);
      }
    }
  }

  // True if rows of n elements continue each other.
  [[nodiscard]] static bool continues(const Matrix& matrix, size_t n) {
    return matrix.row_stride == offset(matrix.column_stride, n);
  }

  // finish_row() for several rows: pieces of one row if they and their summands have no gaps.
  void finish_rows(T* sums, ptrdiff_t stride, size_t row, size_t column, size_t rows, size_t n,
                   bool adds_bias) const {
    const bool are_one = stride == offset(1, n) && (!adds_bias || continues(gemm_.bias, n)) &&
                         (gemm_.residual.data == nullptr || continues(gemm_.residual, n));
    const size_t length = are_one ? rows * n : n;
    for (size_t i = 0; i < rows; i += length / n) {
      for (size_t j = 0; j < length; j += kMostColumns) {
        finish_row(sums + j, row + i, column + j, std::min(kMostColumns, length - j), adds_bias);
      }
      sums += stride;
    }
  }

  // Scale, bias, residual and activation of columns [column, column + n), if the microkernel did not fuse
  // them.
  void finish_row(T* sums, size_t row, size_t column, size_t n, bool adds_bias) const {
    if (gemm_.alpha != 1) {
      for (size_t j = 0; j < n; ++j) sums[j] *= static_cast<T>(gemm_.alpha);
    }
    if (adds_bias) add(sums, gemm_.bias, static_cast<T>(gemm_.beta), row, column, n);
    if (gemm_.residual.data != nullptr) add(sums, gemm_.residual, T(1), row, column, n);
    Kernels::activate(gemm_.activation, sums, n);
  }

  void add(T* sums, const Matrix& matrix, T factor, size_t row, size_t column, size_t n) const {
    T summands[kMostColumns];
    const bool is_one = matrix.column_stride == 0;
    Kernels::load(summands, gemm_.type, part_of(matrix, gemm_.type, row, column).data, matrix.column_stride,
                  is_one ? 1 : n);
    if (is_one) {
      const T summand = factor * summands[0];
      for (size_t j = 0; j < n; ++j) sums[j] += summand;
    } else {
      for (size_t j = 0; j < n; ++j) sums[j] += factor * summands[j];
    }
  }

  Gemm gemm_;
  Kernels kernels_;
  bool staged_;        // sums pass through a buffer: `out` has another dtype, is not contiguous, or the bias
  bool converts_a_;    // A passes through a buffer, for the same reasons
  bool dots_;          // dot products instead of tiles
  bool packs_b_;       // B is neither packed at load nor used in place
  bool bias_in_tile_;  // the tile starts its sums with the bias
  bool end_in_tile_;   // the tile fuses residual and activation
  size_t panel_, panels_, depth_block_, depth_step_, panel_block_, row_block_;
  Factor* b_block_ = nullptr;
  Factor* a_block_ = nullptr;
};

// Other dtypes are converted in blocks of 32 rows on the stack.
template <class Kernels>
void Plan<Kernels>::pack_panel(const Kernels& kernels, Factor* panel, ScalarType type, const Matrix& b,
                               size_t depth, size_t columns) {
  if (Kernels::kNarrow || type == Kernels::kFactors) {
    return kernels.pack(panel, elements<Factor>(b, 0, 0), b.row_stride, b.column_stride, depth, columns);
  }
  const size_t width = kernels.columns();
  Factor block[kSmallDepth * kMostColumns];
  for (size_t k = 0; k < depth; k += kSmallDepth) {
    const size_t rows = std::min(kSmallDepth, depth - k);
    // Goes along the contiguous dimension.
    const bool along_rows = b.row_stride == 1;
    const size_t lines = along_rows ? columns : rows;
    const size_t length = along_rows ? rows : columns;
    for (size_t i = 0; i < lines; ++i) {
      const Matrix from = along_rows ? part_of(b, type, k, i) : part_of(b, type, k + i, 0);
      Kernels::load_factors(block + i * length, type, from.data, along_rows ? b.row_stride : b.column_stride,
                            length);
    }
    const auto stride = static_cast<ptrdiff_t>(length);
    kernels.pack(panel + k * width, block, along_rows ? 1 : stride, along_rows ? stride : 1, rows, columns);
  }
}

// Serial without a context.
Error run(KernelContext* context, const Gemm& gemm, void* scratch) {
  return with_arithmetic(
      gemm.type, [&](auto kernels) { return Plan<decltype(kernels)>(gemm, kernels).run(context, scratch); });
}

}  // namespace

size_t packed_bytes(ScalarType type, size_t depth, size_t columns) {
  return with_arithmetic(type, [&](auto kernels) {
    return divide_up(columns, kernels.columns()) * Plan<decltype(kernels)>::panel_bytes(kernels, depth);
  });
}

// Element (k, j) of B is in panel j / width, which has the depth of B; the last panel is padded.
void pack_b(KernelContext& context, void* to, ScalarType type, const Matrix& b, size_t depth,
            size_t columns) {
  with_arithmetic(type, [&](auto kernels) {
    using Packing = Plan<decltype(kernels)>;
    auto* panels = static_cast<typename decltype(kernels)::Factor*>(to);
    const size_t width = kernels.columns();
    const size_t elements = Packing::panel_elements(kernels, depth);
    const size_t grain = items_for_thread(static_cast<ptrdiff_t>(elements), kPackGrain);
    context.parallel_for(divide_up(columns, width), grain, [&](size_t begin, size_t end, size_t) {
      for (size_t panel = begin; panel < end; ++panel) {
        const size_t column = panel * width;
        Packing::pack_panel(kernels, panels + panel * elements, type, part_of(b, type, 0, column), depth,
                            std::min(width, columns - column));
      }
    });
  });
}

Gemm::Gemm(const Product& product)
    : ProductMatrices(product), alpha(product.alpha.to<double>()), beta(product.beta.to<double>()) {}

Batch::Batch(const Tensor& a, const Tensor& b, const Tensor& out)
    : count(static_cast<size_t>(a.size(0))), a(a.strides()[0]), b(b.strides()[0]), out(out.strides()[0]) {}

void prepare(KernelContext& context, const Gemm& gemm) {
  context.need_products(gemm.rows * gemm.columns * gemm.depth);
  const size_t bytes = scratch_bytes(gemm);
  if (bytes != 0) context.need_scratch(bytes + 64);
}

void prepare(KernelContext& context, const Gemm& gemm, const Tensor& weight) {
  context.need_products(gemm.rows * gemm.columns * gemm.depth);
  // A panel for a single column is mostly padding.
  if (is_constant(weight) && gemm.columns > 1 && gemm.depth > 0) {
    const size_t bytes = packed_bytes(gemm.type, gemm.depth, gemm.columns);
    const uint64_t layout =
        layout_id(kLayout, gemm.depth, gemm.columns, gemm.b.row_stride, gemm.b.column_stride,
                  static_cast<int>(gemm.type), ukernel::gemm_columns());
    if (void* to = context.prepare(weight.const_data_ptr(), layout, bytes)) {
      pack_b(context, to, gemm.type, gemm.b, gemm.depth, gemm.columns);
    }
  }
  const size_t bytes = most_scratch_bytes(gemm);
  if (bytes != 0) context.need_scratch(bytes + 64);
}

size_t narrow_products(ScalarType type) {
  if (!contains(kNarrowTypes, type)) return 0;
  if (type == ScalarType::Half) return ukernel::gemm_has_f16() ? 1 : 0;
  return ukernel::gemm_has_bf16() ? ukernel::gemm_group_bf16() : 0;
}

size_t scratch_bytes(const Gemm& gemm) {
  return with_arithmetic(
      gemm.type, [&](auto kernels) { return Plan<decltype(kernels)>(gemm, kernels).scratch_bytes(); });
}

size_t batch_scratch_bytes(const Gemm& gemm) {
  return with_arithmetic(gemm.type, [&](auto kernels) {
    const Plan<decltype(kernels)> plan(gemm, kernels);
    const auto each = static_cast<ptrdiff_t>(gemm.rows * gemm.columns * gemm.depth);
    return each < kSmallProduct && plan.can_do_without() ? 0 : plan.scratch_bytes();
  });
}

size_t most_scratch_bytes(const Gemm& gemm) {
  // With packed panels the product may be cut into other blocks.
  static constexpr double kPanels = 0;
  Gemm packed = gemm;
  packed.packed_b = &kPanels;
  return std::max(scratch_bytes(gemm), scratch_bytes(packed));
}

void* take_scratch(KernelContext& context, const Gemm& gemm) {
  const size_t bytes = scratch_bytes(gemm);
  return bytes == 0 ? nullptr : context.allocate_temp(bytes, 64);
}

Error multiply(KernelContext& context, const Gemm& gemm, void* scratch) {
  if (gemm.rows == 0 || gemm.columns == 0) return Error::Ok;
  return run(&context, gemm, scratch);
}

void multiply_serially(const Gemm& gemm, void* scratch) {
  if (gemm.rows != 0 && gemm.columns != 0) (void)run(nullptr, gemm, scratch);
}

Error multiply(KernelContext& context, const Gemm& gemm) {
  return multiply(context, gemm, take_scratch(context, gemm));
}

Error multiply(KernelContext& context, const Gemm& first, const Batch& batch) {
  if (first.rows == 0 || first.columns == 0) return Error::Ok;
  const size_t bytes = batch_scratch_bytes(first);
  void* scratch = bytes == 0 ? nullptr : context.allocate_temp(bytes, 64);
  const auto size = static_cast<ptrdiff_t>(element_size(first.type));
  const auto one = [&](KernelContext* threads, size_t n) {
    Gemm gemm = first;
    const auto move = [&](Matrix& matrix, ptrdiff_t stride) {
      if (matrix.data != nullptr) matrix.data = static_cast<char*>(matrix.data) + offset(stride, n) * size;
    };
    move(gemm.a, batch.a);
    move(gemm.b, batch.b);
    move(gemm.out, batch.out);
    move(gemm.bias, batch.bias);
    return run(threads, gemm, scratch);
  };
  Error error = Error::Ok;
  const auto each = static_cast<ptrdiff_t>(first.rows * first.columns * first.depth);
  if (bytes == 0 && each < kSmallProduct) {
    // Products that need no scratch memory cannot fail.
    context.parallel_for(batch.count, items_for_thread(each), [&](size_t begin, size_t end, size_t) {
      for (size_t n = begin; n < end; ++n) (void)one(nullptr, n);
    });
  } else {
    for (size_t n = 0; n < batch.count && error == Error::Ok; ++n) error = one(&context, n);
  }
  return error;
}

}  // namespace rushlight::kernels::host
