// SPDX-License-Identifier: BSD-3-Clause
// Sums start at -count * zero_point, so that the microkernel adds elements as they are stored. The divided
// scale is cached, because all inner windows have the same size.
#include "kernels/int8/average.h"

#include <algorithm>

#include "kernels/geometry/region.h"
#include "kernels/quantization/divided_scale.h"
#include "kernels/reduction/reduce.h"
#include "kernels/ukernel/int8_sums.h"

namespace rushlight::kernels {

namespace {

constexpr size_t kBlock = 128;  // sums on the stack

const int8_t* int8_at(const char* address) { return reinterpret_cast<const int8_t*>(address); }

// Requantizes sums and stores the results `step` elements apart.
void store(const ukernel::Requantization& to, size_t count, const int32_t* sums, int8_t* out,
           ptrdiff_t step) {
  if (step == 1) return ukernel::quantize_sums(to, count, sums, out);
  int8_t staged[kBlock];
  ukernel::quantize_sums(to, count, sums, staged);
  for (size_t i = 0; i < count; ++i, out += step) *out = staged[i];
}

// True if a piece has all channels of a position; otherwise it is a row of windows.
bool has_adjacent_channels(const Pool& pool) {
  return pool.volume.sizes[1] > 1 && pool.volume.strides[1] == 1 && pool.pooled.strides[1] == 1;
}

// One row of windows: of one plane, or of all planes if their channels are adjacent. In the latter case the
// lanes of the microkernel are channels of one window, otherwise windows side by side.
class PoolLine {
 public:
  PoolLine(const QuantizedAveragePoolProblem& problem, size_t line)
      : problem_(problem), pool_(problem.pool), channels_(has_adjacent_channels(problem.pool)) {
    const auto height = static_cast<size_t>(pool_.pooled.sizes[3]);
    // A line is one row of pooled positions: lines are numbered [n][plane][y].
    const size_t planes = channels_ ? 1 : static_cast<size_t>(pool_.pooled.sizes[1]);
    at_[0] = static_cast<ptrdiff_t>(line / height / planes);
    at_[1] = static_cast<ptrdiff_t>(line / height % planes);
    at_[3] = static_cast<ptrdiff_t>(line % height);
  }

  void average(DividedScale& scale) {
    rows_ = pool_.tiling(pool_, 1, at_);
    while (at_[4] < pool_.pooled.sizes[4]) {
      const Extent columns = pool_.tiling(pool_, 2, at_);
      // Windows of other tilings differ in size.
      const bool alone = channels_ || pool_.tiling != window_tiling;
      const size_t windows = alone ? 1 : count_alike(pool_.windows[2], at_[4], columns);
      average(columns, channels_ ? static_cast<size_t>(pool_.volume.sizes[1]) : windows, scale);
      at_[4] += static_cast<ptrdiff_t>(windows);
    }
  }

 private:
  void average(const Extent& columns, size_t results, DividedScale& scale) {
    const View& volume = pool_.volume;
    const View& pooled = pool_.pooled;
    ukernel::Int8Windows windows;
    windows.rows = static_cast<size_t>(std::max<int64_t>(rows_.count, 0));
    windows.columns = static_cast<size_t>(std::max<int64_t>(columns.count, 0));
    windows.row = volume.strides[3];
    windows.column = volume.strides[4];
    windows.lane = channels_ ? 1 : volume.strides[4] * static_cast<ptrdiff_t>(pool_.windows[2].step);
    const auto size = static_cast<int64_t>(windows.rows * windows.columns);
    // The divisor, as in PyTorch: the override if set, else the elements with or without padding.
    const int64_t counted = pool_.counts_padding ? rows_.padded * columns.padded : size;
    const int64_t divisor = pool_.divisor != 0 ? pool_.divisor : counted;
    const ukernel::Requantization& to = scale.by(std::max<int64_t>(divisor, 1));
    // An empty window has no valid position, so it takes the address of position 0.
    const char* in = volume_at(volume, at_[0], 0, size == 0 ? 0 : static_cast<ptrdiff_t>(rows_.begin),
                               size == 0 ? 0 : static_cast<ptrdiff_t>(columns.begin)) +
                     at_[1] * volume.strides[1];
    auto* out =
        reinterpret_cast<int8_t*>(volume_at(pooled, at_[0], 0, at_[3], at_[4])) + at_[1] * pooled.strides[1];
    const ptrdiff_t step = channels_ ? 1 : pooled.strides[4];
    for (size_t i = 0; i < results; i += kBlock) {
      windows.count = std::min(kBlock, results - i);
      int32_t sums[kBlock];
      // Elements are summed as stored; the initial value subtracts the zero point of each.
      std::fill_n(sums, windows.count, static_cast<int32_t>(-size * problem_.input_zero_point));
      const auto first = static_cast<ptrdiff_t>(i);
      ukernel::sum_int8(windows, int8_at(in) + first * windows.lane, sums);
      store(to, windows.count, sums, out + first * step, step);
    }
  }

  const QuantizedAveragePoolProblem& problem_;
  const Pool& pool_;
  bool channels_;
  ptrdiff_t at_[kVolume + 2] = {};  // n, c, 0, y, and the next x
  Extent rows_{};
};

}  // namespace

size_t lines_of(const QuantizedMeanProblem& problem) { return problem.reduction.kept().count(1); }

size_t lines_of(const QuantizedAveragePoolProblem& problem) {
  const View& pooled = problem.pool.pooled;
  const ptrdiff_t planes = has_adjacent_channels(problem.pool) ? 1 : pooled.sizes[1];
  return static_cast<size_t>(pooled.sizes[0] * planes * pooled.sizes[3]);
}

void average_int8(const QuantizedMeanProblem& problem, size_t begin, size_t end) {
  const Reduction& reduction = problem.reduction;
  const Axis& line = reduction.kept().inner();
  const Axis& run = reduction.reduced().inner();
  const auto count = static_cast<int64_t>(reduction.count());
  if (begin == end || line.size == 0) return;
  DividedScale scale(problem.to);
  const ukernel::Requantization& to = scale.by(count);
  ukernel::Int8Windows windows;
  // Each call adds one span of the reduced axes, for up to kBlock adjacent outputs (lanes).
  windows.rows = 1;
  windows.columns = run.size;
  windows.column = run.input;
  windows.lane = line.input;
  reduction.kept().walk_part(
      reduction.input(), reduction.output(), 1, begin, end, [&](const char* first, char* result) {
        for (size_t i = 0; i < line.size; i += kBlock) {
          windows.count = std::min(kBlock, line.size - i);
          const auto done = static_cast<ptrdiff_t>(i);
          int32_t sums[kBlock];
          std::fill_n(sums, windows.count, static_cast<int32_t>(-count * problem.input_zero_point));
          reduction.reduced().walk(first + done * line.input, nullptr, 1, [&](const char* values, char*) {
            ukernel::sum_int8(windows, int8_at(values), sums);
          });
          auto* out = reinterpret_cast<int8_t*>(result) + done * line.output;
          store(to, windows.count, sums, out, line.output);
        }
      });
}

void average_int8(const QuantizedAveragePoolProblem& problem, size_t begin, size_t end) {
  DividedScale scale(problem.to);
  for (size_t line = begin; line < end; ++line) PoolLine(problem, line).average(scale);
}

}  // namespace rushlight::kernels
