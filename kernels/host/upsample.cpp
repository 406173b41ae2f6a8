// SPDX-License-Identifier: BSD-3-Clause
// Resampling of images of float32; linear and cubic also of 16-bit floats and uint8, which are converted row
// by row. Interpolation separates by dimension. In planes, positions and weights of up to 128 outputs of a
// row are computed once for all rows. If the image gets more rows, or rows are converted, each input row is
// spread along its columns once, and each output row is a weighted sum of spread rows; otherwise input rows
// are summed first, so that one row is spread for each output row. Channels-last float32 outputs are one sum
// of pixels each.
#include "kernels/backs/upsample.h"

#include <algorithm>
#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/geometry/spatial_gather.h"
#include "kernels/geometry/taps.h"
#include "kernels/geometry/upsample_positions.h"
#include "kernels/host/elements.h"
#include "kernels/host/pooling/converted_planes.h"
#include "kernels/ukernel/resample.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kPart = 128;               // outputs of a row whose positions are computed together
constexpr size_t kSpan = 512;               // inputs that these positions span at most
constexpr size_t kGrain = size_t{1} << 15;  // outputs worth a thread
constexpr size_t kMostTaps = 4;             // of an axis
constexpr size_t kMostSums = 16;            // products of an output: 2^3 or 4^2

// Images, or volumes, in any layout; strides in elements.
struct Image {
  explicit Image(const Tensor& tensor)
      : data(tensor.mutable_data_ptr<char>()),
        element(static_cast<ptrdiff_t>(tensor.element_size())),
        batch(tensor.strides()[0]),
        channel(tensor.strides()[1]) {
    const auto spatial = static_cast<size_t>(tensor.dim()) - 2;
    const auto stride = [&](size_t from_last) {
      return from_last < spatial ? static_cast<ptrdiff_t>(tensor.strides()[1 + spatial - from_last]) : 0;
    };
    column = stride(0);
    row = stride(1);
    layer = stride(2);
  }

  // Makes it row-major planes of float32, channels of one image.
  void set_dense(const float* planes, ptrdiff_t rows, ptrdiff_t columns, size_t plane) {
    data = reinterpret_cast<char*>(const_cast<float*>(planes));
    element = sizeof(float);
    channel = static_cast<ptrdiff_t>(plane);
    layer = rows * columns;
    row = columns;
    column = 1;
  }

  [[nodiscard]] char* plane(ptrdiff_t n, ptrdiff_t c) const {
    return data + (n * batch + c * channel) * element;
  }

  char* data;
  ptrdiff_t element;  // size in bytes
  ptrdiff_t batch;
  ptrdiff_t channel;
  ptrdiff_t layer;
  ptrdiff_t row;
  ptrdiff_t column;
};

struct Images {
  explicit Images(const UpsampleProblem& problem)
      : from(problem.self), to(problem.out), channels(problem.self.size(1)) {}

  Image from;
  Image to;
  ptrdiff_t channels;

  // These require float32.
  [[nodiscard]] const float* input(ptrdiff_t n, ptrdiff_t c) const {
    return reinterpret_cast<const float*>(from.plane(n, c));
  }
  [[nodiscard]] float* output(ptrdiff_t n, ptrdiff_t c, ptrdiff_t y) const {
    return reinterpret_cast<float*>(to.plane(n, c)) + y * to.row;
  }
};

struct Axis : Resampling {
  double levels = 0;  // of the weights of uint8 images
};

struct Interpolating : Images {
  explicit Interpolating(const InterpolationProblem& problem)
      : Images(problem),
        type(problem.type()),
        layers{problem.dimensions[0]},
        rows{problem.dimensions[1]},
        columns{problem.dimensions[2]},
        filter(problem.filter),
        align_corners(problem.align_corners) {
    if (!is_bytes()) return;
    for (Axis* axis : {&rows, &columns}) axis->levels = byte_levels(*axis, filter, align_corners);
  }

  ScalarType type;
  Axis layers;
  Axis rows;
  Axis columns;
  Filter filter;
  bool align_corners;

  // Constants in builds without these dtypes.
  [[nodiscard]] bool converts() const { return widens(type) || is_bytes(); }
  [[nodiscard]] bool is_bytes() const {
    return contains(kAnySelectedType, ScalarType::Byte) && type == ScalarType::Byte;
  }

  [[nodiscard]] size_t taps() const { return filter == Filter::kLinear ? 2 : 4; }
  // An axis that the tensor does not have has one element.
  [[nodiscard]] size_t taps(const Axis& axis) const { return axis.in == 1 && axis.out == 1 ? 1 : taps(); }
  // Callers limit inputs to the border.
  [[nodiscard]] Neighborhood<float> around(const Axis& axis, ptrdiff_t index) const {
    if (!is_bytes()) return neighborhood<float>(axis, filter, align_corners, index);
    const Neighborhood<double> exact = byte_neighborhood(axis, filter, align_corners, axis.levels, index);
    Neighborhood<float> around{exact.first, exact.count, {}};
    for (size_t i = 0; i < kMostTaps; ++i) around.weights[i] = static_cast<float>(exact.weights[i]);
    return around;
  }
};

ptrdiff_t limited(ptrdiff_t index, const Resampling& axis) {
  return std::clamp<ptrdiff_t>(index, 0, axis.in - 1);
}

struct Repeating : Images {
  explicit Repeating(const NearestProblem& problem)
      : Images(problem), rows(problem.axes[1]), columns(problem.axes[2]) {}

  GatheredAxis rows;
  GatheredAxis columns;
};

// The columns of a part of a row; input columns are relative to `start`, which may be outside.
struct Part {
  // Fills in the columns from output `begin` on, as many as fit.
  void make_weighted(const Interpolating& of, ptrdiff_t begin) {
    const auto taps = static_cast<ptrdiff_t>(of.taps());
    count = 0;
    for (ptrdiff_t x = begin; x < of.columns.out && count < kPart; ++x, ++count) {
      const Neighborhood<float> at = of.around(of.columns, x);
      if (count == 0) start = at.first;
      // The part ends where its inputs no longer fit in kSpan, as in strong reductions.
      if (at.first < start || at.first + taps - start > static_cast<ptrdiff_t>(kSpan)) break;
      first[count] = static_cast<int32_t>(at.first - start);
      for (ptrdiff_t t = 0; t < taps; ++t) weights[t][count] = at.weights[t];
      span = static_cast<size_t>(at.first + taps - start);
    }
  }
  // Lets the columns of a whole row repeat for as many rows as fit, whose inputs follow each other: short
  // rows are spread together. Returns the number of rows.
  size_t repeat(const Interpolating& of) {
    if (static_cast<ptrdiff_t>(count) < of.columns.out) return 1;
    const size_t times = std::min(kPart / count, kSpan / span);
    for (size_t i = count; i < times * count; ++i) {
      first[i] = first[i - count] + static_cast<int32_t>(span);
      for (size_t t = 0; t < of.taps(); ++t) weights[t][i] = weights[t][i - count];
    }
    return times;
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
  ptrdiff_t start = 0;
  int32_t first[kPart + ukernel::kResampleSlack] = {};
  float weights[kMostTaps][kPart + ukernel::kResampleSlack] = {};
};

// The input rows, or pixels, of an output in all dimensions but the last: their offsets and weights.
struct Neighbors {
  void find(const Interpolating& of, ptrdiff_t z, ptrdiff_t y) {
    count = 0;
    const size_t deep = of.taps(of.layers);
    const size_t high = of.taps(of.rows);
    constexpr Neighborhood<float> kSingle{0, 1, {1}};
    const Neighborhood<float> layers = deep > 1 ? of.around(of.layers, z) : kSingle;
    const Neighborhood<float> rows = high > 1 ? of.around(of.rows, y) : kSingle;
    for (size_t i = 0; i < deep; ++i) {
      const ptrdiff_t layer = limited(layers.first + static_cast<ptrdiff_t>(i), of.layers);
      for (size_t j = 0; j < high; ++j, ++count) {
        const ptrdiff_t row = limited(rows.first + static_cast<ptrdiff_t>(j), of.rows);
        offset[count] = layer * of.from.layer + row * of.from.row;
        // Neighbors in a layer are different modulo the number of taps, or the same row.
        slot[count] = i * high + static_cast<size_t>(row) % high;
        weights[count] = layers.weights[i] * rows.weights[j];
      }
    }
  }

  size_t count = 0;
  ptrdiff_t offset[kMostTaps];
  size_t slot[kMostTaps];
  float weights[kMostTaps];
};

// The neighbors of the rows of a plane. Small planes share them.
class PlaneNeighbors {
 public:
  explicit PlaneNeighbors(const Interpolating& of) : of_(of), keeps_(of.layers.out * of.rows.out <= kKept) {
    for (ptrdiff_t i = 0; keeps_ && i < of.layers.out * of.rows.out; ++i) {
      rows_[i].find(of, i / of.rows.out, i % of.rows.out);
    }
  }
  [[nodiscard]] const Neighbors& at(ptrdiff_t z, ptrdiff_t y) {
    if (keeps_) return rows_[z * of_.rows.out + y];
    rows_[0].find(of_, z, y);
    return rows_[0];
  }

 private:
  static constexpr ptrdiff_t kKept = 16;
  const Interpolating& of_;
  bool keeps_;
  Neighbors rows_[kKept];
};

// A row of results: its plane, or image, and its position there. Steps from row to row without divisions,
// which would take as long as a short row.
struct Place {
  // Row `row` of all planes, or, with `channels` 1, of all images.
  Place(const Interpolating& of, ptrdiff_t channels, ptrdiff_t row)
      : channels(channels),
        n(row / (of.rows.out * of.layers.out) / channels),
        c(row / (of.rows.out * of.layers.out) % channels),
        z(row / of.rows.out % of.layers.out),
        y(row % of.rows.out) {}
  void step(const Interpolating& of) {
    if (++y < of.rows.out) return;
    y = 0;
    if (++z < of.layers.out) return;
    z = 0;
    if (++c < channels) return;
    c = 0;
    ++n;
  }

  ptrdiff_t channels;
  ptrdiff_t n;
  ptrdiff_t c;
  ptrdiff_t z;
  ptrdiff_t y;
};

// Columns of the part: `out` from inputs of some rows.
void spread(const Part& part, size_t taps, const float* row, float* out, size_t rows = 1) {
  ukernel::ResampledRow along;
  along.n = rows * part.count;
  along.taps = taps;
  along.row = row;
  along.first = part.first;
  along.weights = part.weights[0];
  along.weight_stride = kPart + ukernel::kResampleSlack;
  along.out = out;
  ukernel::resample_along(along);
}

// Rounds sums to the range of uint8, halves up. Limits integers, so that the loop has no branch; conversions
// truncate, which only differs for negative values. Weights are below 2, so every sum is an int32. Rounds
// whole blocks, which compilers turn into vector code.
void round_to_bytes(float (&values)[kPart], size_t n) {
  constexpr size_t kBlock = 8;
  static_assert(kPart % kBlock == 0);
  for (size_t first = 0; first < n; first += kBlock) {
    float* const block = values + first;
    for (size_t i = 0; i < kBlock; ++i) {
      const auto rounded = static_cast<int32_t>(block[i] + 0.5F);
      block[i] = static_cast<float>(std::min(std::max(rounded, 0), 255));
    }
  }
}

// Converts n elements of a row, or the reverse.
void load_row(const Interpolating& of, const char* from, size_t n, float* to) {
  if (!of.is_bytes()) return load_floats(to, of.type, from, of.from.column, n);
  convert_span(to, sizeof(float), ScalarType::Float, from, of.from.column, of.type, n);
}
void store_row(const Interpolating& of, const float* from, size_t n, char* to) {
  if (!of.is_bytes()) return store_floats(to, of.to.column, of.type, from, n);
  convert_span(to, of.to.column, of.type, from, sizeof(float), ScalarType::Float, n);
}

// Rows [begin, end) of all planes, of float32 with adjacent columns, or in any layout of elements that are
// converted to float32. Each input row is spread once for the rows of results that follow. Bytes are rounded
// after each axis, as in PyTorch.
void interpolate_spread(const Interpolating& of, ptrdiff_t begin, ptrdiff_t end) {
  Part part;
  float inputs[kSpan + ukernel::kResampleSlack] = {};
  float spread_rows[kMostTaps][kPart] = {};
  float converted[kPart] = {};
  PlaneNeighbors neighbors(of);
  for (ptrdiff_t x = 0; x < of.columns.out; x += static_cast<ptrdiff_t>(part.count)) {
    part.make_weighted(of, x);
    const auto span = static_cast<ptrdiff_t>(part.span);
    // Columns of the row; inputs before and after them repeat the border.
    const ptrdiff_t first = limited(part.start, of.columns);
    const ptrdiff_t last = limited(part.start + span - 1, of.columns);
    const ptrdiff_t before = std::clamp<ptrdiff_t>(first - part.start, 0, span - 1);
    const char* held[kMostTaps] = {};
    Place at(of, of.channels, begin);
    for (ptrdiff_t i = begin; i < end; ++i, at.step(of)) {
      const Neighbors& rows = neighbors.at(at.z, at.y);
      const float* from[kMostTaps];
      for (size_t r = 0; r < rows.count; ++r) {
        const char* const row = of.from.plane(at.n, at.c) + rows.offset[r] * of.from.element;
        const size_t slot = rows.slot[r];
        from[r] = spread_rows[slot];
        if (held[slot] == row) continue;
        held[slot] = row;
        const ptrdiff_t inside = last - first + 1;
        load_row(of, row + first * of.from.column * of.from.element, static_cast<size_t>(inside),
                 inputs + before);
        std::fill_n(inputs, before, inputs[before]);
        std::fill(inputs + before + inside, inputs + span, inputs[before + inside - 1]);
        spread(part, of.taps(), inputs, spread_rows[slot]);
        if (of.is_bytes()) round_to_bytes(spread_rows[slot], part.count);
      }
      const ptrdiff_t offset = at.z * of.to.layer + at.y * of.to.row + x * of.to.column;
      char* const to = of.to.plane(at.n, at.c) + offset * of.to.element;
      float* const sums = of.converts() ? converted : reinterpret_cast<float*>(to);
      ukernel::resample_sum(part.count, rows.count, from, rows.weights, sums);
      if (of.is_bytes()) round_to_bytes(converted, part.count);
      if (of.converts()) store_row(of, sums, part.count, to);
    }
  }
}

// Rows [begin, end) of all planes of float32; columns are adjacent (channels-first). Input rows are summed
// before they are spread.
void interpolate_summed(const Interpolating& of, ptrdiff_t begin, ptrdiff_t end) {
  Part part;
  float inputs[kSpan + ukernel::kResampleSlack] = {};  // of rows, with their borders
  PlaneNeighbors neighbors(of);
  for (ptrdiff_t x = 0; x < of.columns.out; x += static_cast<ptrdiff_t>(part.count)) {
    part.make_weighted(of, x);
    const auto span = static_cast<ptrdiff_t>(part.span);
    // Columns of the row; inputs before and after them repeat the border.
    const ptrdiff_t first = limited(part.start, of.columns);
    const ptrdiff_t inside = limited(part.start + span - 1, of.columns) - first + 1;
    const ptrdiff_t before = std::clamp<ptrdiff_t>(first - part.start, 0, span - 1);
    // Summed rows that are not spread yet, and their results.
    const size_t most = part.repeat(of);
    size_t summed = 0;
    float* results = nullptr;
    Place at(of, of.channels, begin);
    for (ptrdiff_t i = begin; i < end; ++i, at.step(of)) {
      const float* const image = of.input(at.n, at.c) + first;
      float* const to = of.output(at.n, at.c, at.y) + at.z * of.to.layer + x;
      const Neighbors& rows = neighbors.at(at.z, at.y);
      if (summed == most || to != results + summed * part.count) {
        if (summed > 0) spread(part, of.taps(), inputs, results, summed);
        summed = 0;
        results = to;
      }
      float* const sums = inputs + static_cast<ptrdiff_t>(summed++) * span;
      if (rows.count == 1) {
        const float* const row = image + rows.offset[0];
        for (ptrdiff_t k = 0; k < inside; ++k) sums[before + k] = row[k];
      } else {
        const float* from[kMostTaps];
        for (size_t r = 0; r < rows.count; ++r) from[r] = image + rows.offset[r];
        ukernel::resample_sum(static_cast<size_t>(inside), rows.count, from, rows.weights, sums + before);
      }
      for (ptrdiff_t k = 0; k < before; ++k) sums[k] = sums[before];
      for (ptrdiff_t k = before + inside; k < span; ++k) sums[k] = sums[before + inside - 1];
    }
    if (summed > 0) spread(part, of.taps(), inputs, results, summed);
  }
}

// Rows [begin, end) of all images of float32, in any layout; the channels of a pixel are one sum if they are
// adjacent.
void interpolate_pixels(const Interpolating& of, ptrdiff_t begin, ptrdiff_t end) {
  const bool adjacent = of.from.channel == 1 && of.to.channel == 1;
  const ptrdiff_t at_once = adjacent ? of.channels : 1;
  const size_t taps = of.taps();
  Part part;
  PlaneNeighbors neighbors(of);
  for (ptrdiff_t x = 0; x < of.columns.out; x += static_cast<ptrdiff_t>(part.count)) {
    part.make_weighted(of, x);
    Place at(of, 1, begin);
    for (ptrdiff_t i = begin; i < end; ++i, at.step(of)) {
      const Neighbors& rows = neighbors.at(at.z, at.y);
      for (ptrdiff_t c = 0; c < of.channels; c += at_once) {
        const float* const image = of.input(at.n, c);
        float* pixel = of.output(at.n, c, at.y) + at.z * of.to.layer + x * of.to.column;
        for (size_t k = 0; k < part.count; ++k, pixel += of.to.column) {
          const float* from[kMostSums];
          float weights[kMostSums];
          size_t count = 0;
          for (size_t t = 0; t < taps; ++t) {
            const ptrdiff_t column = part.start + part.first[k] + static_cast<ptrdiff_t>(t);
            const float* const pixels = image + limited(column, of.columns) * of.from.column;
            for (size_t r = 0; r < rows.count; ++r, ++count) {
              from[count] = pixels + rows.offset[r];
              weights[count] = part.weights[t][k] * rows.weights[r];
            }
          }
          ukernel::resample_sum(static_cast<size_t>(at_once), count, from, weights, pixel);
        }
      }
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

// The cheaper order for rows: an input row is spread once, and an output row is summed once.
auto rows_of(const Interpolating& of) {
  return of.converts() || of.rows.out > of.rows.in ? interpolate_spread : interpolate_summed;
}

}  // namespace

Error interpolate(KernelContext& context, const InterpolationProblem& problem) {
  const Tensor& self = problem.self;
  const Tensor& out = problem.out;
  if (out.numel() == 0) return Error::Ok;
  const Interpolating of(problem);
  const bool has_rows = of.converts() || (of.from.column == 1 && of.to.column == 1);
  const auto rows = static_cast<size_t>(self.size(0) * of.layers.out * of.rows.out);
  // Units of work: rows of single planes, or rows of images with all channels.
  const size_t count = has_rows ? rows * static_cast<size_t>(of.channels) : rows;
  if (widens(of.type)) {
    const size_t spatial = static_cast<size_t>(self.dim()) - 2;
    const View source = as_volume(self, spatial);
    const View target = as_volume(out, spatial);
    if (has_small_planes(source) && has_small_planes(target)) {
      for_each_block(context, source, target, [&](const PlaneBlock& block) {
        Interpolating part = of;
        part.type = ScalarType::Float;
        part.channels = static_cast<ptrdiff_t>(block.planes);
        part.from.set_dense(block.from, of.rows.in, of.columns.in, block.in);
        part.to.set_dense(block.to, of.rows.out, of.columns.out, block.out);
        rows_of(part)(part, 0, part.channels * of.layers.out * of.rows.out);
      });
      return Error::Ok;
    }
  }
  // A piece for a thread has at least kGrain outputs.
  const size_t grain = kGrain / (out.numel() / count) + 1;
  context.parallel_for(count, grain, [&](size_t begin, size_t end, size_t) {
    const auto compute = has_rows ? rows_of(of) : interpolate_pixels;
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
