// SPDX-License-Identifier: BSD-3-Clause
// Unpacks and dequantizes each row in float32, kRun elements at a time on the stack, and converts these to
// the dtype of the output. The table is never unpacked as a whole.
#include "kernels/quantization/quantized_embedding.h"

#include "kernels/checks/sizes.h"
#include "kernels/elements/convert.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kIndexTypes = type_set(ScalarType::Int, ScalarType::Long);
constexpr TypeSet kWeightTypes = type_set(ScalarType::Byte, ScalarType::Char);
constexpr size_t kRun = 32;  // elements converted at a time

int bits_of(Packing packing) { return static_cast<int>(packing); }

// Elements of a row: its bytes times the elements in a byte.
size_t columns_of(const QuantizedTable& table) {
  return static_cast<size_t>(table.weight.size(1)) * 8 / static_cast<size_t>(bits_of(table.packing));
}

Error check_row_major(const Tensor& tensor, const char* name) {
  RL_CHECK(is_row_major(tensor.dim_order(), tensor.sizes()), Error::InvalidArgument,
           "%s: expected a row-major dim order", name);
  return Error::Ok;
}

Error check_parameters(const Tensor& parameters, const QuantizedTable& table, const char* name) {
  RL_TRY(check_row_major(parameters, name));
  RL_TRY(check_convertible(parameters.scalar_type()));
  RL_CHECK(parameters.dim() >= 1 && parameters.dim() <= 2 && parameters.size(0) == table.weight.size(0),
           Error::InvalidArgument, "%s: expected one row for each of %ld", name,
           static_cast<long>(table.weight.size(0)));
  // Parameters [rows] or [rows, groups]; a group is columns / groups adjacent elements of a row.
  const auto groups = parameters.dim() == 2 ? static_cast<size_t>(parameters.size(1)) : 1;
  RL_CHECK(groups > 0 && columns_of(table) % groups == 0, Error::InvalidArgument,
           "%s: %lu groups do not divide %lu columns", name, static_cast<unsigned long>(groups),
           static_cast<unsigned long>(columns_of(table)));
  return Error::Ok;
}

Error check_table(const QuantizedTable& table, TypeSet types) {
  const bool packed = table.packing != Packing::kByte;
  RL_TRY(
      check_type(table.weight, packed ? types & type_set(ScalarType::Byte) : types & kWeightTypes, "weight"));
  RL_CHECK(table.weight.dim() == 2, Error::InvalidArgument, "weight: expected rank 2, got %d",
           static_cast<int>(table.weight.dim()));
  RL_TRY(check_row_major(table.weight, "weight"));
  // Packed weights are stored with half the range added, so no other range makes sense.
  const int64_t half = int64_t{1} << (bits_of(table.packing) - 1);
  RL_CHECK(!packed || (table.range.min == -half && table.range.max == half - 1), Error::InvalidArgument,
           "weight_quant_min, weight_quant_max: expected %ld and %ld, got %ld and %ld",
           static_cast<long>(-half), static_cast<long>(half - 1), static_cast<long>(table.range.min),
           static_cast<long>(table.range.max));
  RL_TRY(check_type(table.scales, types & kRealTypes, "weight_scales"));
  RL_TRY(check_parameters(table.scales, table, "weight_scales"));
  if (!table.zero_points) return Error::Ok;
  RL_TRY(check_same_dtype(*table.zero_points, table.scales, "weight_zero_points and weight_scales"));
  RL_CHECK(table.zero_points->numel() == table.scales.numel(), Error::InvalidArgument,
           "weight_zero_points: expected as many as scales");
  return check_parameters(*table.zero_points, table, "weight_zero_points");
}

// Stored without sign, half of the range higher. In a byte, four-bit elements begin with the upper half,
// two-bit elements with the lowest bits.
int weight_at(const QuantizedTable& table, const uint8_t* row, size_t column) {
  switch (table.packing) {
    case Packing::kFourBits:
      return ((row[column / 2] >> (column % 2 == 0 ? 4 : 0)) & 15) - 8;
    case Packing::kTwoBits:
      return ((row[column / 4] >> (2 * (column % 4))) & 3) - 2;
    default:
      return table.weight.scalar_type() == ScalarType::Char ? static_cast<int8_t>(row[column]) : row[column];
  }
}

// One scale or zero point as float32, from any real dtype.
float real_at(const Tensor& tensor, size_t index) {
  float number = 0;
  convert_span(&number, 0, ScalarType::Float, tensor.const_data_ptr<char>() + index * tensor.element_size(),
               0, tensor.scalar_type(), 1);
  return number;
}

// Writes one row: (weight - zero_point) * scale, with one pair of parameters for each group of columns.
void write_row(const QuantizedTable& table, size_t row, const Tensor& out, char* to) {
  const size_t columns = columns_of(table);
  const size_t groups = table.scales.numel() / static_cast<size_t>(table.weight.size(0));
  const size_t group = columns / groups;
  const uint8_t* weights =
      table.weight.const_data_ptr<uint8_t>() + row * static_cast<size_t>(table.weight.size(1));
  for (size_t g = 0; g < groups; ++g) {
    const float scale = real_at(table.scales, row * groups + g);
    const float zero_point = table.zero_points ? real_at(*table.zero_points, row * groups + g) : 0.0F;
    for (size_t first = 0; first < group; first += kRun) {
      const size_t n = group - first < kRun ? group - first : kRun;
      float values[kRun];
      for (size_t i = 0; i < n; ++i) {
        const int weight = weight_at(table, weights, g * group + first + i);
        values[i] = (static_cast<float>(weight) - zero_point) * scale;
      }
      convert_span(to, static_cast<ptrdiff_t>(out.element_size()), out.scalar_type(), values, sizeof(float),
                   ScalarType::Float, n);
      to += n * out.element_size();
    }
  }
}

}  // namespace

Error embed(const QuantizedTable& table, TypeSet types, const Tensor& indices, std::optional<int64_t> dtype,
            const Tensor& out) {
  RL_TRY(check_table(table, types));
  RL_TRY(check_type(indices, types & kIndexTypes, "indices"));
  RL_TRY(check_type(out, types & kRealTypes, "out"));
  // Without a dtype the result has that of the scales.
  RL_TRY(check_requested_dtype(dtype.value_or(static_cast<int64_t>(table.scales.scalar_type())), out));
  RL_TRY(check_convertible(ScalarType::Float));
  RL_TRY(check_convertible(out.scalar_type()));
  RL_TRY(check_row_major(indices, "indices"));
  RL_CHECK(indices.sizes().size() < kTensorDimensionLimit, Error::InvalidArgument,
           "indices: too many dimensions");
  Shape shape;
  for (const SizesType size : indices.sizes()) shape.push(size);
  const size_t columns = columns_of(table);
  shape.push(static_cast<ptrdiff_t>(columns));
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(check_row_major(out, "out"));
  char* to = out.mutable_data_ptr<char>();
  // Each index is checked just before its use: if one is invalid, the rows before it have been written.
  for (size_t i = 0; i < indices.numel(); ++i) {
    const int64_t index = indices.scalar_type() == ScalarType::Int ? indices.const_data_ptr<int32_t>()[i]
                                                                   : indices.const_data_ptr<int64_t>()[i];
    RL_CHECK(index >= 0 && index < table.weight.size(0), Error::InvalidArgument,
             "indices: expected rows below %ld, got %ld", static_cast<long>(table.weight.size(0)),
             static_cast<long>(index));
    write_row(table, static_cast<size_t>(index), out, to);
    to += columns * out.element_size();
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
