// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions use indirection: a pointer to the input for each tap of an output, or for each row
// of taps. All others are products of im2col patches with packed weights, a block of outputs at a time.
// Patches are gathered from spread lines (int8_lines.h), or element by element if the layout does not allow
// that.
#include "kernels/backs/quantized_convolution.h"

#include <algorithm>
#include <cstring>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/geometry/patches.h"
#include "kernels/host/int8/int8_lines.h"
#include "kernels/host/int8/padded_lines.h"
#include "kernels/host/int8/tap_table.h"
#include "kernels/int8/convolve_in_place.h"
#include "kernels/quantization/requantization.h"
#include "kernels/ukernel/int8_depthwise.h"

namespace rushlight::kernels::host {

namespace {

constexpr bool kHasInt16 =
    contains(selected_types("rushlight::quantized_convolution.out"), ScalarType::Short);

// Identifies [taps][channels] weights among the packed forms of a constant.
constexpr uint64_t kTapsLayout = 0x8b18;
constexpr ptrdiff_t kPointers = 1024;  // pointers for some outputs of a depthwise convolution
constexpr ptrdiff_t kFilled = 256;     // padding elements that are spread at once

ConvolutionGeometry geometry_of(const QuantizedConvolutionProblem& problem) {
  return convolution_geometry(problem.input, problem.weight, problem.arguments, problem.out);
}

ptrdiff_t outputs_of(const ConvolutionGeometry& g) { return g.axes[0].out * g.axes[1].out * g.axes[2].out; }

const int32_t* bias_of(const QuantizedConvolutionProblem& problem) {
  return problem.bias ? problem.bias->const_data_ptr<int32_t>() : nullptr;
}

// --- depthwise ---

bool takes_channels(const ConvolutionGeometry& g) {
  return filters_channels(g) && g.taps() <= TapTable::kMostTaps;
}

// True if the weights can be used as stored: channels are adjacent, and taps have a constant stride.
bool is_tap_major(const ConvolutionGeometry& g) { return g.weight_group_stride == 1 && tap_stride(g) >= 0; }

// Reorders weights to [taps][channels].
void arrange_taps(const ConvolutionGeometry& g, const int8_t* from, int8_t* to) {
  const ConvolutionAxis* axes = g.axes;
  for (ptrdiff_t k0 = 0; k0 < axes[0].kernel; ++k0) {
    for (ptrdiff_t k1 = 0; k1 < axes[1].kernel; ++k1) {
      for (ptrdiff_t k2 = 0; k2 < axes[2].kernel; ++k2) {
        const int8_t* tap =
            from + k0 * axes[0].kernel_stride + k1 * axes[1].kernel_stride + k2 * axes[2].kernel_stride;
        for (ptrdiff_t c = 0; c < g.groups; ++c) *to++ = tap[c * g.weight_group_stride];
      }
    }
  }
}

size_t arranged_bytes(const ConvolutionGeometry& g) { return static_cast<size_t>(g.taps() * g.groups); }

// Filters all outputs, up to `pixels` of a line at a time. find(in, first, count, thread, pointers) writes
// the input pointers of `count` outputs from `first` on.
template <class Find>
void filter_strips(KernelContext& context, const ConvolutionGeometry& g,
                   const QuantizedConvolutionProblem& problem, const ukernel::Int8Depthwise& strip,
                   ptrdiff_t line, ptrdiff_t pixels, const Find& find) {
  const ptrdiff_t lines = outputs_of(g) / line;
  const ptrdiff_t strips = (line + pixels - 1) / pixels;  // in a line
  const auto* in = problem.input.const_data_ptr<int8_t>();
  auto* out = problem.out.mutable_data_ptr<int8_t>();
  context.parallel_for(
      static_cast<size_t>(g.batch * lines * strips), 4, [&](size_t begin, size_t end, size_t thread) {
        // 8 KiB of stack with 64-bit pointers: at most kPointers / taps outputs at a time.
        const int8_t* pointers[kPointers];
        ukernel::Int8Depthwise each = strip;
        each.in = pointers;
        for (auto item = static_cast<ptrdiff_t>(begin); item < static_cast<ptrdiff_t>(end); ++item) {
          const ptrdiff_t n = item / strips / lines;
          const ptrdiff_t in_line = item % strips * pixels;
          const ptrdiff_t first = item / strips % lines * line + in_line;
          const ptrdiff_t count = std::min(pixels, line - in_line);
          find(in + n * g.in_batch_stride, first, count, thread, pointers);
          each.out = out + n * g.out_batch_stride + OutputPositions(g, first).out_offset();
          each.pixels = static_cast<size_t>(count);
          ukernel::depthwise_int8(each);
        }
      });
}

std::optional<Error> filter_padded_lines(KernelContext& context, const ConvolutionGeometry& g,
                                         const QuantizedConvolutionProblem& problem, const PaddedLines& lines,
                                         ukernel::Int8Depthwise strip) {
  const size_t bytes = lines.bytes();
  auto* scratch = static_cast<int8_t*>(context.allocate_temp(bytes * context.threads()));
  if (scratch == nullptr) return std::nullopt;
  const auto zero_point = static_cast<int8_t>(problem.input_zero_point);
  strip.pixel_stride = lines.pixel_stride();
  filter_strips(
      context, g, problem, strip, g.axes[2].out, lines.outputs(),
      [&](const int8_t* in, ptrdiff_t first, ptrdiff_t count, size_t thread, const int8_t** pointers) {
        lines.find(in, zero_point, OutputPositions(g, first).at(), count, scratch + bytes * thread, pointers);
      });
  return Error::Ok;
}

// Each output is a sum over taps of elementwise products of channels; weights [taps][channels].
std::optional<Error> convolve_channels(KernelContext& context, const ConvolutionGeometry& g,
                                       const QuantizedConvolutionProblem& problem) {
  ukernel::Int8Depthwise strip;
  strip.channels = static_cast<size_t>(g.groups);
  strip.taps = static_cast<size_t>(g.taps());
  strip.weights = problem.weight.const_data_ptr<int8_t>();
  strip.weight_stride = tap_stride(g);
  strip.bias = bias_of(problem);
  strip.to = problem.to;
  strip.out_stride = g.axes[2].out_stride;
  if (!is_tap_major(g)) {
    const void* arranged = context.prepared();
    if (arranged == nullptr) {
      auto* to = static_cast<int8_t*>(context.allocate_temp(arranged_bytes(g)));
      if (to == nullptr) return std::nullopt;
      arrange_taps(g, strip.weights, to);
      arranged = to;
    }
    strip.weights = static_cast<const int8_t*>(arranged);
    strip.weight_stride = g.groups;
  }
  // A line copied with its padding needs one pointer for each row of taps, as the pixels are a constant
  // stride apart. Otherwise each tap has a pointer, and padding points to `outside`.
  const PaddedLines lines(g);
  if (ukernel::kInt8DepthwiseStrides && lines.applies()) {
    return filter_padded_lines(context, g, problem, lines, strip);
  }
  auto* outside = static_cast<int8_t*>(context.allocate_temp(strip.channels));
  auto* offsets = static_cast<ptrdiff_t*>(context.allocate_temp(TapTable::bytes(g), alignof(ptrdiff_t)));
  if (outside == nullptr || offsets == nullptr) return std::nullopt;
  const TapTable taps(g, offsets);
  std::memset(outside, problem.input_zero_point, strip.channels);

  const ptrdiff_t line = outputs_in_line(g);
  filter_strips(context, g, problem, strip, line, std::min(kPointers / g.taps(), line),
                [&](const int8_t* in, ptrdiff_t first, ptrdiff_t count, size_t, const int8_t** pointers) {
                  taps.find(in, outside, first, count, pointers);
                });
  return Error::Ok;
}

// --- products ---

// The weights of one group as a matrix whose depth has the order of patches; none for other layouts.
struct Weights {
  Int8Matrix matrix;
  PatchOrder order;
};
std::optional<Weights> weights_of(const QuantizedConvolutionProblem& problem, const ConvolutionGeometry& g) {
  const auto depth = static_cast<size_t>(g.taps() * g.in_channels);
  const auto columns = static_cast<size_t>(g.out_channels);
  // The stride between elements of a column of the matrix: 1, or the number of output channels (of all
  // groups, or of one) if these are innermost in the weight.
  const ptrdiff_t along = g.groups * g.out_channels;
  for (const ptrdiff_t step : {ptrdiff_t{1}, along, g.out_channels}) {
    const std::optional<PatchOrder> order = patch_order(g, step);
    if (!order) continue;
    return Weights{{problem.weight.const_data_ptr<int8_t>(), step, g.weight_out_stride, depth, columns},
                   *order};
  }
  return std::nullopt;
}

// True if outputs pass through scratch memory: channels are not adjacent, or outputs have no constant stride.
bool stages(const ConvolutionGeometry& g) {
  return (g.out_channel_stride != 1 && g.out_channels > 1) || outputs_in_line(g) != outputs_of(g);
}

Int8Rows rows_of(const QuantizedConvolutionProblem& problem, const ConvolutionGeometry& g, PatchOrder order) {
  // Rows are outputs, the depth is a patch, columns are the output channels of a group.
  Int8Rows product{static_cast<size_t>(outputs_of(g)),
                   static_cast<size_t>(g.taps() * g.in_channels),
                   static_cast<size_t>(g.out_channels),
                   nullptr,
                   bias_of(problem),
                   problem.to,
                   static_cast<size_t>(g.axes[2].out)};
  const Int8Lines lines(g, order, product.block());
  product.spread_bytes = lines.applies() ? lines.bytes() : product.block() * product.row_bytes();
  return product;
}

struct Sink {
  char* to;
  size_t bytes;  // of a spread element
  const int8_t* filled;
  void copy(const int8_t* from, ptrdiff_t count, ptrdiff_t step) {
    if (step == 1) {
      ukernel::spread_int8(to, from, static_cast<size_t>(count));
      to += static_cast<size_t>(count) * bytes;
      return;
    }
    int8_t together[64];
    while (count > 0) {
      const ptrdiff_t some = std::min<ptrdiff_t>(count, 64);
      for (ptrdiff_t i = 0; i < some; ++i, from += step) together[i] = *from;
      copy(together, some, 1);
      count -= some;
    }
  }
  void fill(ptrdiff_t count) {
    for (; count > 0; count -= kFilled) copy(filled, std::min(count, kFilled), 1);
  }
};

// One group of one element of the batch. `in` and `out` point to its first channels.
void convolve_group(KernelContext& context, const ConvolutionGeometry& g, PatchOrder order,
                    const Int8Rows& product, char* scratch, const int8_t* in, int8_t* out,
                    int32_t zero_point) {
  int8_t filled[kFilled];
  std::memset(filled, zero_point, sizeof filled);
  const PatchReader<int8_t, Sink> reader(g, order);
  const Int8Lines lines(g, order, product.block());
  const size_t row_bytes = product.row_bytes(), number = ukernel::int8_spread_bytes();
  // Gathers the patches of `count` outputs in the form that the microkernel reads.
  const auto spread = [&](size_t first, size_t count, char* to) {
    if (lines.applies()) return lines.spread(in, filled[0], first, count, to);
    const SpreadRows rows{to, static_cast<ptrdiff_t>(row_bytes)};
    OutputPositions position(g, static_cast<ptrdiff_t>(first));
    for (size_t i = 0; i < count; ++i, position.next(), to += row_bytes) {
      Sink sink{to, number, filled};
      reader.read(in, position.at(), sink);
    }
    return rows;
  };
  // Outputs with a constant stride are stored directly, others by store() from scratch memory.
  const auto target = [&](size_t first, ptrdiff_t* step) {
    *step = g.axes[2].out_stride;
    return out + static_cast<ptrdiff_t>(first) * *step;
  };
  const auto store = [&](size_t first, size_t count, const int8_t* from) {
    OutputPositions position(g, static_cast<ptrdiff_t>(first));
    for (size_t i = 0; i < count; ++i, position.next()) {
      int8_t* to = out + position.out_offset();
      for (ptrdiff_t c = 0; c < g.out_channels; ++c, to += g.out_channel_stride) *to = *from++;
    }
  };
  multiply_rows(context, product, scratch, stages(g), spread, target, store);
}

}  // namespace

std::optional<Error> quantized_convolution(KernelContext& context,
                                           const QuantizedConvolutionProblem& problem) {
  if constexpr (kHasInt16) {
    if (problem.type() == ScalarType::Short) return convolve_in_place<Int16Elements>(problem);
  }
  const ConvolutionGeometry g = geometry_of(problem);
  if (takes_channels(g)) return convolve_channels(context, g, problem);
  const std::optional<Weights> weights = weights_of(problem, g);
  if (!weights) return std::nullopt;
  const Int8Matrix& matrix = weights->matrix;
  const auto* panels = static_cast<const char*>(
      packed_panels(context, matrix, static_cast<size_t>(g.groups), g.weight_group_stride));
  const Int8Rows all = rows_of(problem, g, weights->order);
  char* scratch = all.take_scratch(context, stages(g));
  if (panels == nullptr || scratch == nullptr) return std::nullopt;
  // Groups share scratch memory, one after the other; threads share the rows of each.
  for (ptrdiff_t n = 0; n < g.batch; ++n) {
    for (ptrdiff_t group = 0; group < g.groups; ++group) {
      Int8Rows product = all;
      const ptrdiff_t channel = group * g.out_channels;
      product.panels = panels + static_cast<size_t>(group) * matrix.packed_bytes();
      if (product.bias != nullptr) product.bias += channel;
      product.to = columns_from(problem.to, static_cast<size_t>(channel));
      const int8_t* in = problem.input.const_data_ptr<int8_t>() + n * g.in_batch_stride +
                         group * g.in_channels * g.in_channel_stride;
      int8_t* out =
          problem.out.mutable_data_ptr<int8_t>() + n * g.out_batch_stride + channel * g.out_channel_stride;
      convolve_group(context, g, weights->order, product, scratch, in, out, problem.input_zero_point);
    }
  }
  return Error::Ok;
}

Error quantized_convolution_prepare(KernelContext& context, const QuantizedConvolutionProblem& problem) {
  context.need_products(
      convolution_products(problem.input, problem.weight, problem.out, problem.arguments.transposed));
  if (kHasInt16 && problem.type() == ScalarType::Short) return Error::Ok;  // packs nothing
  const ConvolutionGeometry g = geometry_of(problem);
  // Only constant weights are packed at load; others are packed in each call.
  const bool constant = is_constant(problem.weight);
  if (takes_channels(g)) {
    const PaddedLines lines(g);
    const size_t pointers = static_cast<size_t>(g.groups) + TapTable::bytes(g);
    const size_t seen = lines.applies() ? lines.bytes() * context.threads() : pointers;
    context.need_scratch(std::max(seen, pointers) + arranged_bytes(g) + 128);
    if (is_tap_major(g) || !constant) return Error::Ok;
    const uint64_t layout = layout_id(kTapsLayout, g.taps(), g.groups, g.weight_group_stride, tap_stride(g));
    auto* to =
        static_cast<int8_t*>(context.prepare(problem.weight.const_data_ptr(), layout, arranged_bytes(g)));
    if (to != nullptr) arrange_taps(g, problem.weight.const_data_ptr<int8_t>(), to);
    return Error::Ok;
  }
  const std::optional<Weights> weights = weights_of(problem, g);
  if (!weights) return Error::Ok;
  prepare_panels(context, weights->matrix, static_cast<size_t>(g.groups), g.weight_group_stride, constant,
                 rows_of(problem, g, weights->order).scratch_bytes(stages(g)) * context.threads());
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
