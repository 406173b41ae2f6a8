// SPDX-License-Identifier: BSD-3-Clause
// LSTM and GRU layers in integer arithmetic: all steps of a layer in one direction.
//
// The rows of a weight are the gates of all units: input, forget, candidate, output for an LSTM, and reset,
// update, candidate for a GRU. A gate is a 16-bit fixed-point value with kGateFraction fraction bits. From
// the sums of products of both weights with input and hidden state, which are used as stored, it is computed
// in 64 bits:
//
//   gate = clamp((bias + sum * multiplier + hidden_sum * hidden_multiplier) >> shift)
//
// The bias includes the contribution of zero points, and half a step for rounding. The candidate of a GRU is
// two such values, one from each sum; for both cells the bias has four rows of units. sigmoid() and tanh() of
// a gate have kFraction fraction bits and interpolate linearly in two tables. The cell c has 16 bits,
// cell_bits of them fraction bits; products are rounded once, halves up.
//
//   LSTM   c = clamp(sigmoid(f) c + sigmoid(i) tanh(g))    h = sigmoid(o) tanh(c), 2 * kFraction bits
//   GRU    n = tanh(n_x + sigmoid(r) n_h)                  c = n + sigmoid(z) (c - n), and h = c
//
// The hidden state is h, quantized; the sums of the next step use it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/ukernel/requantize.h"
#include "runtime/base/error.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

inline constexpr size_t kGateRows = 4;  // rows of the bias, for each unit
inline constexpr int kGateFraction = 12;
inline constexpr int kFraction = 15;

// The operators' arguments. Layouts may be any; the tables are contiguous. Tensors are not owned.
struct IntegerRecurrent {
  const Tensor& input;               // int8 [steps, batch, features]
  const Tensor& hidden;              // int8 [batch, units], before the first step
  const Tensor& cell;                // int16 [batch, units], before the first step
  const Tensor& weight;              // int8 [gates * units, features]
  const Tensor& hidden_weight;       // int8 [gates * units, units]
  const Tensor& multipliers;         // int32 [gates * units]
  const Tensor& hidden_multipliers;  // int32 [gates * units]
  const Tensor& bias;                // int64 [4 * units]
  int64_t shift;
  const Tensor& tables;  // int16 [2, 2^k + 1]: sigmoid, tanh for gates in [-2^15, 2^15]
  int64_t cell_bits;
  int64_t output_multiplier;
  int64_t output_shift;
  int64_t output_zero_point;
  int64_t output_min;
  int64_t output_max;
  bool reverse;             // from the last step to the first
  const Tensor& output;     // int8 [steps, batch, units], the hidden states
  const Tensor& last_cell;  // int16 [batch, units]

  [[nodiscard]] ScalarType type() const { return input.scalar_type(); }
  [[nodiscard]] bool is_in(TypeSet types) const { return contains(types, type()); }
};

// The sizes of a layer, from its tensors. Features and units are at most 2^14.
struct RecurrentSizes {
  size_t steps = 0;
  size_t batch = 0;
  size_t features = 0;
  size_t units = 0;
};

// Checked parameters, and the functions of fixed-point values with kGateFraction fraction bits. Table
// pointers refer to the tensor.
struct RecurrentParameters {
  const int16_t* sigmoids = nullptr;
  const int16_t* tanhs = nullptr;
  int table_shift = 0;  // bits of a position between two table entries
  int shift = 0;
  int cell_bits = 0;
  int32_t output_multiplier = 0;
  int output_shift = 0;
  int32_t zero_point = 0;
  int32_t low = 0;
  int32_t high = 0;

  // With kFraction fraction bits: 1 would be 2^15, and the largest int16 entry is 2^15 - 1.
  [[nodiscard]] int32_t sigmoid(int32_t gate) const { return interpolate(sigmoids, gate); }
  [[nodiscard]] int32_t tanh(int32_t gate) const { return interpolate(tanhs, gate); }
  // tanh of a cell value, whose fraction bits are first converted to a gate's: rounded halves up if there are
  // more.
  [[nodiscard]] int32_t tanh_of_cell(int32_t cell) const {
    const int drop = cell_bits - kGateFraction;
    if (drop > 0) return tanh((cell + (1 << (drop - 1))) >> drop);
    return tanh(clamp_short(cell * (1 << -drop)));
  }
  // Scales a sum to a gate. 64-bit shifts cost many instructions on 32-bit cores; with a large shift the
  // upper half suffices.
  [[nodiscard]] int32_t gate(int64_t sum) const {
    if (sizeof(size_t) == 4 && shift >= 32)
      return clamp(static_cast<int32_t>(sum >> 32) >> (shift - 32), INT16_MIN, INT16_MAX);
    return ukernel::clamp_quantized(sum >> shift, INT16_MIN, INT16_MAX);
  }
  // Requantizes h with one multiplication; output_shift is at most kMostOutputShift, so the upper half of the
  // product gives the same result, see requantize_single_upper().
  [[nodiscard]] int8_t quantize(int32_t number) const {
    const int32_t steps = ukernel::requantize_single_upper(number, output_multiplier, output_shift);
    return static_cast<int8_t>(clamp(steps + zero_point, low, high));
  }
  [[nodiscard]] static int32_t clamp_short(int32_t value) { return clamp(value, INT16_MIN, INT16_MAX); }

 private:
  [[nodiscard]] static int32_t clamp(int32_t value, int32_t least, int32_t most) {
    return value < least ? least : value > most ? most : value;
  }
  // Interpolates in a table of 2^k + 1 entries over [-2^15, 2^15], rounded halves up. Tables have at least
  // two intervals, so no product exceeds 31 bits, whatever the table contains.
  [[nodiscard]] int32_t interpolate(const int16_t* table, int32_t number) const {
    const auto position = static_cast<uint32_t>(number - INT16_MIN);
    const int16_t* left = table + (position >> table_shift);
    const auto along = static_cast<int32_t>(position & ((1U << table_shift) - 1));
    return left[0] + (((left[1] - left[0]) * along + ((1 << table_shift) >> 1)) >> table_shift);
  }
};

// Checks the tensors, proves that no intermediate overflows for `gates` gates, and resizes the results, which
// must not overlap the values that the proof read. The largest shift of a result is kMostOutputShift.
// InvalidArgument, InvalidType. Cost: one pass over multipliers and bias.
inline constexpr int kMostOutputShift = -2;
Error plan_recurrent(const IntegerRecurrent& layer, size_t gates, TypeSet types, RecurrentSizes* sizes,
                     RecurrentParameters* numbers);

// A matrix in any layout, or matrix `first` of a tensor of rank 3. Elements of a const tensor must only be
// read.
template <class T>
struct RecurrentMatrix {
  explicit RecurrentMatrix(const Tensor& tensor, size_t first = 0)
      : data(tensor.mutable_data_ptr<T>()),
        row(tensor.strides()[tensor.sizes().size() - 2]),
        column(tensor.strides()[tensor.sizes().size() - 1]) {
    if (tensor.sizes().size() == 3) data += static_cast<ptrdiff_t>(first) * tensor.strides()[0];
  }
  [[nodiscard]] T* at(size_t i, size_t j) const {
    return data + static_cast<ptrdiff_t>(i) * row + static_cast<ptrdiff_t>(j) * column;
  }

  T* data;
  ptrdiff_t row;
  ptrdiff_t column;
};

inline constexpr size_t kRecurrentUnits = 32;  // units whose sums are on the stack: 1 KiB

// Sums of some units, by gate g and unit j. Input and hidden sums are separate, because each has its own
// multiplier.
struct RecurrentSums {
  int32_t input[kGateRows][kRecurrentUnits];
  int32_t hidden[kGateRows][kRecurrentUnits];
};

// Scales the sums of a unit to gates. `unit` is its number in the layer, `j` in the block of sums.
struct RecurrentGates {
  const int32_t* multipliers;
  const int32_t* hidden_multipliers;
  const int64_t* bias;
  size_t units;

  [[nodiscard]] int64_t of_input(const RecurrentSums& sums, size_t g, size_t unit, size_t j) const {
    return int64_t{sums.input[g][j]} * multipliers[g * units + unit];
  }
  [[nodiscard]] int64_t of_hidden(const RecurrentSums& sums, size_t g, size_t unit, size_t j) const {
    return int64_t{sums.hidden[g][j]} * hidden_multipliers[g * units + unit];
  }
};

// The cell of an LSTM. step() combines the gates of one unit.
struct LstmCell {
  static constexpr size_t kGates = 4;

  // Updates *cell and returns h before quantization.
  [[nodiscard]] static int32_t step(const RecurrentGates& gates, const RecurrentParameters& numbers,
                                    const RecurrentSums& sums, size_t unit, size_t j, int16_t* cell) {
    const auto gate = [&](size_t g) {
      const int64_t value = gates.bias[g * gates.units + unit] + gates.of_input(sums, g, unit, j) +
                            gates.of_hidden(sums, g, unit, j);
      return numbers.gate(value);
    };
    // taken = sigmoid(i) tanh(g) with 30 fraction bits; kept = sigmoid(f) c with kFraction + cell_bits. The
    // shift brings the first to the second's fraction bits, rounded down; the sum is rounded halves up.
    const int32_t taken = numbers.sigmoid(gate(0)) * numbers.tanh(gate(2));
    const int32_t kept = numbers.sigmoid(gate(1)) * *cell;
    // Unsigned: a hostile table could make the sum overflow 32 bits.
    const uint32_t sum = static_cast<uint32_t>(kept) + (1U << (kFraction - 1)) +
                         static_cast<uint32_t>(taken >> (kFraction - numbers.cell_bits));
    const int32_t next = RecurrentParameters::clamp_short(static_cast<int32_t>(sum) >> kFraction);
    *cell = static_cast<int16_t>(next);
    return numbers.sigmoid(gate(3)) * numbers.tanh_of_cell(next);
  }
};

// The cell of a GRU. *cell is the 16-bit hidden state: the interpolation by the update gate uses it instead
// of the quantized one.
struct GruCell {
  static constexpr size_t kGates = 3;

  [[nodiscard]] static int32_t step(const RecurrentGates& gates, const RecurrentParameters& numbers,
                                    const RecurrentSums& sums, size_t unit, size_t j, int16_t* cell) {
    const auto gate = [&](int64_t value, size_t row) {
      return numbers.gate(value + gates.bias[row * gates.units + unit]);
    };
    // One gate from both sums, with the bias of its row.
    const auto both = [&](size_t g) {
      return numbers.sigmoid(gate(gates.of_input(sums, g, unit, j) + gates.of_hidden(sums, g, unit, j), g));
    };
    // The reset gate scales the hidden part of the candidate; both parts have kGateFraction fraction bits.
    constexpr int32_t kHalf = 1 << (kFraction - 1);
    const int32_t of_hidden = both(0) * gate(gates.of_hidden(sums, 2, unit, j), 3);
    const int32_t candidate = gate(gates.of_input(sums, 2, unit, j), 2) + ((of_hidden + kHalf) >> kFraction);
    const int32_t made = numbers.tanh(RecurrentParameters::clamp_short(candidate));
    // The candidate with the fraction bits of the cell, rounded halves up.
    const int drop = kFraction - numbers.cell_bits;
    const int32_t fresh = (made + ((1 << drop) >> 1)) >> drop;
    // The new state is between the candidate and the old one: fresh + z * (cell - fresh).
    const int32_t next = fresh + ((both(1) * (*cell - fresh) + kHalf) >> kFraction);
    *cell = static_cast<int16_t>(RecurrentParameters::clamp_short(next));
    return *cell;
  }
};

// sums[j] = sum over k < depth of left[k * left_step] * weight(row + j, k), for j < count. 32 bits suffice: a
// sum has at most 2^14 products of int8.
inline void multiply_rows(const int8_t* left, ptrdiff_t left_step, const RecurrentMatrix<int8_t>& weight,
                          size_t row, size_t depth, size_t count, int32_t* sums) {
  for (size_t j = 0; j < count; ++j) {
    const int8_t* right = weight.at(row + j, 0);
    int32_t sum = 0;
    for (ptrdiff_t k = 0; k < static_cast<ptrdiff_t>(depth); ++k)
      sum += left[k * left_step] * right[k * weight.column];
    sums[j] = sum;
  }
}

// Runs all steps; `multiply` computes the sums, as multiply_rows() does. Products of a step are computed for
// kRecurrentUnits units at a time, for every element of the batch. The hidden state of a step is read from
// `output`. Precondition: plan_recurrent() for Cell::kGates gates. Cost: gates * units * (features + units)
// multiply-adds for each step and element of the batch.
template <class Cell, class Multiply>
void run_recurrent(const IntegerRecurrent& layer, const RecurrentSizes& sizes,
                   const RecurrentParameters& numbers, Multiply multiply) {
  const size_t units = sizes.units;
  const RecurrentMatrix<int16_t> cell(layer.last_cell), first_cell(layer.cell);
  // The results hold the state, and the initial one is copied there first.
  for (size_t b = 0; b < sizes.batch; ++b) {
    for (size_t j = 0; j < units; ++j) *cell.at(b, j) = *first_cell.at(b, j);
  }
  const RecurrentMatrix<int8_t> weight(layer.weight), hidden_weight(layer.hidden_weight);
  const RecurrentGates gates = {layer.multipliers.const_data_ptr<int32_t>(),
                                layer.hidden_multipliers.const_data_ptr<int32_t>(),
                                layer.bias.const_data_ptr<int64_t>(), units};
  RecurrentMatrix<int8_t> before(layer.hidden);
  for (size_t i = 0; i < sizes.steps; ++i) {
    const size_t t = layer.reverse ? sizes.steps - 1 - i : i;
    const RecurrentMatrix<int8_t> input(layer.input, t), after(layer.output, t);
    for (size_t b = 0; b < sizes.batch; ++b) {
      for (size_t first = 0; first < units; first += kRecurrentUnits) {
        const size_t count = units - first < kRecurrentUnits ? units - first : kRecurrentUnits;
        RecurrentSums sums;
        // All gates of a block of units: units of one gate are adjacent rows of the weight.
        for (size_t g = 0; g < Cell::kGates; ++g) {
          const size_t row = g * units + first;
          multiply(input.at(b, 0), input.column, weight, row, sizes.features, count, sums.input[g]);
          multiply(before.at(b, 0), before.column, hidden_weight, row, units, count, sums.hidden[g]);
        }
        for (size_t j = 0; j < count; ++j) {
          const size_t unit = first + j;
          *after.at(b, unit) = numbers.quantize(Cell::step(gates, numbers, sums, unit, j, cell.at(b, unit)));
        }
      }
    }
    before = after;
  }
}

}  // namespace rushlight::kernels
