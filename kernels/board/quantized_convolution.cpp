// SPDX-License-Identifier: BSD-3-Clause
// Products with the weights where they are, of pixels where they are, of parts of rows of the input that are
// put on the stack with their borders, or of patches that are put together there. Depthwise convolutions are
// computed by channels.
#include "kernels/backs/quantized_convolution.h"

#include <algorithm>
#include <cstring>

#include "kernels/board/int8_blocks.h"
#include "kernels/board/int8_channels.h"
#include "kernels/board/int8_tensors.h"
#include "kernels/geometry/patches.h"
#include "kernels/quantization/requantization.h"
#include "kernels/ukernel/int8_product.h"

namespace rushlight::kernels::board {

namespace {

constexpr ptrdiff_t kStagedBytes = 128;  // of outputs whose channels are apart

class ByProducts {
 public:
  // `patches` are memory for what outputs see, where it has to be put together.
  ByProducts(const ConvolutionGeometry& g, PatchOrder order, int32_t input_zero_point, int8_t* patches,
             size_t patch_bytes)
      : g_(g),
        order_(order),
        zero_point_(input_zero_point),
        patches_(patches),
        patch_bytes_(static_cast<ptrdiff_t>(patch_bytes)) {
    product_.depth = static_cast<size_t>(g.taps() * g.in_channels);
  }

  // Whether what one output sees fits.
  [[nodiscard]] bool fits() const {
    return sees_pixels(g_) || static_cast<ptrdiff_t>(product_.depth) <= patch_bytes_;
  }

  // Some output channels of one group; `tensors` are at the first of them.
  void convolve(const Int8Tensors& tensors, ptrdiff_t columns, ptrdiff_t right_stride,
                const ukernel::Requantization& to) {
    tensors_ = tensors;
    columns_ = columns;
    product_.right_stride = right_stride;
    to_ = to;
    if (sees_pixels(g_)) return convolve_pixels();
    if (ukernel::kInt8ProductParts && sees_bands(g_, order_)) return convolve_bands();
    convolve_patches();
  }

 private:
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

  // Rows of the input that some outputs of a row see, with what lies outside of them: a band. What an output
  // sees of it are parts, a row of taps each, where they lie.
  void convolve_bands() {
    const ConvolutionAxis& row = g_.axes[2];
    const ptrdiff_t kernel = row.kernel, channels = g_.in_channels;
    const ptrdiff_t parts = g_.taps() / kernel;
    const ptrdiff_t fitting = (patch_bytes_ / (parts * channels) - kernel) / row.step + 1;
    constexpr ptrdiff_t kRows = ukernel::kInt8ProductRows;
    const ptrdiff_t most = fitting > kRows ? fitting / kRows * kRows : fitting;
    PatchReader<int8_t, Sink> reader(g_, order_);
    product_.left = patches_;
    product_.left_stride = row.step * channels;
    product_.depth = static_cast<size_t>(kernel * channels);
    product_.parts = static_cast<size_t>(parts);
    const ptrdiff_t outputs = g_.axes[0].out * g_.axes[1].out * row.out;
    OutputPositions position(g_, 0);
    for (ptrdiff_t i = 0; i < outputs;) {
      const ptrdiff_t count = std::min(most, row.out - i % row.out);
      const ptrdiff_t width = (count - 1) * row.step + kernel;
      reader.set_width(width);
      product_.part_stride = width * channels;
      int8_t* out = tensors_.out + position.out_offset();
      Sink sink{patches_, zero_point_};
      reader.read(tensors_.in, position.at(), sink);
      multiply(out, count);
      i += count;
      position.skip(count);
    }
  }

  struct Sink {
    int8_t* to;
    int32_t zero_point;
    void copy(const int8_t* from, ptrdiff_t count, ptrdiff_t step) {
      if (step == 1) {
        std::memcpy(to, from, static_cast<size_t>(count));
        to += count;
        return;
      }
      for (; count > 0; --count, from += step) *to++ = *from;
    }
    void fill(ptrdiff_t count) {
      std::memset(to, zero_point, static_cast<size_t>(count));
      to += count;
    }
  };

  void convolve_patches() {
    const auto depth = static_cast<ptrdiff_t>(product_.depth);
    const ptrdiff_t outputs = g_.axes[0].out * g_.axes[1].out * g_.axes[2].out;
    const ptrdiff_t line = outputs_in_line(g_);
    constexpr ptrdiff_t kRows = ukernel::kInt8ProductRows;
    const ptrdiff_t fitting = patch_bytes_ / std::max<ptrdiff_t>(depth, 1);
    const ptrdiff_t most = fitting > kRows ? fitting / kRows * kRows : std::max<ptrdiff_t>(fitting, 1);
    const PatchReader<int8_t, Sink> reader(g_, order_);
    product_.left = patches_;
    product_.left_stride = depth;
    OutputPositions position(g_, 0);
    for (ptrdiff_t i = 0; i < outputs;) {
      const ptrdiff_t count = std::min(most, line - i % line);
      int8_t* out = tensors_.out + position.out_offset();
      Sink sink{patches_, zero_point_};
      for (ptrdiff_t j = 0; j < count; ++j, position.next()) reader.read(tensors_.in, position.at(), sink);
      multiply(out, count);
      i += count;
    }
  }

  // Rows of the left factor at hand become outputs at equal steps.
  void multiply(int8_t* out, ptrdiff_t rows) {
    const ptrdiff_t step = g_.axes[2].out_stride;
    if (g_.out_channel_stride == 1 || columns_ == 1) {
      product_.rows = static_cast<size_t>(rows);
      product_.columns = static_cast<size_t>(columns_);
      product_.right = tensors_.weight;
      product_.bias = tensors_.bias;
      product_.to = to_;
      product_.out = out;
      product_.out_stride = step;
      return ukernel::multiply_int8(product_);
    }
    multiply_staged(out, rows);
  }

  // By way of the stack, where they are side by side.
  [[gnu::noinline]] void multiply_staged(int8_t* out, ptrdiff_t rows) {
    const ptrdiff_t step = g_.axes[2].out_stride;
    int8_t staged[kStagedBytes];
    const int8_t* left = product_.left;
    const ptrdiff_t columns = std::min<ptrdiff_t>(columns_, kStagedBytes / 8);
    const ptrdiff_t most = kStagedBytes / columns;
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
        ukernel::multiply_int8(product_);
        scatter(staged, out + i * step + c * g_.out_channel_stride);
      }
    }
    product_.left = left;
  }

  void scatter(const int8_t* staged, int8_t* out) const {
    for (size_t i = 0; i < product_.rows; ++i, out += g_.axes[2].out_stride) {
      int8_t* to = out;
      for (size_t j = 0; j < product_.columns; ++j, to += g_.out_channel_stride) *to = *staged++;
    }
  }

  const ConvolutionGeometry& g_;
  PatchOrder order_;
  int32_t zero_point_;
  ukernel::Int8Product product_;
  Int8Tensors tensors_{};
  ptrdiff_t columns_ = 0;
  ukernel::Requantization to_;
  int8_t* patches_;
  ptrdiff_t patch_bytes_;
};

// How the weights of one group lie: the order of their elements, and the distance between these.
struct Lie {
  PatchOrder order;
  ptrdiff_t step;
};
std::optional<Lie> lie_of(const ConvolutionGeometry& g) {
  for (const ptrdiff_t step : {ptrdiff_t{1}, g.groups * g.out_channels, g.out_channels}) {
    if (const std::optional<PatchOrder> order = patch_order(g, step)) return Lie{*order, step};
  }
  return std::nullopt;
}

[[gnu::noinline]] bool convolve_products(const ConvolutionGeometry& g, const Lie& lie,
                                         const QuantizedConvolutionProblem& problem, int8_t* patches,
                                         size_t patch_bytes) {
  ByProducts products(g, lie.order, problem.input_zero_point, patches, patch_bytes);
  if (!products.fits()) return false;
  for (ptrdiff_t n = 0; n < g.batch; ++n) {
    const Int8Tensors all = tensors_at(problem, g, n);
    for (ptrdiff_t group = 0; group < g.groups; ++group) {
      const Int8Weights weights{all.weight + group * g.weight_group_stride, g.weight_out_stride, lie.step,
                                static_cast<size_t>(g.out_channels),
                                static_cast<size_t>(g.taps() * g.in_channels)};
      const bool done = for_each_block(
          weights, [&](size_t first, size_t columns, const int8_t* right, ptrdiff_t right_stride) {
            const ptrdiff_t channel = group * g.out_channels + static_cast<ptrdiff_t>(first);
            Int8Tensors tensors = all;
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

}  // namespace

std::optional<Error> quantized_convolution(KernelContext&, const QuantizedConvolutionProblem& problem) {
  const ConvolutionGeometry g =
      convolution_geometry(problem.input, problem.weight, problem.arguments, problem.out);
  if (takes_int8_channels(g)) {
    convolve_int8_channels(g, problem);
    return Error::Ok;
  }
  const std::optional<Lie> lie = lie_of(g);
  if (!lie) return std::nullopt;
  const auto convolve = [&](int8_t* patches, size_t bytes) {
    return convolve_products(g, *lie, problem, patches, bytes);
  };
  const auto depth = static_cast<size_t>(g.taps() * g.in_channels);
  if (!(sees_pixels(g) ? convolve(nullptr, 0) : with_memory(4 * depth, convolve))) return std::nullopt;
  return Error::Ok;
}

}  // namespace rushlight::kernels::board
