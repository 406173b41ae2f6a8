// SPDX-License-Identifier: BSD-3-Clause
// Blocked matrix product after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
// 2008. B is cut into panels of gemm_columns() columns and blocks of 512 rows that fit in the L2 cache, and
// packed unless it is constant (packed at load) or small. Tiles of gemm_rows() rows by one panel are computed
// in registers and divided among threads. Few rows with contiguous columns of B are dot products instead,
// because packing would cost more than the product.
//
// The loops, from the outermost to the innermost:
//
//   blocks of kDepthBlock rows of B
//     blocks of panels, at most kBlockBytes          packed here, stay in the L2 cache
//       blocks of kRowBlock rows of A                only if A is converted
//         tiles of gemm_rows() rows by one panel     divided among threads, sums in registers
#include "kernels/host/gemm.h"

#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selected_calls.h"
#include "kernels/checks/selection.h"
#include "kernels/host/activate.h"
#include "kernels/host/elements.h"
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
constexpr size_t kSmallDepth = 32;                // rows of B packed at a time without scratch memory
constexpr size_t kGrain = size_t{1} << 20;        // multiplications worth a thread

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

const float* floats(const Matrix& matrix, size_t row, size_t column) {
  return static_cast<const float*>(matrix.data) + offset(matrix.row_stride, row) +
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
// contiguous.
Gemm simplified(Gemm gemm) {
  if (gemm.alpha == 0.0f) gemm.depth = 0;
  if (gemm.beta == 0.0f) gemm.bias.data = nullptr;
  // C^T = B^T A^T: exchanges strides only. Packed panels fix the roles of A and B.
  const bool rows_are_contiguous = gemm.out.column_stride == 1 && gemm.columns != 1;
  const bool columns_are = gemm.out.row_stride == 1 || gemm.columns == 1;
  if (!rows_are_contiguous && columns_are && gemm.rows != 1 && gemm.packed_b == nullptr)
    return transposed(gemm);
  return gemm;
}

// True if a call of the build may multiply by a right factor with contiguous columns. Only
// products of two matrices are examined.
constexpr bool kReachesDots = is_reached_through("kernels/host/gemm", [](const SelectedCall& call) {
  if (!call.has("mat2")) return true;
  const CallValue& right = call["mat2"];
  const CallValue& out = call["out"];
  if (right.count != 2 || out.count != 2 || out.size(1) == 1 || out.strides()[1] != 1) return true;
  return right.size(0) == 1 || right.strides()[0] == 1;
});

// The division of a product into blocks, and the computation of them.
class Plan {
 public:
  explicit Plan(const Gemm& gemm) : gemm_(simplified(gemm)) {
    const bool is_float = this->is_float();
    // The order of these decisions matters: each uses the ones before it.
    dots_ = is_of_few_vectors();
    staged_ = !is_float || (gemm_.out.column_stride != 1 && gemm_.columns != 1);
    converts_a_ = !is_float ||
                  (!dots_ && gemm_.a.column_stride != 1 && gemm_.depth > 1 && gemm_.columns > kMostColumns);
    packs_b_ = gemm_.packed_b == nullptr && !dots_ && !is_b_contiguous();
    panel_ = ukernel::gemm_columns();
    panels_ = divide_up(gemm_.columns, panel_);
    // Staged sums cannot be added to `out` block by block, so their depth is not divided.
    depth_block_ = staged_ ? std::max<size_t>(gemm_.depth, 1) : kDepthBlock;
    depth_block_ = std::min(depth_block_, std::max<size_t>(gemm_.depth, 1));
    // Panels of one block of depth that fit in kBlockBytes.
    const size_t fitting = kBlockBytes / (depth_block_ * panel_ * sizeof(float));
    panel_block_ = std::min(panels_, std::max<size_t>(fitting, 1));
    row_block_ = converts_a_ ? std::min(gemm_.rows, kRowBlock) : gemm_.rows;
    // The tile starts with the bias itself, so this requires factors of 1 and a layout that the microkernel
    // reads.
    bias_in_tile_ = gemm_.bias.data == nullptr || (is_float && gemm_.alpha == 1.0f && gemm_.beta == 1.0f &&
                                                   bias_kind() != ukernel::GemmInitial::kC);
    const Matrix& residual = gemm_.residual;
    // The microkernel ends a tile with residual and clamp. Both need the finished sum, thus alpha 1 and the
    // bias.
    end_in_tile_ =
        bias_in_tile_ && gemm_.alpha == 1.0f && is_clamp(gemm_.activation) &&
        (residual.data == nullptr || (is_float && (residual.column_stride == 1 || gemm_.columns == 1)));
  }

  [[nodiscard]] size_t scratch_bytes() const { return b_bytes() + a_bytes(); }

  // Without scratch memory, reduces the depth of blocks so that a packed panel fits on the stack.
  Error run(KernelContext* context, void* scratch) {
    if (kReachesDots && dots_) {
      multiply_few(context);
      return Error::Ok;
    }
    alignas(64) float small[kSmallDepth * kMostColumns];
    b_block_ = static_cast<float*>(scratch);
    if (scratch == nullptr && scratch_bytes() != 0) {
      // Sums that are staged need the whole depth, which does not fit on the stack if B is packed.
      const bool can_do_without = is_float() && !(staged_ && packs_b_);
      RL_CHECK(can_do_without, Error::MemoryAllocationFailed, "out of scratch memory: need %lu bytes",
               log_number(scratch_bytes()));
      converts_a_ = false;
      row_block_ = gemm_.rows;
      if (packs_b_) {
        depth_block_ = std::min(depth_block_, kSmallDepth);
        panel_block_ = 1;
      }
      b_block_ = small;
    }
    a_block_ = b_block_ + b_bytes() / sizeof(float);
    // Depth, panels, rows: a block of B is packed once and used by all rows. Runs once even with depth 0, to
    // write bias or zeros.
    for (size_t depth = 0; depth == 0 || depth < gemm_.depth; depth += depth_block_) {
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
  // False for 16-bit floats, which are converted.
  [[nodiscard]] bool is_float() const {
    return (kAnySelectedType & types::kReducedFloat) == 0 || gemm_.type == ScalarType::Float;
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
    return kReachesDots && is_float() && gemm_.packed_b == nullptr && gemm_.depth > 0 &&
           gemm_.rows <= 2 * ukernel::kDotRows && gemm_.b.row_stride == 1 && gemm_.a.column_stride == 1;
  }

  [[nodiscard]] bool is_b_contiguous() const {
    if (gemm_.depth == 0) return true;
    if (!is_float() || (gemm_.b.column_stride != 1 && gemm_.columns != 1)) return false;
    // Rows that are a multiple of 1 KiB apart map to the same cache sets.
    const bool meets = gemm_.b.row_stride % 256 == 0;
    return gemm_.rows <= 2 * ukernel::gemm_rows() ||
           (!meets && gemm_.depth * gemm_.columns * sizeof(float) <= kDirectBytes);
  }

  [[nodiscard]] size_t b_bytes() const {
    return packs_b_ ? depth_block_ * panel_block_ * panel_ * sizeof(float) : 0;
  }
  [[nodiscard]] size_t a_bytes() const { return converts_a_ ? row_block_ * depth_block_ * sizeof(float) : 0; }

  // A loop of `count` items with `each` multiplications; serial without a context.
  template <class Body>
  static void for_each(KernelContext* context, size_t count, size_t each, Body&& body) {
    if (context == nullptr) {
      body(0, count);
    } else {
      context->parallel_for(count, 1 + kGrain / (each + 1),
                            [&](size_t begin, size_t end, size_t) { body(begin, end); });
    }
  }

  [[nodiscard]] size_t depth_from(size_t depth) const { return std::min(depth_block_, gemm_.depth - depth); }

  void pack(KernelContext* context, size_t depth, size_t first, size_t panels) {
    const size_t rows = depth_from(depth);
    for_each(context, panels, 4 * rows * panel_, [&](size_t begin, size_t end) {
      for (size_t p = begin; p < end; ++p) {
        const size_t column = (first + p) * panel_;
        pack_panel(b_block_ + p * rows * panel_, gemm_.type, part_of(gemm_.b, gemm_.type, depth, column),
                   rows, std::min(panel_, gemm_.columns - column));
      }
    });
  }

  void multiply(KernelContext* context, size_t depth, size_t panel, size_t panels, size_t row) {
    const size_t rows = std::min(row_block_, gemm_.rows - row);
    const size_t deep = depth_from(depth);
    if (converts_a_) {
      for_each(context, rows, 4 * deep, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
          load_floats(a_block_ + i * deep, gemm_.type, part_of(gemm_.a, gemm_.type, row + i, depth).data,
                      gemm_.a.column_stride, deep);
        }
      });
    }
    // Tiles are numbered with panels fastest, so that a thread keeps the rows of A and goes through the block
    // of B.
    const size_t split = ukernel::gemm_split(rows);
    const size_t tiles = divide_up(rows, split) * panels;
    for_each(context, tiles, split * panel_ * deep, [&](size_t begin, size_t end) {
      size_t at = row + begin / panels * split;
      size_t p = begin % panels;
      for (size_t tile = begin; tile < end; ++tile) {
        multiply_tile(depth, panel, p, row, at, std::min(split, row + rows - at));
        if (++p == panels) {
          p = 0;
          at += split;
        }
      }
    });
  }

  // Rows [row, row + rows) by panel first + p; A was converted from row `block` on.
  void multiply_tile(size_t depth, size_t first, size_t p, size_t block, size_t row, size_t rows) {
    const size_t column = (first + p) * panel_;
    const size_t deep = depth_from(depth);
    const float* lines[ukernel::kMostGemmRows];
    ukernel::GemmTile tile;
    tile.rows = rows;
    tile.columns = std::min(panel_, gemm_.columns - column);
    tile.depth = deep;
    tile.a = lines;
    if (converts_a_) {
      for (size_t i = 0; i < rows; ++i) lines[i] = a_block_ + (row - block + i) * deep;
    } else {
      for (size_t i = 0; i < rows; ++i) lines[i] = floats(gemm_.a, row + i, depth);
      tile.a_step = gemm_.a.column_stride;
    }
    if (packs_b_ || gemm_.packed_b != nullptr) {
      tile.b = packs_b_ ? b_block_ + p * deep * panel_
                        : gemm_.packed_b + ((first + p) * gemm_.depth + depth) * panel_;
      tile.b_stride = static_cast<ptrdiff_t>(panel_);
      tile.b_columns = panel_;
    } else {
      // Used in place: the last panel has fewer columns, and nothing behind them may be read.
      tile.b = floats(gemm_.b, depth, column);
      tile.b_stride = gemm_.b.row_stride;
      tile.b_columns = tile.columns;
    }
    finish(&tile, row, column, depth == 0, depth + deep == gemm_.depth);
  }

  void multiply_few(KernelContext* context) {
    for_each(context, gemm_.columns, gemm_.rows * gemm_.depth, [&](size_t begin, size_t end) {
      for (size_t column = begin; column < end; column += kMostColumns) {
        for (size_t row = 0; row < gemm_.rows; row += ukernel::kDotRows) {
          multiply_few(row, column, std::min(kMostColumns, end - column));
        }
      }
    });
  }

  void multiply_few(size_t row, size_t column, size_t columns) {
    float stage[ukernel::kDotRows * kMostColumns];
    ukernel::DotProducts dots;
    dots.rows = std::min(ukernel::kDotRows, gemm_.rows - row);
    dots.columns = columns;
    dots.depth = gemm_.depth;
    dots.a = floats(gemm_.a, row, 0);
    dots.a_stride = gemm_.a.row_stride;
    dots.b = floats(gemm_.b, 0, column);
    dots.b_stride = gemm_.b.column_stride;
    dots.c = staged_ ? stage : const_cast<float*>(floats(gemm_.out, row, column));
    dots.c_stride = staged_ ? static_cast<ptrdiff_t>(kMostColumns) : gemm_.out.row_stride;
    ukernel::dot_products(dots);
    for (size_t i = 0; i < dots.rows; ++i) {
      finish_row(dots.c + offset(dots.c_stride, i), row + i, column, columns, gemm_.bias.data != nullptr);
    }
    if (staged_) store(stage, kMostColumns, row, column, dots.rows, columns);
  }

  // Converts staged sums and stores them in `out`.
  void store(const float* sums, size_t stride, size_t row, size_t column, size_t rows, size_t columns) const {
    for (size_t i = 0; i < rows; ++i) {
      store_floats(part_of(gemm_.out, gemm_.type, row + i, column).data, gemm_.out.column_stride, gemm_.type,
                   sums + i * stride, columns);
    }
  }

  void finish(ukernel::GemmTile* tile, size_t row, size_t column, bool begins, bool ends) {
    float stage[ukernel::kMostGemmRows * kMostColumns];
    tile->c = staged_ ? stage : const_cast<float*>(floats(gemm_.out, row, column));
    tile->c_stride = staged_ ? static_cast<ptrdiff_t>(kMostColumns) : gemm_.out.row_stride;
    // The first block of depth starts the sums, later ones add to `out`.
    tile->adds_to_c = !begins;
    if (begins && bias_in_tile_) {
      tile->initial_from = bias_kind();
      if (tile->initial_from != ukernel::GemmInitial::kZero) {
        tile->initial = tile->initial_from == ukernel::GemmInitial::kRows ? floats(gemm_.bias, row, 0)
                                                                          : floats(gemm_.bias, 0, column);
      }
    }
    if (ends && end_in_tile_) {
      if (gemm_.residual.data != nullptr) {
        tile->residual = floats(gemm_.residual, row, column);
        tile->residual_stride = gemm_.residual.row_stride;
      }
      if (gemm_.activation.kind == ActivationKind::kClamp) {
        tile->low = static_cast<float>(gemm_.activation.low);
        tile->high = static_cast<float>(gemm_.activation.high);
      }
    }
    ukernel::gemm_tile(*tile);
    if (!ends) return;
    for (size_t i = 0; i < tile->rows && !end_in_tile_; ++i) {
      finish_row(tile->c + offset(tile->c_stride, i), row + i, column, tile->columns, !bias_in_tile_);
    }
    if (staged_) store(stage, kMostColumns, row, column, tile->rows, tile->columns);
  }

  // Scale, bias, residual and activation of columns [column, column + n), if the microkernel did not fuse
  // them.
  void finish_row(float* sums, size_t row, size_t column, size_t n, bool adds_bias) const {
    if (gemm_.alpha != 1.0f) {
      for (size_t j = 0; j < n; ++j) sums[j] *= gemm_.alpha;
    }
    if (adds_bias) add(sums, gemm_.bias, gemm_.beta, row, column, n);
    if (gemm_.residual.data != nullptr) add(sums, gemm_.residual, 1.0f, row, column, n);
    activate(gemm_.activation, sums, n);
  }

  void add(float* sums, const Matrix& matrix, float factor, size_t row, size_t column, size_t n) const {
    float summands[kMostColumns];
    load_floats(summands, gemm_.type, part_of(matrix, gemm_.type, row, column).data, matrix.column_stride, n);
    for (size_t j = 0; j < n; ++j) sums[j] += factor * summands[j];
  }

  static void pack_panel(float* panel, ScalarType type, const Matrix& b, size_t depth, size_t columns);
  friend void host::pack_b(float*, ScalarType, const Matrix&, size_t, size_t);

  Gemm gemm_;
  bool staged_;        // sums pass through a buffer: `out` has another dtype or is not contiguous
  bool converts_a_;    // A passes through a buffer, for the same reasons
  bool dots_;          // dot products instead of tiles
  bool packs_b_;       // B is neither packed at load nor used in place
  bool bias_in_tile_;  // the tile starts its sums with the bias
  bool end_in_tile_;   // the tile fuses residual and activation
  size_t panel_, panels_, depth_block_, panel_block_, row_block_;
  float* b_block_ = nullptr;
  float* a_block_ = nullptr;
};

// Other dtypes are converted to float32 in blocks of 32 rows on the stack.
void Plan::pack_panel(float* panel, ScalarType type, const Matrix& b, size_t depth, size_t columns) {
  if (type == ScalarType::Float) {
    return ukernel::gemm_pack(panel, floats(b, 0, 0), b.row_stride, b.column_stride, depth, columns,
                              ukernel::gemm_columns());
  }
  const size_t width = ukernel::gemm_columns();
  float block[kSmallDepth * kMostColumns];
  for (size_t k = 0; k < depth; k += kSmallDepth) {
    const size_t rows = std::min(kSmallDepth, depth - k);
    // Goes along the contiguous dimension.
    const bool along_rows = b.row_stride == 1;
    const size_t lines = along_rows ? columns : rows;
    const size_t length = along_rows ? rows : columns;
    for (size_t i = 0; i < lines; ++i) {
      const Matrix from = along_rows ? part_of(b, type, k, i) : part_of(b, type, k + i, 0);
      load_floats(block + i * length, type, from.data, along_rows ? b.row_stride : b.column_stride, length);
    }
    const auto stride = static_cast<ptrdiff_t>(length);
    ukernel::gemm_pack(panel + k * width, block, along_rows ? 1 : stride, along_rows ? stride : 1, rows,
                       columns, width);
  }
}

}  // namespace

size_t packed_bytes(size_t depth, size_t columns) {
  const size_t width = ukernel::gemm_columns();
  return divide_up(columns, width) * width * depth * sizeof(float);
}

// Element (k, j) of B is at to[(j / width * depth + k) * width + j % width]; the last panel is padded.
void pack_b(float* to, ScalarType type, const Matrix& b, size_t depth, size_t columns) {
  const size_t width = ukernel::gemm_columns();
  for (size_t column = 0; column < columns; column += width) {
    Plan::pack_panel(to + column * depth, type, part_of(b, type, 0, column), depth,
                     std::min(width, columns - column));
  }
}

Gemm::Gemm(const Product& product)
    : ProductMatrices(product), alpha(product.alpha.to<float>()), beta(product.beta.to<float>()) {}

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
  if (is_constant(weight) && gemm.columns > 1) {
    const size_t bytes = packed_bytes(gemm.depth, gemm.columns);
    const uint64_t layout =
        layout_id(kLayout, gemm.depth, gemm.columns, gemm.b.row_stride, gemm.b.column_stride,
                  static_cast<int>(gemm.type), ukernel::gemm_columns());
    if (void* to = context.prepare(weight.const_data_ptr(), layout, bytes)) {
      pack_b(static_cast<float*>(to), gemm.type, gemm.b, gemm.depth, gemm.columns);
    }
  }
  const size_t bytes = most_scratch_bytes(gemm);
  if (bytes != 0) context.need_scratch(bytes + 64);
}

size_t scratch_bytes(const Gemm& gemm) { return Plan(gemm).scratch_bytes(); }

size_t most_scratch_bytes(const Gemm& gemm) {
  // With packed panels the product may be cut into other blocks.
  static constexpr float kPanels = 0;
  Gemm packed = gemm;
  packed.packed_b = &kPanels;
  return std::max(scratch_bytes(gemm), scratch_bytes(packed));
}

void* take_scratch(KernelContext& context, const Gemm& gemm) {
  const size_t bytes = scratch_bytes(gemm);
  return bytes == 0 ? nullptr : context.allocate_temp(bytes, 64);
}

Error multiply(KernelContext& context, const Gemm& gemm, void* scratch) {
  return gemm.rows == 0 || gemm.columns == 0 ? Error::Ok : Plan(gemm).run(&context, scratch);
}

Error multiply(KernelContext& context, const Gemm& gemm) {
  return multiply(context, gemm, take_scratch(context, gemm));
}

Error multiply(KernelContext& context, const Gemm& first, const Batch& batch) {
  if (first.rows == 0 || first.columns == 0) return Error::Ok;
  const size_t bytes = Plan(first).scratch_bytes();
  void* scratch = bytes == 0 ? nullptr : context.allocate_temp(bytes, 64);
  const auto size = static_cast<ptrdiff_t>(element_size(first.type));
  // Small products are divided among threads as wholes, large ones one after the other, each on all threads.
  const auto one = [&](KernelContext* threads, size_t n) {
    Gemm gemm = first;
    const auto move = [&](Matrix& matrix, ptrdiff_t stride) {
      if (matrix.data != nullptr) matrix.data = static_cast<char*>(matrix.data) + offset(stride, n) * size;
    };
    move(gemm.a, batch.a);
    move(gemm.b, batch.b);
    move(gemm.out, batch.out);
    move(gemm.bias, batch.bias);
    return Plan(gemm).run(threads, scratch);
  };
  Error error = Error::Ok;
  const size_t each = first.rows * first.columns * first.depth;
  if (bytes == 0 && each < 8 * kGrain) {
    // Products that need no scratch memory cannot fail.
    context.parallel_for(batch.count, 1 + kGrain / (each + 1), [&](size_t begin, size_t end, size_t) {
      for (size_t n = begin; n < end; ++n) (void)one(nullptr, n);
    });
  } else {
    for (size_t n = 0; n < batch.count && error == Error::Ok; ++n) error = one(&context, n);
  }
  return error;
}

}  // namespace rushlight::kernels::host
