// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length: six rows by as many columns as four registers hold. VFMACC.VF multiplies
// a vector of the panel with a scalar of each row, so that each load of the panel serves six multiply-adds.
#include <riscv_vector.h>

#include "kernels/ukernel/generic/panel_tile.h"
#include "kernels/ukernel/panel.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

constexpr size_t kRows = kPanelRows;
constexpr bool kTakesColumns = true;

inline const float* at(const float* from, ptrdiff_t bytes) {
  return reinterpret_cast<const float*>(reinterpret_cast<const char*>(from) + bytes);
}

// One row by `lanes` columns, in four registers.
inline void add_one(const float* left, const float* panel, const Tile& tile, size_t column, size_t lanes) {
  vfloat32m4_t sums = __riscv_vle32_v_f32m4(tile.from + column, lanes);
  panel += column;
  for (size_t part = tile.parts; part > 0; --part, left = at(left, tile.part_step)) {
    for (size_t k = tile.depth; k > 0; --k, panel += kPanelColumns) {
      sums = __riscv_vfmacc_vf_f32m4(sums, *left++, __riscv_vle32_v_f32m4(panel, lanes), lanes);
    }
  }
  __riscv_vse32_v_f32m4(tile.out + column, sums, lanes);
}

// Six rows by `lanes` columns: 24 registers of sums, four of the panel. The elements of the rows are scalars.
// The panel is contiguous over all parts.
inline void add_six(const float* left, ptrdiff_t stride, const float* panel, const Tile& tile, size_t column,
                    size_t lanes) {
  const ptrdiff_t from_stride = tile.from_step >> 2, out_stride = tile.out_step >> 2;
  const float* rows[kRows];
  for (size_t i = 0; i < kRows; ++i) rows[i] = left + static_cast<ptrdiff_t>(i) * stride;
  const float* from = tile.from + column;
  vfloat32m4_t a = __riscv_vle32_v_f32m4(from, lanes);
  vfloat32m4_t b = __riscv_vle32_v_f32m4(from + from_stride, lanes);
  vfloat32m4_t c = __riscv_vle32_v_f32m4(from + 2 * from_stride, lanes);
  vfloat32m4_t d = __riscv_vle32_v_f32m4(from + 3 * from_stride, lanes);
  vfloat32m4_t e = __riscv_vle32_v_f32m4(from + 4 * from_stride, lanes);
  vfloat32m4_t f = __riscv_vle32_v_f32m4(from + 5 * from_stride, lanes);
  panel += column;
  const size_t depth = tile.depth;
  // The rows skip to their next part; the panel is contiguous.
  for (size_t part = tile.parts;;) {
#pragma clang loop unroll_count(2)
    for (size_t k = 0; k < depth; ++k, panel += kPanelColumns) {
      const vfloat32m4_t columns = __riscv_vle32_v_f32m4(panel, lanes);
      a = __riscv_vfmacc_vf_f32m4(a, rows[0][k], columns, lanes);
      b = __riscv_vfmacc_vf_f32m4(b, rows[1][k], columns, lanes);
      c = __riscv_vfmacc_vf_f32m4(c, rows[2][k], columns, lanes);
      d = __riscv_vfmacc_vf_f32m4(d, rows[3][k], columns, lanes);
      e = __riscv_vfmacc_vf_f32m4(e, rows[4][k], columns, lanes);
      f = __riscv_vfmacc_vf_f32m4(f, rows[5][k], columns, lanes);
    }
    if (--part == 0) break;
    const ptrdiff_t part_stride = (tile.part_step >> 2) + static_cast<ptrdiff_t>(depth);
    for (const float*& row : rows) row += part_stride;
  }
  float* out = tile.out + column;
  __riscv_vse32_v_f32m4(out, a, lanes);
  __riscv_vse32_v_f32m4(out + out_stride, b, lanes);
  __riscv_vse32_v_f32m4(out + 2 * out_stride, c, lanes);
  __riscv_vse32_v_f32m4(out + 3 * out_stride, d, lanes);
  __riscv_vse32_v_f32m4(out + 4 * out_stride, e, lanes);
  __riscv_vse32_v_f32m4(out + 5 * out_stride, f, lanes);
}

// All columns of the tile, as many at a time as four registers hold: 32 with vectors of 256 bits.
template <size_t kTileRows>
inline void add_tile(const float* left, ptrdiff_t left_stride, const float* panel, const Tile& tile) {
  for (size_t j = 0; j < tile.columns;) {
    const size_t lanes = __riscv_vsetvl_e32m4(tile.columns - j);
    if constexpr (kTileRows == 1) {
      add_one(left, panel, tile, j, lanes);
    } else {
      add_six(left, left_stride, panel, tile, j, lanes);
    }
    j += lanes;
  }
}

}  // namespace

// One row at a time, with lanes along the depth, whose sums join at the end.
void multiply_rows(const RowProduct& product) {
  const float* left = product.left;
  float* out = product.out;
  const size_t most = __riscv_vsetvlmax_e32m8();
  for (size_t i = product.rows; i > 0; --i, left += product.left_stride, out += product.out_stride) {
    vfloat32m8_t sums = __riscv_vfmv_v_f_f32m8(0, most);
    for (size_t k = 0; k < product.depth;) {
      const size_t lanes = __riscv_vsetvl_e32m8(product.depth - k);
      // Lanes past `lanes` keep their sums (_tu).
      sums = __riscv_vfmacc_vv_f32m8_tu(sums, __riscv_vle32_v_f32m8(left + k, lanes),
                                        __riscv_vle32_v_f32m8(product.right + k, lanes), lanes);
      k += lanes;
    }
    // An unordered sum: its order depends on the machine.
    const vfloat32m1_t none = __riscv_vfmv_s_f_f32m1(0, 1);
    *out += __riscv_vfmv_f_s_f32m1_f32(__riscv_vfredusum_vs_f32m8_f32m1(sums, none, most));
  }
}

void copy_panel(float* to, ptrdiff_t to_stride, const float* from, ptrdiff_t from_stride, size_t rows) {
  for (; rows > 0; --rows, to += to_stride, from += from_stride) {
    for (size_t j = 0; j < kPanelColumns;) {
      const size_t lanes = __riscv_vsetvl_e32m8(kPanelColumns - j);
      __riscv_vse32_v_f32m8(to + j, __riscv_vle32_v_f32m8(from + j, lanes), lanes);
      j += lanes;
    }
  }
}

void pack_panel(float* to, const float* from, ptrdiff_t from_stride, ptrdiff_t depth_stride, size_t columns,
                size_t depth) {
  const auto step = from_stride * static_cast<ptrdiff_t>(sizeof(float));
  for (size_t j = 0; j < kPanelColumns;) {
    // Columns past the end are written as zeros, by further iterations.
    const bool is_there = j < columns;
    const size_t lanes = __riscv_vsetvl_e32m8((is_there ? columns : kPanelColumns) - j);
    const float* at = from + static_cast<ptrdiff_t>(j) * from_stride;
    const vfloat32m8_t zeros = __riscv_vfmv_v_f_f32m8(0, lanes);
    for (size_t k = 0; k < depth; ++k, at += depth_stride) {
      const vfloat32m8_t numbers = is_there ? __riscv_vlse32_v_f32m8(at, step, lanes) : zeros;
      __riscv_vse32_v_f32m8(to + k * kPanelColumns + j, numbers, lanes);
    }
    j += lanes;
  }
}

void gather_panel(float* to, ptrdiff_t to_stride, const PanelWindows& windows,
                  const PanelPosition& position) {
  for (size_t j = 0; j < kPanelColumns;) {
    const size_t lanes = __riscv_vsetvl_e32m4(kPanelColumns - j);
    const vint32m4_t rows =
        __riscv_vadd_vx_i32m4(__riscv_vle32_v_i32m4(windows.row + j, lanes), position.row, lanes);
    const vint32m4_t columns =
        __riscv_vadd_vx_i32m4(__riscv_vle32_v_i32m4(windows.column + j, lanes), position.column, lanes);
    // Unsigned comparisons cover both borders.
    const vbool8_t inside = __riscv_vmand_mm_b8(
        __riscv_vmsltu_vx_u32m4_b8(__riscv_vreinterpret_v_i32m4_u32m4(rows), position.height, lanes),
        __riscv_vmsltu_vx_u32m4_b8(__riscv_vreinterpret_v_i32m4_u32m4(columns), position.width, lanes),
        lanes);
    // Byte offsets as wide as addresses, since they may be negative.
    const vint64m8_t offsets = __riscv_vsll_vx_i64m8(
        __riscv_vsext_vf2_i64m8(__riscv_vle32_v_i32m4(windows.offset + j, lanes), lanes), 2, lanes);
    const vfloat32m4_t zeros = __riscv_vfmv_v_f_f32m4(0, lanes);
    const float* from = position.from;
    float* at = to + j;
    for (size_t i = position.channels; i > 0; --i, at += to_stride, from += position.channel_stride) {
      __riscv_vse32_v_f32m4(at,
                            __riscv_vluxei64_v_f32m4_mu(inside, zeros, from,
                                                        __riscv_vreinterpret_v_i64m8_u64m8(offsets), lanes),
                            lanes);
    }
    j += lanes;
  }
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT

#include "kernels/ukernel/generic/panel.inl"
