// SPDX-License-Identifier: BSD-3-Clause
// Quantized convolutions without packing or scratch memory: products with the weights as stored. The left
// factor is the input itself (pointwise), a band of input rows with its padding on the stack, or im2col
// patches on the stack. Depthwise convolutions go by channels (filter_in_place.h).
//
// For boards, whose memory has no space for a second copy of the weights, and on the host for int16.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels/backs/quantized_convolution.h"
#include "kernels/geometry/patches.h"
#include "kernels/int8/convolution_tensors.h"
#include "kernels/int8/filter_in_place.h"
#include "kernels/int8/numbers.h"
#include "kernels/int8/weight_blocks.h"
#include "kernels/quantization/requantization.h"

namespace rushlight::kernels {

namespace in_place {

// Larger values only save calls of the microkernel; the stack grows by this number of elements.
inline constexpr ptrdiff_t kStagedElements = 128;  // staged outputs, if channels are not adjacent

// Computes groups of a convolution as products: rows are outputs, columns are output channels, and the depth
// is taps * input channels of the group. Numbers is Int8Elements or Int16Elements. Precondition: the group's
// weights have the order `order`.
template <class Numbers>
class ByProducts {
  using Element = typename Numbers::Element;

 public:
  // `patches` is memory of `patch_size` elements for bands or patches; it may be null if sees_pixels(g).
  // Keeps references to `g` and `patches`.
  ByProducts(const ConvolutionGeometry& g, PatchOrder order, int32_t input_zero_point, Element* patches,
             size_t patch_size)
      : g_(g),
        order_(order),
        zero_point_(input_zero_point),
        patches_(patches),
        patch_size_(static_cast<ptrdiff_t>(patch_size)) {
    product_.depth = static_cast<size_t>(g.taps() * g.in_channels);
  }

  // True if the patch of one output fits in that memory. convolve() requires it: a band of one output is as
  // large as its patch.
  [[nodiscard]] bool fits() const {
    return sees_pixels(g_) || static_cast<ptrdiff_t>(product_.depth) <= patch_size_;
  }

  // Computes `columns` output channels of one group; `tensors` points to the first of them, and its weights
  // have `right_stride` elements from column to column. Called once for each block of columns that
  // for_each_block() copies, so bands and patches are gathered again for each block.
  void convolve(const Tensors<Numbers>& tensors, ptrdiff_t columns, ptrdiff_t right_stride,
                const ukernel::Requantization& to) {
    tensors_ = tensors;
    columns_ = columns;
    product_.right_stride = right_stride;
    to_ = to;
    // The layout selects the left factor, from the cheapest: the input itself, a band, patches.
    if (sees_pixels(g_)) return convolve_pixels();
    if constexpr (Numbers::kParts) {
      if (has_bands(g_, order_)) return convolve_bands();
    }
    convolve_patches();
  }

 private:
  // A row of outputs is one product; its left stride is the convolution's step times the pixel stride.
  void convolve_pixels() {
    const ConvolutionAxis& row = g_.axes[2];
    product_.left_stride = row.in_stride * row.step;
    for (ptrdiff_t i = 0; i < g_.axes[0].out; ++i) {
      for (ptrdiff_t j = 0; j < g_.axes[1].out; ++j) {
        product_.left = tensors_.in + i * g_.axes[0].step * g_.axes[0].in_stride +
                        j * g_.axes[1].step * g_.axes[1].in_stride;
        multiply(tensors_.out + i * g_.axes[0].out_stride + j * g_.axes[1].out_stride, row.out);
      }
    }
  }

  // Copies the input rows that some outputs see, with padding: a band. The patch of an output is then one
  // span of the band for each row of taps, read in place, so overlapping windows share the copied pixels:
  //
  //   band          [rows of taps][width][channels], width = (count - 1) * step + kernel
  //   output x      starts step * channels elements after output x - 1   (left_stride)
  //   row of taps   starts width * channels elements after the one above (part_stride)
  void convolve_bands() {
    const ConvolutionAxis& line = g_.axes[1];
    const ConvolutionAxis& row = g_.axes[2];
    const ptrdiff_t channels = g_.in_channels;
    const ptrdiff_t parts = g_.taps() / row.kernel;
    // Outputs of a row whose band fits: parts * channels * ((fitting - 1) * step + kernel) <= patch_size_. At
    // least 1 because fits(). Whole multiples of kRows, which the microkernel computes together.
    const ptrdiff_t fitting = (patch_size_ / (parts * channels) - row.kernel) / row.step + 1;
    constexpr ptrdiff_t kRows = Numbers::kRows;
    const ptrdiff_t most = fitting > kRows ? fitting / kRows * kRows : fitting;
    // Several whole lines only if a line fits whole; otherwise pieces of one line.
    const ptrdiff_t most_lines = fitting < row.out ? 1 : lines_of_band();
    PatchReader<Element, Sink> reader(g_, order_);
    // A product with parts: row x of the left factor is `parts` spans of row.kernel * channels elements.
    product_.left = patches_;
    product_.left_stride = row.step * channels;
    product_.depth = static_cast<size_t>(row.kernel * channels);
    product_.parts = static_cast<size_t>(parts);
    const ptrdiff_t outputs = g_.axes[0].out * line.out * row.out;
    OutputPositions position(g_, 0);
    for (ptrdiff_t i = 0; i < outputs;) {
      const ptrdiff_t lines = std::min(most_lines, line.out - position.at()[1]);
      const ptrdiff_t count = lines > 1 ? row.out : std::min(most, row.out - i % row.out);
      const ptrdiff_t width = (count - 1) * row.step + row.kernel;
      // The band covers the windows of all outputs of the call.
      reader.set_taps((lines - 1) * line.step + line.kernel, width);
      product_.part_stride = width * channels;
      product_.line_rows = static_cast<size_t>(count);
      product_.line_stride = line.step * product_.part_stride;
      Element* out = tensors_.out + position.out_offset();
      Sink sink{patches_, zero_point_};
      reader.read(tensors_.in, position.at(), sink);
      multiply(out, lines * count);
      i += lines * count;
      position.skip(lines * count);
    }
  }

  // The number of whole output rows that share a band: more than one only if the outputs have a constant
  // stride across rows, and so have their bands (dilation 1, no depth axis). Long calls matter for small
  // images, whose rows are shorter than the microkernel's block.
  [[nodiscard]] ptrdiff_t lines_of_band() const {
    const ConvolutionAxis& line = g_.axes[1];
    const ConvolutionAxis& row = g_.axes[2];
    const bool adjoin = outputs_in_line(g_) > row.out && !is_staged();
    if (!adjoin || line.dilation > 1 || g_.axes[0].kernel > 1) return 1;
    const ptrdiff_t width = (row.out - 1) * row.step + row.kernel;
    return (patch_size_ / (width * g_.in_channels) - line.kernel) / line.step + 1;
  }

  // Appends patch elements to `to`; see PatchReader. Padding is the input's zero point, which is the
  // quantized 0.
  struct Sink {
    Element* to;
    int32_t zero_point;  // 0 for elements of more than a byte
    void copy(const Element* from, ptrdiff_t count, ptrdiff_t step) {
      if (step == 1) {
        std::memcpy(to, from, static_cast<size_t>(count) * sizeof(Element));
        to += count;
        return;
      }
      for (; count > 0; --count, from += step) *to++ = *from;
    }
    void fill(ptrdiff_t count) {
      std::memset(to, zero_point, static_cast<size_t>(count) * sizeof(Element));
      to += count;
    }
  };

  // im2col for blocks of outputs: the fallback for dilated rows, channels-first inputs and transposed
  // convolutions. Outputs of a call lie in one line, so their results have one stride.
  void convolve_patches() {
    const auto depth = static_cast<ptrdiff_t>(product_.depth);
    const ptrdiff_t outputs = g_.axes[0].out * g_.axes[1].out * g_.axes[2].out;
    const ptrdiff_t line = outputs_in_line(g_);
    constexpr ptrdiff_t kRows = Numbers::kRows;
    // As many patches as fit, in whole multiples of the rows that the microkernel computes together. A depth
    // of 0 is allowed.
    const ptrdiff_t fitting = patch_size_ / std::max<ptrdiff_t>(depth, 1);
    const ptrdiff_t most = fitting > kRows ? fitting / kRows * kRows : std::max<ptrdiff_t>(fitting, 1);
    const PatchReader<Element, Sink> reader(g_, order_);
    product_.left = patches_;
    product_.left_stride = depth;
    OutputPositions position(g_, 0);
    for (ptrdiff_t i = 0; i < outputs;) {
      const ptrdiff_t count = std::min(most, line - i % line);
      Element* out = tensors_.out + position.out_offset();
      Sink sink{patches_, zero_point_};
      for (ptrdiff_t j = 0; j < count; ++j, position.next()) reader.read(tensors_.in, position.at(), sink);
      multiply(out, count);
      i += count;
    }
  }

  // Multiplies `rows` rows of the current left factor; the outputs have a constant stride.
  void multiply(Element* out, ptrdiff_t rows) {
    const ptrdiff_t step = g_.axes[2].out_stride;
    if (!is_staged()) {
      product_.rows = static_cast<size_t>(rows);
      product_.columns = static_cast<size_t>(columns_);
      product_.right = tensors_.weight;
      product_.bias = tensors_.bias;
      product_.to = to_;
      product_.out = out;
      product_.out_stride = step;
      return Numbers::multiply(product_);
    }
    multiply_staged(out, rows);
  }

  // True if output channels are not adjacent, as the product stores them.
  [[nodiscard]] bool is_staged() const { return g_.out_channel_stride != 1 && columns_ != 1; }

  // Stores results on the stack, where channels are adjacent, and scatters them. For channels-first outputs;
  // noinline, so that other layouts do not pay for the stack memory.
  [[gnu::noinline]] void multiply_staged(Element* out, ptrdiff_t rows) {
    const ptrdiff_t step = g_.axes[2].out_stride;
    Element staged[kStagedElements];
    const Element* left = product_.left;
    // At most 16 columns, so at least 8 rows: a call with few rows costs more for each.
    const ptrdiff_t columns = std::min<ptrdiff_t>(columns_, kStagedElements / 8);
    const ptrdiff_t most = kStagedElements / columns;
    product_.out = staged;
    for (ptrdiff_t i = 0; i < rows; i += most) {
      product_.rows = static_cast<size_t>(std::min(most, rows - i));
      product_.left = left + i * product_.left_stride;
      for (ptrdiff_t c = 0; c < columns_; c += columns) {
        product_.columns = static_cast<size_t>(std::min(columns, columns_ - c));
        product_.out_stride = static_cast<ptrdiff_t>(product_.columns);
        product_.right = tensors_.weight + c * product_.right_stride;
        product_.bias = tensors_.bias == nullptr ? nullptr : tensors_.bias + c;
        product_.to = columns_from(to_, static_cast<size_t>(c));
        Numbers::multiply(product_);
        scatter(staged, out + i * step + c * g_.out_channel_stride);
      }
    }
    product_.left = left;
  }

  // Moves a [rows, columns] block from the stack to outputs with a channel stride.
  void scatter(const Element* staged, Element* out) const {
    for (size_t i = 0; i < product_.rows; ++i, out += g_.axes[2].out_stride) {
      Element* to = out;
      for (size_t j = 0; j < product_.columns; ++j, to += g_.out_channel_stride) *to = *staged++;
    }
  }

  const ConvolutionGeometry& g_;
  PatchOrder order_;
  int32_t zero_point_;
  typename Numbers::Product product_;
  Tensors<Numbers> tensors_{};
  ptrdiff_t columns_ = 0;
  ukernel::Requantization to_;
  Element* patches_;
  ptrdiff_t patch_size_;
};

// The layout of one group's weights: order of the elements, and their stride. Elements of one output channel
// are at k * step in that order, k < taps * input channels.
struct WeightLayout {
  PatchOrder order;
  ptrdiff_t step;
};
// The layout of the weights; none if their elements have neither stride 1 nor the stride of the channels.
// Step 1 is the usual [O, I, kH, kW] and [O, kH, kW, I]; the others have output channels innermost, for
// instance the weights of transposed convolutions.
inline std::optional<WeightLayout> weight_layout_of(const ConvolutionGeometry& g) {
  for (const ptrdiff_t step : {ptrdiff_t{1}, g.groups * g.out_channels, g.out_channels}) {
    if (const std::optional<PatchOrder> order = patch_order(g, step)) return WeightLayout{*order, step};
  }
  return std::nullopt;
}

// Computes all groups of all batch elements. Returns false if a patch or a weight column exceeds the stack
// buffer; nothing is written then, because every group has the same sizes. noinline, so that its stack memory
// is not part of every call.
template <class Numbers>
[[gnu::noinline]] bool convolve_products(const ConvolutionGeometry& g, const WeightLayout& layout,
                                         const QuantizedConvolutionProblem& problem,
                                         typename Numbers::Element* patches, size_t patch_size) {
  ByProducts<Numbers> products(g, layout.order, problem.input_zero_point, patches, patch_size);
  if (!products.fits()) return false;
  for (ptrdiff_t n = 0; n < g.batch; ++n) {
    const Tensors<Numbers> all = tensors_at<Numbers>(problem, g, n);
    // Batch by batch and group by group; the weights of a group are copied again for each batch element if
    // they are not contiguous.
    for (ptrdiff_t group = 0; group < g.groups; ++group) {
      const Int8Weights weights{all.weight + group * g.weight_group_stride, g.weight_out_stride, layout.step,
                                static_cast<size_t>(g.out_channels),
                                static_cast<size_t>(g.taps() * g.in_channels)};
      const bool done = for_each_block(
          weights, [&](size_t first, size_t columns, const int8_t* right, ptrdiff_t right_stride) {
            const ptrdiff_t channel = group * g.out_channels + static_cast<ptrdiff_t>(first);
            // The block's first channel: offsets the tensors and the requantization.
            Tensors<Numbers> tensors = all;
            tensors.in += group * g.in_channels * g.in_channel_stride;
            tensors.weight = right;
            tensors.out += channel * g.out_channel_stride;
            if (tensors.bias != nullptr) tensors.bias += channel;
            products.convolve(tensors, static_cast<ptrdiff_t>(columns), right_stride,
                              columns_from(problem.to, static_cast<size_t>(channel)));
          });
      if (!done) return false;
    }
  }
  return true;
}

}  // namespace in_place

// Computes the convolution, for any layout of input and output. Declines if the weights of a channel have no
// constant stride, or if the patch of one output, or weights that have to be copied first, exceed the stack
// buffer of kMostElements. Precondition: the front has proven that sums do not overflow; the zero point of
// int16 inputs is 0. Needs at most two such buffers of stack, one for patches and one for weights.
template <class Numbers>
[[nodiscard]] [[gnu::always_inline]] inline std::optional<Error> convolve_in_place(
    const QuantizedConvolutionProblem& problem) {
  const ConvolutionGeometry g =
      convolution_geometry(problem.input, problem.weight, problem.arguments, problem.out);
  // Depthwise first: as products, groups of one channel would have a single column each.
  if (in_place::filters_in_place(g)) {
    in_place::filter_in_place<Numbers>(g, problem);
    return Error::Ok;
  }
  const std::optional<in_place::WeightLayout> layout = in_place::weight_layout_of(g);
  if (!layout) return std::nullopt;
  using Element = typename Numbers::Element;
  const auto convolve = [&](Element* patches, size_t size) {
    return in_place::convolve_products<Numbers>(g, *layout, problem, patches, size);
  };
  // Asks for the memory of four patches; convolve_products() needs one.
  const auto depth = static_cast<size_t>(g.taps() * g.in_channels);
  if (!(sees_pixels(g) ? convolve(nullptr, 0) : with_memory<Element>(4 * depth, convolve)))
    return std::nullopt;
  return Error::Ok;
}

}  // namespace rushlight::kernels
