// SPDX-License-Identifier: BSD-3-Clause
// The arithmetics of matrix products: float32, float64, and 16-bit floats with sums in float32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/checks/selection.h"
#include "kernels/host/activate.h"
#include "kernels/host/elements.h"
#include "kernels/host/gemm.h"
#include "kernels/ukernel/dot.h"
#include "kernels/ukernel/gemm.h"
#include "kernels/ukernel/gemm_bf16.h"
#include "kernels/ukernel/gemm_f16.h"
#include "kernels/ukernel/gemm_f64.h"

namespace rushlight::kernels::host {

// The microkernels of an arithmetic, and the conversion of its operands: factors of type Factor in tiles and
// panels, whose dtype is kFactors, and sums of type Sum. Panels hold group() adjacent elements along the
// depth. Strip is void without microkernels for strips and rows.
struct Singles {
  static constexpr ScalarType kFactors = ScalarType::Float;
  static constexpr ScalarType kSums = ScalarType::Float;
  static constexpr bool kNarrow = false;  // 16-bit factors of any dtype, always packed
  using Factor = float;
  using Sum = float;
  using Tile = ukernel::GemmTile;
  using Strip = ukernel::GemmStrip;
  static size_t rows() { return ukernel::gemm_rows(); }
  // Rows of a tile of a product with this number of columns.
  static size_t rows_of(size_t columns) { return ukernel::gemm_rows_of(columns); }
  static size_t columns() { return ukernel::gemm_columns(); }
  static size_t lanes() { return ukernel::gemm_lanes(); }
  static size_t group() { return 1; }
  static void multiply(const Tile& tile) { ukernel::gemm_tile(tile); }
  static void multiply(const Strip& strip) { ukernel::gemm_strip(strip); }
  static void multiply_row(size_t panels, size_t depth, const float* a, const float* b, size_t panel_elements,
                           bool continues, float* c) {
    ukernel::gemm_row(panels, depth, a, b, static_cast<ptrdiff_t>(panel_elements), continues, c);
  }
  static void dot(const ukernel::DotProducts& dots) { ukernel::dot_products(dots); }
  static void pack(float* panel, const float* b, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t depth,
                   size_t columns) {
    ukernel::gemm_pack(panel, b, row_stride, column_stride, depth, columns, ukernel::gemm_columns());
  }
  static void load_factors(float* to, ScalarType type, const void* from, ptrdiff_t stride, size_t n) {
    load_floats(to, type, from, stride, n);
  }
  static void load(float* to, ScalarType type, const void* from, ptrdiff_t stride, size_t n) {
    load_floats(to, type, from, stride, n);
  }
  static void store(void* to, ptrdiff_t stride, ScalarType type, const float* from, size_t n) {
    store_floats(to, stride, type, from, n);
  }
  static void activate(const Activation& activation, float* x, size_t n) { host::activate(activation, x, n); }
};

template <class T>
void copy_strided(T* to, const void* from, ptrdiff_t stride, size_t n) {
  const auto* elements = static_cast<const T*>(from);
  for (size_t i = 0; i < n; ++i, elements += stride) to[i] = *elements;
}

struct Doubles {
  static constexpr ScalarType kFactors = ScalarType::Double;
  static constexpr ScalarType kSums = ScalarType::Double;
  static constexpr bool kNarrow = false;
  using Factor = double;
  using Sum = double;
  using Tile = ukernel::GemmTileF64;
  using Strip = void;
  static size_t rows() { return ukernel::gemm_rows(); }
  static size_t rows_of(size_t columns) { return ukernel::gemm_rows_of(2 * columns); }
  static size_t columns() { return ukernel::gemm_columns_f64(); }
  static size_t lanes() { return ukernel::gemm_lanes() / 2; }
  static size_t group() { return 1; }
  static void multiply(const Tile& tile) { ukernel::gemm_tile_f64(tile); }
  static void dot(const ukernel::DotProductsF64& dots) { ukernel::dot_products_f64(dots); }
  static void pack(double* panel, const double* b, ptrdiff_t row_stride, ptrdiff_t column_stride,
                   size_t depth, size_t columns) {
    ukernel::gemm_pack_f64(panel, b, row_stride, column_stride, depth, columns, ukernel::gemm_columns_f64());
  }
  static void load_factors(double* to, ScalarType, const void* from, ptrdiff_t stride, size_t n) {
    copy_strided(to, from, stride, n);
  }
  static void load(double* to, ScalarType, const void* from, ptrdiff_t stride, size_t n) {
    copy_strided(to, from, stride, n);
  }
  static void store(void* to, ptrdiff_t stride, ScalarType, const double* from, size_t n) {
    auto* doubles = static_cast<double*>(to);
    for (size_t i = 0; i < n; ++i, doubles += stride) *doubles = from[i];
  }
  static void activate(const Activation& clamp, double* x, size_t n) {
    if (clamp.kind == ActivationKind::kNone) return;
    for (size_t i = 0; i < n; ++i) {
      const double raised = x[i] < clamp.low ? clamp.low : x[i];
      x[i] = raised > clamp.high ? clamp.high : raised;
    }
  }
};

// Float16 and bfloat16: one Plan, which asks for the dtype.
class Narrows : public Singles {
 public:
  static constexpr bool kNarrow = true;
  using Factor = uint16_t;
  using Tile = ukernel::GemmTile16;
  using Strip = void;

  explicit Narrows(ScalarType type) : type_(type) {}

  [[nodiscard]] size_t rows() const {
    return is_half() ? ukernel::gemm_rows_f16() : ukernel::gemm_rows_bf16();
  }
  [[nodiscard]] size_t rows_of(size_t) const { return rows(); }
  [[nodiscard]] size_t columns() const {
    return is_half() ? ukernel::gemm_columns_f16() : ukernel::gemm_columns_bf16();
  }
  [[nodiscard]] size_t group() const { return is_half() ? 1 : ukernel::gemm_group_bf16(); }
  void multiply(const Tile& tile) const {
    is_half() ? ukernel::gemm_tile_f16(tile) : ukernel::gemm_tile_bf16(tile);
  }
  void pack(uint16_t* panel, const uint16_t* b, ptrdiff_t row_stride, ptrdiff_t column_stride, size_t depth,
            size_t columns) const {
    is_half() ? ukernel::gemm_pack_f16(panel, b, row_stride, column_stride, depth, columns)
              : ukernel::gemm_pack_bf16(panel, b, row_stride, column_stride, depth, columns);
  }
  static void load_factors(uint16_t* to, ScalarType, const void* from, ptrdiff_t stride, size_t n) {
    copy_strided(to, from, stride, n);
  }

 private:
  // A constant in builds with one of the dtypes.
  [[nodiscard]] bool is_half() const {
    if constexpr (!contains(kNarrowTypes, ScalarType::BFloat16)) return true;
    return contains(kNarrowTypes, ScalarType::Half) && type_ == ScalarType::Half;
  }

  ScalarType type_;
};

// Calls f with the arithmetic of a dtype. Builds contain no code for dtypes that they do not select.
template <class F>
decltype(auto) with_arithmetic(ScalarType type, F f) {
  if constexpr (contains(kConvertibleTypes, ScalarType::Double)) {  // of complex128, too
    if (type == ScalarType::Double) return f(Doubles());
  }
  if constexpr (kNarrowTypes != 0) {
    if (narrow_products(type) != 0) return f(Narrows(type));
  }
  return f(Singles());
}

}  // namespace rushlight::kernels::host
