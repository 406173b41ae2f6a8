// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/board/by_panels.h"

#include <algorithm>

#include "kernels/board/fill.h"
#include "kernels/ukernel/panel.h"

namespace rushlight::kernels::board {

namespace {

using ukernel::kPanelColumns;

constexpr ptrdiff_t kColumns = kPanelColumns;
constexpr ptrdiff_t kScratch = ukernel::kPanelDepth * kColumns;

// im2col for a few pixels: gathers their inputs to a panel [part][kColumns], and multiplies it by the weight
// [out channels][part], which is read in place. Reads all weights once for each kColumns pixels, and gathers
// each input once for each tap that sees it. Any axes, strides and dilation.
class Convolution {
 public:
  explicit Convolution(const ConvolutionGeometry& geometry) : g_(geometry), parts_(geometry) {
    const ConvolutionAxis* axes = g_.axes;
    flat_ = is_flat(g_);
    pixels_ = axes[0].out * axes[1].out * axes[2].out;
    const ptrdiff_t row = axes[2].out * axes[2].out_stride;
    adjoin_ = (axes[1].out == 1 || axes[1].out_stride == row) &&
              (axes[0].out == 1 || axes[0].out_stride == row * axes[1].out);
  }

  // One group of one element of the batch.
  void convolve(const float* in, const float* weight, const float* bias, float* out) {
    // If products cannot start from one value a row, they add to an output that holds the bias.
    bias_ = ukernel::kPanelSpreads ? bias : nullptr;
    for (ptrdiff_t c = 0; bias_ == nullptr && c < g_.out_channels; ++c) {
      fill_plane(out + c * g_.out_channel_stride, bias == nullptr ? 0 : bias[c]);
    }
    ptrdiff_t at[kSpatial] = {};
    for (ptrdiff_t done = 0; done < pixels_; done += count_) {
      float* to =
          out + at[0] * g_.axes[0].out_stride + at[1] * g_.axes[1].out_stride + at[2] * g_.axes[2].out_stride;
      take_pixels(at, pixels_ - done);
      add_kernel(in, weight, to);
    }
  }

 private:
  void fill_plane(float* out, float value) const {
    const ConvolutionAxis* axes = g_.axes;
    if (adjoin_) return fill(out, axes[2].out_stride, pixels_, value);
    for (ptrdiff_t z = 0; z < axes[0].out; ++z) {
      for (ptrdiff_t y = 0; y < axes[1].out; ++y) {
        fill(out + z * axes[0].out_stride + y * axes[1].out_stride, axes[2].out_stride, axes[2].out, value);
      }
    }
  }

  // Selects the next pixels of a panel, from position `at` on, and advances `at` past them.
  void take_pixels(ptrdiff_t* at, ptrdiff_t left) {
    const ConvolutionAxis* axes = g_.axes;
    const ptrdiff_t in_row = axes[2].out - at[2];
    // Unless the rows adjoin, a panel ends with its row.
    count_ = std::min(kColumns, adjoin_ ? left : in_row);
    in_line_ = flat_ && count_ <= in_row && axes[2].step == 1 && axes[2].in_stride == 1;
    for (size_t d = 0; d < kSpatial; ++d) at_[d] = at[d];
    take_window(0, at_);
    has_windows_ = false;
    // Advances past the pixels of the panel: to the next rows if it crosses their ends.
    at[2] += count_;
    for (size_t d = kSpatial - 1; d > 0 && at[d] >= axes[d].out; --d) {
      at[d - 1] += at[d] / axes[d].out;
      at[d] %= axes[d].out;
    }
  }

  // Windows of all selected pixels; pixels past them read zeros. A panel inside of the image needs none.
  void take_windows() {
    const ConvolutionAxis* axes = g_.axes;
    ptrdiff_t at[kSpatial] = {at_[0], at_[1], at_[2]};
    for (ptrdiff_t i = 0; i < kColumns; ++i) {
      if (i >= count_) {
        // Outside of the image, also after the offset of a tap is added, which must not overflow.
        windows_.row[i] = INT32_MIN / 2;
        continue;
      }
      take_window(i, at);
      for (size_t d = kSpatial; d-- > 0;) {
        if (++at[d] < axes[d].out || d == 0) break;
        at[d] = 0;
      }
    }
    has_windows_ = true;
  }

  void take_window(ptrdiff_t i, const ptrdiff_t* at) {
    const ConvolutionAxis* axes = g_.axes;
    if (!flat_) {
      for (size_t d = 0; d < kSpatial; ++d) {
        starts_[d][i] = static_cast<int32_t>(first_position(axes[d], at[d], false));
      }
      return;
    }
    const ptrdiff_t y = first_position(axes[1], at[1], false);
    const ptrdiff_t x = first_position(axes[2], at[2], false);
    windows_.row[i] = static_cast<int32_t>(y);
    windows_.column[i] = static_cast<int32_t>(x);
    windows_.offset[i] = static_cast<int32_t>(y * axes[1].in_stride + x * axes[2].in_stride);
  }

  // Adds the whole kernel to the selected pixels, for all output channels.
  void add_kernel(const float* in, const float* weight, float* out) {
    const ptrdiff_t taps = g_.taps();
    Part part = parts_.whole;
    for (part.channel = 0; part.channel < g_.in_channels; part.channel += parts_.whole.channels) {
      part.channels = std::min(parts_.whole.channels, g_.in_channels - part.channel);
      for (part.tap = 0; part.tap < taps; part.tap += parts_.whole.taps) {
        part.taps = std::min(parts_.whole.taps, taps - part.tap);
        const ptrdiff_t offset = gather(part, in);
        ukernel::PanelProduct product;
        product.left = weight + offset;
        product.left_stride = g_.weight_out_stride;
        product.panel = panel_;
        product.rows = static_cast<size_t>(g_.out_channels);
        product.depth = static_cast<size_t>(part.channels * part.taps);
        product.out = out;
        product.out_stride = g_.out_channel_stride;
        product.column_stride = g_.axes[2].out_stride;
        product.columns = static_cast<size_t>(count_);
        if (part.channel + part.tap == 0) product.initial_of_rows = bias_;
        ukernel::multiply_panel(product);
      }
    }
  }

  // Copies the input that the pixels see through a part of the kernel to the panel. Returns the offset of
  // that part in the weight.
  ptrdiff_t gather(const Part& part, const float* in) {
    // In narrow panels one walk through the window of each pixel is cheaper than a gather for each tap.
    if (kColumns < 8 && flat_ && g_.in_channels == 1 && part.taps == g_.taps() && part.taps > 1) {
      gather_windows(in + part.channel * g_.in_channel_stride);
      return part.channel * g_.weight_in_stride;
    }
    // Divides the index of the tap into its coordinates.
    ptrdiff_t k[kSpatial] = {0, 0, part.tap};
    for (size_t d = kSpatial - 1; d > 0; --d) {
      k[d - 1] = k[d] / g_.axes[d].kernel;
      k[d] -= k[d - 1] * g_.axes[d].kernel;
    }
    ptrdiff_t offset = part.channel * g_.weight_in_stride;
    for (size_t d = 0; d < kSpatial; ++d) offset += k[d] * g_.axes[d].kernel_stride;
    const float* from = in + part.channel * g_.in_channel_stride;
    // The panel has the order of the weight.
    const ptrdiff_t channel_step = (part.taps_first ? part.taps : 1) * kColumns;
    const ptrdiff_t tap_step = (part.taps_first ? 1 : part.channels) * kColumns;
    float* to = panel_;
    for (ptrdiff_t t = 0; t < part.taps; ++t, to += tap_step) {
      gather_tap(k, from, to, channel_step, part.channels);
      for (size_t d = kSpatial; d-- > 0;) {
        if (++k[d] < g_.axes[d].kernel) break;
        k[d] = 0;
      }
    }
    return offset;
  }

  void gather_tap(const ptrdiff_t* k, const float* in, float* to, ptrdiff_t step, ptrdiff_t channels) {
    const ConvolutionAxis* axes = g_.axes;
    ukernel::PanelPosition position = {in, g_.in_channel_stride, static_cast<size_t>(channels), 0, 0, 1, 1};
    if (flat_) {
      position.row = static_cast<int32_t>(k[1] * axes[1].dilation);
      position.column = static_cast<int32_t>(k[2] * axes[2].dilation);
      position.height = static_cast<uint32_t>(axes[1].in);
      position.width = static_cast<uint32_t>(axes[2].in);
      position.from += position.row * axes[1].in_stride + position.column * axes[2].in_stride;
      // The copy has no border tests. It reads kColumns inputs even if fewer pixels are selected, so all of
      // these must be inside; the unsigned comparison of y covers both borders.
      const int32_t x = windows_.column[0] + position.column;
      const auto y = static_cast<uint32_t>(windows_.row[0] + position.row);
      if (in_line_ && y < position.height && x >= 0 && x + kColumns <= axes[2].in) {
        return ukernel::copy_panel(to, step, position.from + windows_.offset[0], g_.in_channel_stride,
                                   position.channels);
      }
    }
    if (!has_windows_) take_windows();
    if (!flat_) {
      for (ptrdiff_t i = 0; i < count_; ++i) locate(k, i);
    }
    ukernel::gather_panel(to, step, windows_, position);
  }

  // The same for a one-channel kernel in one part: goes pixel by pixel.
  void gather_windows(const float* in) {
    if (!has_windows_) take_windows();
    const ConvolutionAxis& y = g_.axes[1];
    const ConvolutionAxis& x = g_.axes[2];
    for (ptrdiff_t i = 0; i < count_; ++i) {
      const float* from = in + windows_.offset[i];
      float* to = panel_ + i;
      ptrdiff_t row = windows_.row[i];
      for (ptrdiff_t j = y.kernel; j > 0; --j, row += y.dilation, from += y.dilation * y.in_stride) {
        const bool is_row = row >= 0 && row < y.in;
        ptrdiff_t column = windows_.column[i];
        const float* at = from;
        for (ptrdiff_t k = x.kernel; k > 0; --k, to += kColumns, at += x.dilation * x.in_stride) {
          *to = is_row && static_cast<size_t>(column) < static_cast<size_t>(x.in) ? *at : 0;
          column += x.dilation;
        }
      }
    }
  }

  // Sets window i to the one input position that pixel i sees through tap k, or to none.
  void locate(const ptrdiff_t* k, ptrdiff_t i) {
    ptrdiff_t offset = 0;
    windows_.row[i] = windows_.column[i] = 0;
    for (size_t d = 0; d < kSpatial; ++d) {
      const ptrdiff_t at = input_at(g_.axes[d], starts_[d][i], k[d], false);
      if (at < 0) windows_.row[i] = -1;
      offset += at * g_.axes[d].in_stride;
    }
    windows_.offset[i] = static_cast<int32_t>(offset);
  }

  const ConvolutionGeometry& g_;
  Parts parts_;
  ptrdiff_t pixels_;
  bool adjoin_;   // the end of a row continues at the pixel stride
  bool flat_;     // two axes: windows are computed once for a panel
  bool in_line_;  // the selected pixels read adjacent inputs for each tap
  ptrdiff_t count_ = 0;
  ptrdiff_t at_[kSpatial];       // position of the first selected pixel
  bool has_windows_ = false;     // windows_ has all selected pixels, not only the first
  const float* bias_ = nullptr;  // initial value of the sums; null: the output holds it
  ukernel::PanelWindows windows_;
  int32_t starts_[kSpatial][kPanelColumns];  // unless flat
  alignas(16) float panel_[kScratch];
};

}  // namespace

void convolve_panels(const ConvolutionGeometry& geometry, const ConvolutionData<float>& data) {
  Convolution convolution(geometry);
  for_each_group(geometry, data, [&](const ConvolutionData<float>& group) {
    convolution.convolve(group.in, group.weight, group.bias, group.out);
  });
}

}  // namespace rushlight::kernels::board
