// SPDX-License-Identifier: BSD-3-Clause
// sum((x + offset) * w) = sum(x * w) + offset * sum(w): only the second sum has to be computed here.
#include "kernels/quantization/folded_columns.h"

#include <algorithm>
#include <cstring>

#include "kernels/checks/checks.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

namespace {

constexpr int64_t kLeast = INT8_MIN;
constexpr int64_t kMost = INT8_MAX;

// Arguments are int64 in schemas; every value is checked before it is narrowed.
bool is_int8(int64_t number) { return number >= kLeast && number <= kMost; }

Error check_columns(const Tensor& list, size_t columns, const char* name) {
  RL_CHECK(list.scalar_type() == ScalarType::Int, Error::InvalidType, "%s: expected dtype int32, got %s",
           name, to_string(list.scalar_type()));
  RL_CHECK(list.numel() == columns, Error::InvalidArgument, "%s: expected %lu elements, got %lu", name,
           log_number(columns), log_number(list.numel()));
  return Error::Ok;
}

// Sums aligned int8 elements, four in a word: adds 128 to each, and sums even and odd bytes in the two halves
// of a word. Two instructions for each element. A half can hold 128 words: 128 * 2 * 255 < 2^16.
int32_t sum_words(const int8_t* from, size_t words) {
  constexpr size_t kMost = 128;
  constexpr uint32_t kBytes = 0x00ff00ff;
  // The 128 added to each of the four elements of a word.
  int32_t sum = -512 * static_cast<int32_t>(words);
  while (words > 0) {
    const size_t some = std::min(words, kMost);
    uint32_t halves = 0;
    for (size_t i = 0; i < some; ++i, from += sizeof(uint32_t)) {
      uint32_t word;
      std::memcpy(&word, __builtin_assume_aligned(from, sizeof word), sizeof word);
      word ^= 0x80808080;
      halves += (word & kBytes) + (word >> 8 & kBytes);
    }
    sum += static_cast<int32_t>((halves & 0xffff) + (halves >> 16));
    words -= some;
  }
  return sum;
}

int32_t sum_row(const int8_t* from, size_t count, ptrdiff_t stride) {
  constexpr size_t kWord = sizeof(uint32_t);
  int32_t sum = 0;
  if (stride == 1) {
    // Single elements up to the first aligned word, and after the last one.
    for (; count > 0 && reinterpret_cast<uintptr_t>(from) % kWord != 0; --count) sum += *from++;
    sum += sum_words(from, count / kWord);
    from += count / kWord * kWord;
    count %= kWord;
  }
  for (; count > 0; --count, from += stride) sum += *from;
  return sum;
}

}  // namespace

// The backend's shifts are int32. Left shifts beyond kMostShift are refused; a right shift below kLeastShift
// leaves nothing of a sum.
Error narrow_scale(int64_t multiplier, int64_t shift, int32_t* narrow_multiplier, int8_t* narrow_shift) {
  RL_CHECK(multiplier >= 0 && multiplier <= INT32_MAX && shift >= INT32_MIN && shift <= ukernel::kMostShift,
           Error::InvalidArgument,
           "multiplier and shift: expected 0 to 2^31 - 1 and %d at most, got %ld and %ld",
           ukernel::kMostShift, static_cast<long>(multiplier), static_cast<long>(shift));
  const bool vanishes = shift < ukernel::kLeastShift;
  *narrow_multiplier = vanishes ? 0 : static_cast<int32_t>(multiplier);
  *narrow_shift = vanishes ? int8_t{0} : static_cast<int8_t>(shift);
  return Error::Ok;
}

Error check_activation_range(const QuantizedRange& range) {
  RL_CHECK(is_int8(range.zero_point) && is_int8(range.low) && is_int8(range.high) && range.low <= range.high,
           Error::InvalidArgument,
           "activation_min, output offset, activation_max: expected int8 values, min <= max, got %ld, %ld, "
           "%ld",
           static_cast<long>(range.low), static_cast<long>(range.zero_point), static_cast<long>(range.high));
  return Error::Ok;
}

// The backend adds the offset to elements, the backs subtract a zero point.
Error read_offset(int64_t offset, const char* name, int32_t* zero_point) {
  RL_CHECK(offset >= -kMost && offset <= -kLeast, Error::InvalidArgument, "%s: expected %ld to %ld, got %ld",
           name, static_cast<long>(-kMost), static_cast<long>(-kLeast), static_cast<long>(offset));
  *zero_point = static_cast<int32_t>(-offset);
  return Error::Ok;
}

// The lists have one entry, in this object; `to_` points to them.
Error SumScale::set(int64_t multiplier, int64_t shift, int64_t bound, const QuantizedRange& range) {
  RL_TRY(check_activation_range(range));
  RL_TRY(narrow_scale(multiplier, shift, &multiplier_, &shift_));
  to_.rounding = ukernel::Rounding::kDouble;
  to_.multipliers = &multiplier_;
  to_.shifts = &shift_;
  to_.zero_point = static_cast<int32_t>(range.zero_point);
  to_.low = static_cast<int32_t>(range.low);
  to_.high = static_cast<int32_t>(range.high);
  return check_fixed_point(to_, 1, bound);
}

// One block of scratch memory: int32 biases [columns], int32 multipliers [scales], int8 shifts [scales].
Error FoldedColumns::take(KernelContext& context, size_t columns, size_t scales) {
  const size_t numbers = (columns + scales) * sizeof(int32_t);
  auto* memory = static_cast<int32_t*>(context.allocate_temp(std::max<size_t>(numbers + scales, 1)));
  RL_CHECK(memory != nullptr, Error::MemoryAllocationFailed,
           "out of scratch memory: need %lu bytes for biases and scales", log_number(numbers + scales));
  columns_ = columns;
  scales_ = scales;
  sums_ = memory;
  multipliers_ = memory + columns;
  shifts_ = reinterpret_cast<int8_t*>(memory + columns + scales);
  size_[0] = static_cast<SizesType>(columns);
  // A tensor of the folded biases, in place of the one from the program.
  impl_ = TensorImpl(ScalarType::Int, 1, size_, sums_, order_, stride_);
  bias_ = Tensor(&impl_);
  return Error::Ok;
}

void FoldedColumns::sum_weights(const Tensor& weight, size_t column) {
  View one = View::of(weight);
  one.select(column, 0);
  const PairedLoops loops(one, one);  // merges dimensions that are contiguous
  for (size_t c = 0; c < columns_; ++c) {
    // The same loops serve every column: only the base address differs.
    const ptrdiff_t ahead = static_cast<ptrdiff_t>(c) * weight.strides()[column];
    int32_t sum = 0;
    loops.for_each_span([&](const char*, const char* from, const auto& row) {
      sum +=
          sum_row(reinterpret_cast<const int8_t*>(from + ahead), static_cast<size_t>(row.size), row.source);
    });
    sums_[c] = sum;
  }
}

Error FoldedColumns::fold(const Tensor& weight, size_t column, const std::optional<Tensor>& bias,
                          int32_t input_offset, int64_t added_weights) {
  if (bias) RL_TRY(check_columns(*bias, columns_, "bias"));
  // Up to this number of weights a sum of weights cannot overflow.
  RL_CHECK(weight.numel() <= INT32_MAX / 128, Error::InvalidArgument, "weight: expected %ld elements at most",
           static_cast<long>(INT32_MAX / 128));
  sum_weights(weight, column);
  const auto* biases = bias ? bias->const_data_ptr<int32_t>() : nullptr;
  for (size_t i = 0; i < columns_; ++i) {
    // The product needs more than 32 bits; the backs add the bias in 32 bits, so the result must fit.
    const int64_t folded = (biases == nullptr ? 0 : biases[i]) + input_offset * (sums_[i] + added_weights);
    RL_CHECK(folded >= INT32_MIN && folded <= INT32_MAX, Error::InvalidArgument,
             "bias: element %lu exceeds 32 bits with the input offset", log_number(i));
    sums_[i] = static_cast<int32_t>(folded);
  }
  return Error::Ok;
}

Error FoldedColumns::set_scales(const Tensor& multipliers, const Tensor& shifts) {
  RL_TRY(check_columns(multipliers, columns_, "requantize_multipliers"));
  RL_TRY(check_columns(shifts, columns_, "requantize_shifts"));
  const auto* multiplier = multipliers.const_data_ptr<int32_t>();
  const auto* shift = shifts.const_data_ptr<int32_t>();
  for (size_t i = 0; i < columns_; ++i) RL_TRY(set_scale(i, multiplier[i], shift[i]));
  return Error::Ok;
}

Error FoldedColumns::prove(const int32_t* bias, size_t columns, size_t depth, int64_t largest,
                           const QuantizedRange& range, ukernel::Requantization* to) const {
  RL_TRY(check_activation_range(range));
  // CMSIS-NN rounds twice: after the high product and after the shift.
  to->rounding = ukernel::Rounding::kDouble;
  to->multipliers = multipliers_;
  to->shifts = shifts_;
  to->step = scales_ == 1 ? 0 : 1;
  to->zero_point = static_cast<int32_t>(range.zero_point);
  to->low = static_cast<int32_t>(range.low);
  to->high = static_cast<int32_t>(range.high);
  int64_t bound = 0;
  RL_TRY(bound_sums(bias, columns, depth, largest, &bound));
  return check_fixed_point(*to, scales_, bound);
}

}  // namespace rushlight::kernels
