// SPDX-License-Identifier: BSD-3-Clause
// The checks prove that no sum, product or shift overflows for any input, so the steps need no tests. The
// results are resized, and all values that the steps rely on are checked once for a call, in O(gates *
// units).
#include "kernels/quantization/integer_recurrent.h"

#include <initializer_list>

#include "kernels/checks/checks.h"
#include "kernels/checks/overlap.h"
#include "kernels/quantization/requantization.h"

namespace rushlight::kernels {

namespace {

// Sums of products are below 2^29, their products with a multiplier below 2^60, and so is a bias: the three
// together stay below 2^62.
constexpr ptrdiff_t kMostDepth = 1 << 14;
constexpr int64_t kMostBias = int64_t{1} << 60;
constexpr int64_t kMostShift = 62;
constexpr int kMostTableBits = 12;

Error check_tensor(const Tensor& tensor, ScalarType type, std::initializer_list<ptrdiff_t> sizes,
                   const char* name) {
  RL_CHECK(tensor.scalar_type() == type, Error::InvalidType, "%s: expected dtype %s, got %s", name,
           to_string(type), to_string(tensor.scalar_type()));
  bool fits = tensor.sizes().size() == sizes.size();
  size_t d = 0;
  for (const ptrdiff_t size : sizes) fits = fits && tensor.size(static_cast<ptrdiff_t>(d++)) == size;
  RL_CHECK(fits, Error::InvalidArgument, "%s: expected rank %lu and sizes of %ld to %ld", name,
           static_cast<unsigned long>(sizes.size()), static_cast<long>(*sizes.begin()),
           static_cast<long>(*(sizes.end() - 1)));
  return Error::Ok;
}

// Sizes follow from input [steps, batch, features] and hidden [batch, units].
Error check_sizes(const IntegerRecurrent& layer, ptrdiff_t gates) {
  RL_CHECK(layer.input.dim() == 3, Error::InvalidArgument, "input: expected 3 dimensions, got %d",
           static_cast<int>(layer.input.dim()));
  RL_CHECK(layer.hidden.dim() == 2, Error::InvalidArgument, "hidden: expected 2 dimensions, got %d",
           static_cast<int>(layer.hidden.dim()));
  const ptrdiff_t batch = layer.input.size(1), features = layer.input.size(2), units = layer.hidden.size(1);
  RL_CHECK(features <= kMostDepth && units <= kMostDepth, Error::InvalidArgument,
           "input and hidden: expected at most %ld features and units, got %ld and %ld",
           static_cast<long>(kMostDepth), static_cast<long>(features), static_cast<long>(units));
  constexpr ScalarType kByte = ScalarType::Char;
  RL_TRY(check_tensor(layer.hidden, kByte, {batch, units}, "hidden"));
  RL_TRY(check_tensor(layer.cell, ScalarType::Short, {batch, units}, "cell"));
  RL_TRY(check_tensor(layer.weight, kByte, {gates * units, features}, "weight"));
  RL_TRY(check_tensor(layer.hidden_weight, kByte, {gates * units, units}, "hidden_weight"));
  RL_TRY(check_tensor(layer.multipliers, ScalarType::Int, {gates * units}, "multipliers"));
  RL_TRY(check_tensor(layer.hidden_multipliers, ScalarType::Int, {gates * units}, "hidden_multipliers"));
  return check_tensor(layer.bias, ScalarType::Long, {ptrdiff_t{kGateRows} * units}, "bias");
}

Error check_range(int64_t value, int64_t low, int64_t high, const char* name) {
  RL_CHECK(value >= low && value <= high, Error::InvalidArgument, "%s: expected %ld to %ld, got %ld", name,
           static_cast<long>(low), static_cast<long>(high), static_cast<long>(value));
  return Error::Ok;
}

Error check_multipliers(const Tensor& multipliers, const char* name) {
  const auto* numbers = multipliers.const_data_ptr<int32_t>();
  for (size_t i = 0; i < multipliers.numel(); ++i) RL_TRY(check_range(numbers[i], 0, INT32_MAX, name));
  return Error::Ok;
}

Error check_bias(const Tensor& bias) {
  const auto* numbers = bias.const_data_ptr<int64_t>();
  for (size_t i = 0; i < bias.numel(); ++i) {
    RL_CHECK(numbers[i] >= -kMostBias && numbers[i] <= kMostBias, Error::InvalidArgument,
             "bias: element %lu exceeds 2^60", static_cast<unsigned long>(i));
  }
  return Error::Ok;
}

Error read_tables(const Tensor& tables, RecurrentParameters* numbers) {
  RL_CHECK(tables.scalar_type() == ScalarType::Short, Error::InvalidType,
           "tables: expected dtype int16, got %s", to_string(tables.scalar_type()));
  const ptrdiff_t lines = tables.dim() == 2 ? tables.size(1) - 1 : 0;
  RL_CHECK(lines > 1 && lines <= 1 << kMostTableBits && (lines & (lines - 1)) == 0 && tables.size(0) == 2 &&
               tables.strides()[1] == 1,
           Error::InvalidArgument, "tables: expected 2 rows of 2^k + 1, k from 1 to %d, got %ld lines",
           kMostTableBits, static_cast<long>(lines));
  // The rows are adjacent: the table of tanh follows that of sigmoid.
  numbers->sigmoids = tables.const_data_ptr<int16_t>();
  numbers->tanhs = numbers->sigmoids + lines + 1;
  // A gate has 16 bits; the upper ones select an interval, table_shift of them interpolate.
  numbers->table_shift = 16 - __builtin_ctz(static_cast<unsigned>(lines));
  return Error::Ok;
}

Error read_numbers(const IntegerRecurrent& layer, RecurrentParameters* numbers) {
  RL_TRY(check_range(layer.shift, 1, kMostShift, "shift"));
  RL_TRY(check_range(layer.cell_bits, 0, kFraction, "cell_bits"));
  // requantize_single_upper(), which the steps use, takes shifts up to -2.
  RL_TRY(check_range(layer.output_shift, ukernel::kLeastShift, kMostOutputShift, "output_shift"));
  RL_TRY(check_range(layer.output_multiplier, 0, INT32_MAX, "output_multiplier"));
  RL_TRY(
      check_quantized_range({layer.output_zero_point, layer.output_min, layer.output_max}, ScalarType::Char));
  numbers->shift = static_cast<int>(layer.shift);
  numbers->cell_bits = static_cast<int>(layer.cell_bits);
  numbers->output_multiplier = static_cast<int32_t>(layer.output_multiplier);
  numbers->output_shift = static_cast<int>(layer.output_shift);
  numbers->zero_point = static_cast<int32_t>(layer.output_zero_point);
  numbers->low = static_cast<int32_t>(layer.output_min);
  numbers->high = static_cast<int32_t>(layer.output_max);
  return read_tables(layer.tables, numbers);
}

// The values that are proven are read again while results are written, so the results must not overlap them.
Error check_apart(const Tensor& written, const IntegerRecurrent& layer) {
  RL_TRY(check_no_overlap(layer.multipliers, written, "multipliers"));
  RL_TRY(check_no_overlap(layer.hidden_multipliers, written, "hidden_multipliers"));
  return check_no_overlap(layer.bias, written, "bias");
}

}  // namespace

Error plan_recurrent(const IntegerRecurrent& layer, size_t gates, TypeSet types, RecurrentSizes* sizes,
                     RecurrentParameters* numbers) {
  if (!layer.is_in(types & type_set(ScalarType::Char))) return unsupported_type(layer.type());
  RL_TRY(check_same_dtype(layer.input, layer.output, "input and out0"));
  RL_TRY(check_same_dtype(layer.cell, layer.last_cell, "cell and out1"));
  RL_TRY(check_sizes(layer, static_cast<ptrdiff_t>(gates)));
  Shape shape = Shape::of(layer.input, 1);
  shape.push(layer.hidden.size(1));
  RL_TRY(resize_out(layer.output, shape.span()));
  // [batch, units]: the last two sizes of the output.
  RL_TRY(resize_out(layer.last_cell, {shape.sizes + 1, 2}));
  RL_TRY(read_numbers(layer, numbers));
  RL_TRY(check_multipliers(layer.multipliers, "multipliers"));
  RL_TRY(check_multipliers(layer.hidden_multipliers, "hidden_multipliers"));
  RL_TRY(check_bias(layer.bias));
  RL_TRY(check_apart(layer.output, layer));
  RL_TRY(check_apart(layer.last_cell, layer));
  *sizes = {static_cast<size_t>(layer.input.size(0)), static_cast<size_t>(layer.input.size(1)),
            static_cast<size_t>(layer.input.size(2)), static_cast<size_t>(layer.hidden.size(1))};
  return Error::Ok;
}

}  // namespace rushlight::kernels
