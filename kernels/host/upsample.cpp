// SPDX-License-Identifier: BSD-3-Clause
// Resampling of float32 images. Column positions and weights are computed once for up to 128 outputs and used
// for every row. Planes that get more rows interpolate the columns of each input row once, and blend two such
// rows for each output row; other planes blend rows first, so that the columns of one row are interpolated.
//
//   out = (1 - v) ((1 - h) a + h b) + v ((1 - h) c + h d)    a b: upper inputs, c d: lower, v h: shares
#include "kernels/backs/upsample.h"

#include <algorithm>
#include <cstring>

#include "kernels/geometry/spatial_gather.h"
#include "kernels/geometry/upsample_positions.h"
#include "kernels/ukernel/resample.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kPart = 128;               // outputs of a row whose positions are computed together
constexpr size_t kSpan = 512;               // inputs that these positions span at most
constexpr size_t kGrain = size_t{1} << 15;  // outputs worth a thread

// The two inputs around an output position, and the weight of the second one.
struct Between {
  int32_t first;
  int32_t second;
  float share;
};

// The last input repeats beyond the border.
Between between(const Resampling& dimension, bool align_corners, ptrdiff_t index) {
  const float position = resampled_position<float>(dimension, Filter::kLinear, align_corners, index);
  const float floored = std::floor(position);
  const auto first = static_cast<ptrdiff_t>(floored);
  return {static_cast<int32_t>(std::min(first, dimension.in - 1)),
          static_cast<int32_t>(std::min(first + 1, dimension.in - 1)), position - floored};
}

// An image of float32 planes or pixels in any layout; strides in floats.
struct Image {
  explicit Image(const Tensor& tensor)
      : data(tensor.mutable_data_ptr<float>()),
        batch(tensor.strides()[0]),
        channel(tensor.strides()[1]),
        row(tensor.strides()[2]),
        column(tensor.strides()[3]) {}

  float* data;
  ptrdiff_t batch;
  ptrdiff_t channel;
  ptrdiff_t row;
  ptrdiff_t column;
};

struct Images {
  explicit Images(const UpsampleProblem& problem)
      : from(problem.self), to(problem.out), channels(problem.self.size(1)) {}

  Image from;
  Image to;
  ptrdiff_t channels;

  [[nodiscard]] const float* input(ptrdiff_t n, ptrdiff_t c) const {
    return from.data + n * from.batch + c * from.channel;
  }
  [[nodiscard]] float* output(ptrdiff_t n, ptrdiff_t c, ptrdiff_t y) const {
    return to.data + n * to.batch + c * to.channel + y * to.row;
  }
};

// Dimension 0 of a resampling is depth, which images do not have.
struct Blending : Images {
  explicit Blending(const BilinearProblem& problem)
      : Images(problem),
        rows(problem.dimensions[1]),
        columns(problem.dimensions[2]),
        align_corners(problem.align_corners) {}

  Resampling rows;
  Resampling columns;
  bool align_corners;
};

struct Repeating : Images {
  explicit Repeating(const NearestProblem& problem)
      : Images(problem), rows(problem.axes[1]), columns(problem.axes[2]) {}

  GatheredAxis rows;
  GatheredAxis columns;
};

// The columns of a part of a row; input columns are relative to `start`.
struct Part {
  // Fills in the columns from output `begin` on, as many as fit.
  void make_linear(const Blending& of, ptrdiff_t begin) {
    count = 0;
    for (ptrdiff_t x = begin; x < of.columns.out && count < kPart; ++x, ++count) {
      const Between at = between(of.columns, of.align_corners, x);
      if (count == 0) start = at.first;
      // The part ends where its inputs no longer fit in kSpan, as in strong reductions.
      if (at.first < start || at.second - start >= static_cast<int32_t>(kSpan)) break;
      first[count] = at.first - start;
      second[count] = at.second - start;
      share[count] = at.share;
      span = static_cast<size_t>(second[count]) + 1;
    }
  }
  void make_nearest(const GatheredAxis& axis, ptrdiff_t begin) {
    start = 0;
    for (count = 0; count < kPart && begin + static_cast<ptrdiff_t>(count) < axis.out; ++count) {
      const auto at = static_cast<float>(begin + static_cast<ptrdiff_t>(count));
      first[count] = static_cast<int32_t>(nearest_position(axis, at));
    }
  }

  size_t count = 0;
  size_t span = 0;  // number of inputs
  int32_t start = 0;
  int32_t first[kPart];
  int32_t second[kPart];
  float share[kPart];
};

// Input rows whose columns were interpolated. Two neighbours are held.
class SpreadRows {
 public:
  const float* spread(const Part& part, const float* image, ptrdiff_t row, ptrdiff_t stride) {
    const size_t slot = static_cast<size_t>(row) % 2;
    const float* from = image + row * stride;
    if (held_[slot] != from) {
      ukernel::resample_between(part.count, from, part.first, part.second, part.share, rows_[slot]);
      held_[slot] = from;
    }
    return rows_[slot];
  }

 private:
  const float* held_[2] = {nullptr, nullptr};
  float rows_[2][kPart];
};

// Rows [begin, end) of all planes; columns are adjacent (channels-first).
void linear_planes(const Blending& of, ptrdiff_t begin, ptrdiff_t end) {
  Part part;
  float blended[kSpan];
  const bool spreads = of.rows.out > of.rows.in;
  for (ptrdiff_t x = 0; x < of.columns.out; x += static_cast<ptrdiff_t>(part.count)) {
    part.make_linear(of, x);
    SpreadRows spread;
    for (ptrdiff_t i = begin; i < end; ++i) {
      const ptrdiff_t plane = i / of.rows.out;
      const ptrdiff_t n = plane / of.channels;
      const ptrdiff_t c = plane % of.channels;
      const Between y = between(of.rows, of.align_corners, i % of.rows.out);
      const float* const image = of.input(n, c) + part.start;
      float* const to = of.output(n, c, i % of.rows.out) + x;
      if (spreads) {
        const float* const upper = spread.spread(part, image, y.first, of.from.row);
        const float* const lower = spread.spread(part, image, y.second, of.from.row);
        ukernel::resample_blend(part.count, upper, lower, y.share, to);
        continue;
      }
      ukernel::resample_blend(part.span, image + y.first * of.from.row, image + y.second * of.from.row,
                              y.share, blended);
      ukernel::resample_between(part.count, blended, part.first, part.second, part.share, to);
    }
  }
}

// Rows [begin, end) of all images; channels are adjacent (channels-last).
void linear_pixels(const Blending& of, ptrdiff_t begin, ptrdiff_t end) {
  const auto channels = static_cast<size_t>(of.channels);
  Part part;
  for (ptrdiff_t x = 0; x < of.columns.out; x += static_cast<ptrdiff_t>(part.count)) {
    part.make_linear(of, x);
    for (ptrdiff_t i = begin; i < end; ++i) {
      const Between y = between(of.rows, of.align_corners, i % of.rows.out);
      const float* const image = of.input(i / of.rows.out, 0) + part.start * of.from.column;
      const float* const upper = image + y.first * of.from.row;
      const float* const lower = image + y.second * of.from.row;
      float* pixel = of.output(i / of.rows.out, 0, i % of.rows.out) + x * of.to.column;
      for (size_t k = 0; k < part.count; ++k, pixel += of.to.column) {
        // Four pixels around the output, all channels of each in one call.
        const ptrdiff_t first = part.first[k] * of.from.column;
        const ptrdiff_t second = part.second[k] * of.from.column;
        ukernel::resample_pixel(channels, upper + first, upper + second, lower + first, lower + second,
                                part.share[k], y.share, pixel);
      }
    }
  }
}

// Rows [begin, end) of all planes, for any layout.
void linear_elements(const Blending& of, ptrdiff_t begin, ptrdiff_t end) {
  for (ptrdiff_t i = begin; i < end; ++i) {
    const ptrdiff_t plane = i / of.rows.out;
    const float* const image = of.input(plane / of.channels, plane % of.channels);
    const Between y = between(of.rows, of.align_corners, i % of.rows.out);
    float* const row = of.output(plane / of.channels, plane % of.channels, i % of.rows.out);
    for (ptrdiff_t x = 0; x < of.columns.out; ++x) {
      const Between at = between(of.columns, of.align_corners, x);
      const auto blended = [&](ptrdiff_t column) {
        const float* const from = image + column * of.from.column;
        return from[y.first * of.from.row] * (1 - y.share) + from[y.second * of.from.row] * y.share;
      };
      row[x * of.to.column] = blended(at.first) * (1 - at.share) + blended(at.second) * at.share;
    }
  }
}

ptrdiff_t nearest(const GatheredAxis& axis, ptrdiff_t index) {
  return nearest_position(axis, static_cast<float>(index));
}

// Rows [begin, end) of all planes with adjacent columns. A row from the same input row is copied from the
// result.
void nearest_planes(const Repeating& of, ptrdiff_t begin, ptrdiff_t end) {
  Part part;
  for (ptrdiff_t x = 0; x < of.columns.out; x += static_cast<ptrdiff_t>(part.count)) {
    part.make_nearest(of.columns, x);
    const float* before = nullptr;
    const float* row = nullptr;
    for (ptrdiff_t i = begin; i < end; ++i) {
      const ptrdiff_t plane = i / of.rows.out;
      const ptrdiff_t n = plane / of.channels;
      const ptrdiff_t c = plane % of.channels;
      const float* const from = of.input(n, c) + nearest(of.rows, i % of.rows.out) * of.from.row;
      float* const to = of.output(n, c, i % of.rows.out) + x;
      // The previous output row came from the same input row.
      if (from == before) {
        std::memcpy(to, row, part.count * sizeof(float));
      } else {
        ukernel::resample_gather(part.count, from, part.first, to);
      }
      before = from;
      row = to;
    }
  }
}

// The number of outputs for each input of a dimension if it is the same for all; 0 otherwise. Costs one
// position for each output of an axis, once for a call.
ptrdiff_t repetitions(const GatheredAxis& axis) {
  // Tests every output, since a scale that is rounded may shift positions even if sizes divide.
  const ptrdiff_t times = axis.out / axis.in;
  if (times * axis.in != axis.out) return 0;
  for (ptrdiff_t i = 0, at = 0; i < axis.in; ++i) {
    for (ptrdiff_t j = 0; j < times; ++j, ++at) {
      if (nearest(axis, at) != i) return 0;
    }
  }
  return times;
}

// Input rows [begin, end) of all planes with adjacent columns. Each is written `down` times, with each
// element `across` times.
void repeat_planes(const Repeating& of, ptrdiff_t down, ptrdiff_t across, ptrdiff_t begin, ptrdiff_t end) {
  ukernel::RepeatedRows rows;
  rows.n = static_cast<size_t>(of.columns.in);
  rows.down = static_cast<size_t>(down);
  rows.across = static_cast<size_t>(across);
  rows.from_stride = of.from.row;
  rows.to_stride = of.to.row;
  while (begin < end) {
    const ptrdiff_t plane = begin / of.rows.in;
    const ptrdiff_t y = begin % of.rows.in;
    const ptrdiff_t count = std::min(end - begin, of.rows.in - y);
    const ptrdiff_t n = plane / of.channels;
    const ptrdiff_t c = plane % of.channels;
    rows.rows = static_cast<size_t>(count);
    rows.from = of.input(n, c) + y * of.from.row;
    rows.to = of.output(n, c, y * down);
    ukernel::resample_repeat(rows);
    begin += count;
  }
}

}  // namespace

Error upsample_bilinear2d(KernelContext& context, const BilinearProblem& problem) {
  const Tensor& self = problem.self;
  const Tensor& out = problem.out;
  if (out.numel() == 0) return Error::Ok;
  const Blending of(problem);
  const bool has_rows = of.from.column == 1 && of.to.column == 1;
  const bool has_pixels = !has_rows && of.from.channel == 1 && of.to.channel == 1;
  const auto rows = static_cast<size_t>(self.size(0) * of.rows.out);
  // Units of work: rows of images with all channels, or rows of single planes.
  const size_t count = has_pixels ? rows : rows * static_cast<size_t>(of.channels);
  // A piece for a thread has at least kGrain outputs.
  const size_t grain = kGrain / (out.numel() / count) + 1;
  context.parallel_for(count, grain, [&](size_t begin, size_t end, size_t) {
    const auto compute = has_rows ? linear_planes : has_pixels ? linear_pixels : linear_elements;
    compute(of, static_cast<ptrdiff_t>(begin), static_cast<ptrdiff_t>(end));
  });
  return Error::Ok;
}

Error upsample_nearest2d(KernelContext& context, const NearestProblem& problem) {
  const Tensor& self = problem.self;
  const Tensor& out = problem.out;
  if (out.numel() == 0) return Error::Ok;
  const Repeating of(problem);
  if (of.from.column != 1 || of.to.column != 1) {
    gather_positions(self, out, 2, problem.axes, nearest);
    return Error::Ok;
  }
  const ptrdiff_t down = repetitions(of.rows);
  const ptrdiff_t across = repetitions(of.columns);
  const bool whole = down > 0 && across > 0;
  const auto count = static_cast<size_t>(self.size(0) * of.channels * (whole ? of.rows.in : of.rows.out));
  context.parallel_for(count, kGrain / (out.numel() / count) + 1, [&](size_t begin, size_t end, size_t) {
    if (whole) {
      return repeat_planes(of, down, across, static_cast<ptrdiff_t>(begin), static_cast<ptrdiff_t>(end));
    }
    nearest_planes(of, static_cast<ptrdiff_t>(begin), static_cast<ptrdiff_t>(end));
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
