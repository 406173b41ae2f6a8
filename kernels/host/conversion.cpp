// SPDX-License-Identifier: BSD-3-Clause
// Conversions with vector loops for the common pairs of dtypes; other pairs use convert_to_out().
#include "kernels/backs/copies.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elementwise.h"
#include "kernels/host/fast_copy.h"
#include "kernels/ukernel/convert.h"
#include "kernels/walk/strided_copy.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels::host {

namespace {

using Conversion = void (*)(const ukernel::Rows& rows);

// Rows are contiguous; elementwise() gathers strided ones before.
template <class From, class To, void (*kConvert)(size_t, const From*, To*)>
void convert_rows(const ukernel::Rows& rows) {
  const char* in = static_cast<const char*>(rows.in[0].data);
  char* out = static_cast<char*>(rows.out);
  for (size_t row = 0; row < rows.count; ++row, in += rows.in[0].stride, out += rows.stride) {
    kConvert(rows.n, reinterpret_cast<const From*>(in), reinterpret_cast<To*>(out));
  }
}

struct Row {
  ScalarType from;
  ScalarType to;
  Conversion convert;
};

// Each pair is float32 or int64 with another dtype: all other pairs are rare enough for the portable code.
constexpr Row kConversions[] = {
    {ScalarType::Half, ScalarType::Float, convert_rows<uint16_t, float, ukernel::half_to_f32>},
    {ScalarType::Float, ScalarType::Half, convert_rows<float, uint16_t, ukernel::f32_to_half>},
    {ScalarType::BFloat16, ScalarType::Float, convert_rows<uint16_t, float, ukernel::bfloat16_to_f32>},
    {ScalarType::Float, ScalarType::BFloat16, convert_rows<float, uint16_t, ukernel::f32_to_bfloat16>},
    {ScalarType::Double, ScalarType::Float, convert_rows<double, float, ukernel::f64_to_f32>},
    {ScalarType::Float, ScalarType::Double, convert_rows<float, double, ukernel::f32_to_f64>},
    {ScalarType::Byte, ScalarType::Float, convert_rows<uint8_t, float, ukernel::u8_to_f32>},
    {ScalarType::Float, ScalarType::Byte, convert_rows<float, uint8_t, ukernel::f32_to_u8>},
    {ScalarType::Char, ScalarType::Float, convert_rows<int8_t, float, ukernel::i8_to_f32>},
    {ScalarType::Float, ScalarType::Char, convert_rows<float, int8_t, ukernel::f32_to_i8>},
    {ScalarType::Int, ScalarType::Float, convert_rows<int32_t, float, ukernel::i32_to_f32>},
    {ScalarType::Float, ScalarType::Int, convert_rows<float, int32_t, ukernel::f32_to_i32>},
    {ScalarType::Long, ScalarType::Float, convert_rows<int64_t, float, ukernel::i64_to_f32>},
    {ScalarType::Float, ScalarType::Long, convert_rows<float, int64_t, ukernel::f32_to_i64>},
    {ScalarType::Bool, ScalarType::Float, convert_rows<uint8_t, float, ukernel::bool_to_f32>},
    {ScalarType::Float, ScalarType::Bool, convert_rows<float, uint8_t, ukernel::f32_to_bool>},
    {ScalarType::Bool, ScalarType::Long, convert_rows<uint8_t, int64_t, ukernel::bool_to_i64>},
    {ScalarType::Long, ScalarType::Bool, convert_rows<int64_t, uint8_t, ukernel::i64_to_bool>},
    {ScalarType::Int, ScalarType::Long, convert_rows<int32_t, int64_t, ukernel::i32_to_i64>},
    {ScalarType::Long, ScalarType::Int, convert_rows<int64_t, int32_t, ukernel::i64_to_i32>},
};

}  // namespace

Error convert(KernelContext& context, const ConversionProblem& problem) {
  const Tensor& self = problem.self;
  const Tensor& out = problem.out;
  const ScalarType from = self.scalar_type();
  const ScalarType to = out.scalar_type();
  // The same dtype: a copy that may change the layout.
  if (from == to) return fast_copy_to_out(context, View::of(self), out);
  // The table names dtypes that a build may lack.
  if (contains(kConvertibleTypes, from) && contains(kConvertibleTypes, to)) {
    // A linear search, once for each call.
    for (const Row& row : kConversions) {
      if (row.from == from && row.to == to) return elementwise(context, out, row.convert, self);
    }
  }
  return convert_to_out(View::of(self), out);
}

}  // namespace rushlight::kernels::host
