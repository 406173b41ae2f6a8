// SPDX-License-Identifier: BSD-3-Clause
// A function of one 16-bit quantized value as a piecewise cubic polynomial: a table of all 65536 results
// would take 128 kB.
//
// The table has a row of four int32 coefficients for each of 2^k pieces of equal length, beginning at the
// least value. With t, the position in the piece in steps of 2^-16, the result is
//
//   out = clamp((c0 + t (c1 + t (c2 + t c3)) + 2^14) >> 15, min, max)
//
// where each product with t is shifted right by 16. The creator of the table knows the error of the
// approximation. Each element takes three multiplications, for every function.
#include "kernels/checks/checks.h"
#include "kernels/checks/overlap.h"
#include "kernels/checks/selection.h"
#include "kernels/quantization/affine.h"
#include "kernels/quantization/requantization.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kTypes = selected_types("rushlight::quantized_curve.out") & kQuantizedElements;
constexpr SizesType kCoefficients = 4;
constexpr int kBits = 16;           // bits of an input value
constexpr int kMostPieceBits = 14;  // so that a piece has at least four values
constexpr int kFraction = 15;

// One table and its range of results. Coefficients have 32 bits and t has 16, so sums have at most 35 bits
// and products at most 51: int64 needs no checks for any table.
struct Curve {
  const int32_t* table;
  int piece_bits;
  int32_t low;
  int32_t high;

  [[nodiscard]] int32_t operator()(int16_t number) const {
    // The upper bits of the position name the piece, the lower bits are moved up to t.
    const auto position = static_cast<uint32_t>(number - INT16_MIN);
    const int32_t* c = table + (position >> (kBits - piece_bits)) * kCoefficients;
    const auto t = static_cast<int32_t>((position << piece_bits) & 0xffff);
    int64_t value = c[3];
    for (int i = 2; i >= 0; --i) value = c[i] + ((value * t) >> kBits);
    return ukernel::clamp_quantized((value + (1 << (kFraction - 1))) >> kFraction, low, high);
  }
};

// Checks the table and points `curve` to it. A result must not overwrite coefficients that later elements
// need.
Error read_table(const Tensor& table, const Tensor& out, Curve* curve) {
  RL_CHECK(table.scalar_type() == ScalarType::Int, Error::InvalidType, "table: expected dtype int32, got %s",
           to_string(table.scalar_type()));
  const SizesType pieces = table.dim() == 2 ? table.sizes()[0] : 0;
  RL_CHECK(pieces > 0 && pieces <= 1 << kMostPieceBits && (pieces & (pieces - 1)) == 0 &&
               table.sizes()[1] == kCoefficients && table.strides()[1] == 1,
           Error::InvalidArgument,
           "table: expected rows of 4, 1 to 2^14 and a power of two, got %ld in rank %d",
           static_cast<long>(pieces), static_cast<int>(table.dim()));
  RL_TRY(check_no_overlap(table, out, "table"));
  curve->table = table.const_data_ptr<int32_t>();
  curve->piece_bits = __builtin_ctz(static_cast<unsigned>(pieces));
  return Error::Ok;
}

}  // namespace

Error quantized_curve_out(KernelContext&, const Tensor& input, const Tensor& table, int64_t output_min,
                          int64_t output_max, int64_t dtype, Tensor& out) {
  RL_TRY(check_type(input, kTypes & type_set(ScalarType::Short), "input"));
  RL_TRY(check_type(out, kTypes, "out"));
  RL_CHECK(dtype == static_cast<int64_t>(out.scalar_type()), Error::InvalidArgument,
           "dtype: expected that of out (%d), got %ld", static_cast<int>(out.scalar_type()),
           static_cast<long>(dtype));
  // The operator needs no zero point, but the check does: 16-bit ranges contain 0, and a byte range its own
  // lower end.
  const int64_t zero_point = out.scalar_type() == ScalarType::Short ? 0 : output_min;
  RL_TRY(check_quantized_range({zero_point, output_min, output_max}, out.scalar_type()));
  RL_TRY(resize_out(out, input.sizes()));
  Curve curve{nullptr, 0, static_cast<int32_t>(output_min), static_cast<int32_t>(output_max)};
  RL_TRY(read_table(table, out, &curve));
  return dispatch<kTypes>(out.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    PairedLoops(View::of(out), View::of(input))
        .for_each_span([&](char* to, const char* from, const auto& loop) {
          for (ptrdiff_t i = 0; i < loop.size; ++i, to += loop.target, from += loop.source)
            *reinterpret_cast<T*>(to) = static_cast<T>(curve(*reinterpret_cast<const int16_t*>(from)));
        });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
