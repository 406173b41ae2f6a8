// SPDX-License-Identifier: BSD-3-Clause
// Convolution as products of pixels with panels of weights (implicit im2col). Inside the image the
// microkernel reads the input directly: the elements that one output sees in one row of the kernel are
// adjacent. Only at the border, or if channels are not adjacent, a strip of the image is copied with zero
// padding. Each panel is packed once and used for every pixel of the group.
#include "kernels/board/by_pixels.h"

#include <algorithm>

#include "kernels/geometry/image_channels.h"
#include "kernels/ukernel/panel.h"
#include "kernels/ukernel/patch.h"
#include "kernels/ukernel/spans.h"

namespace rushlight::kernels::board {

namespace {

constexpr ptrdiff_t kRows = ukernel::kPanelRows;
constexpr ptrdiff_t kColumns = ukernel::kPanelColumns;
constexpr ptrdiff_t kDepth = ukernel::kPanelDepth;
constexpr ptrdiff_t kImage = 640;  // floats of the padded copy of a part of the image: 2.5 KiB of stack
// Kernel rows with fewer elements than this make parts too short for the microkernel, so im2col is used.
constexpr ptrdiff_t kFewTaps = 8;
// Wide panels compute only the remaining columns; narrow ones overlap the panel before, which is quicker.
constexpr bool kWholePanels = kColumns <= 8;

// The part of the kernel whose weights are in the panel: rows x taps of a row x channels. The elements that
// an output sees in one row of it are adjacent in the image.
struct Piece {
  ptrdiff_t row;
  ptrdiff_t rows;
  ptrdiff_t tap;
  ptrdiff_t taps;
  ptrdiff_t channel;
  ptrdiff_t channels;
  bool first;
  bool last;
};

// A view of the image, or of a padded copy of a part of it.
struct Image {
  const float* data;
  ptrdiff_t row;     // row of the whole image that data starts at
  ptrdiff_t column;  // may be negative
  ptrdiff_t row_stride;
  ptrdiff_t column_stride;
};

struct Range {
  ptrdiff_t begin;
  ptrdiff_t end;
};

// Strides from one output of a row or column to the next.
struct Line {
  ptrdiff_t in;
  ptrdiff_t out;
};

// The outputs whose taps [tap, tap + taps) all read inside the image.
Range inside(const ConvolutionAxis& axis, ptrdiff_t tap, ptrdiff_t taps) {
  const ptrdiff_t first = axis.pad - tap * axis.dilation;
  const ptrdiff_t last = axis.in - 1 + axis.pad - (tap + taps - 1) * axis.dilation;
  const ptrdiff_t begin = std::min(first > 0 ? (first + axis.step - 1) / axis.step : 0, axis.out);
  const ptrdiff_t end = last < 0 ? 0 : std::min(last / axis.step + 1, axis.out);
  return {begin, std::max(begin, end)};
}

class ByPixels {
 public:
  explicit ByPixels(const PixelsConvolution& convolution)
      : c_(convolution), g_(*convolution.geometry), y_(g_.axes[1]), x_(g_.axes[2]) {
    is_adjacent_ = g_.in_channel_stride == 1 || g_.in_channels == 1;
  }

  // For each panel of output channels, goes through the pieces of the kernel, and for each piece through all
  // outputs: a panel is packed once, and outputs are read again for each further piece.
  void convolve() {
    const ptrdiff_t channels = g_.in_channels;
    const ptrdiff_t depth = g_.taps() * channels;
    // True if all outputs are one line with a constant stride, across the ends of rows.
    const bool rows_adjoin = y_.out == 1 || y_.out_stride == x_.out * x_.out_stride;
    // True if the taps of a kernel row are adjacent for one output: in the image, or in the copy that
    // channels which are not adjacent always go through.
    const bool adjacent = x_.dilation == 1 && (x_.in_stride == channels || !is_adjacent_);
    if (adjacent && is_adjacent_ && y_.kernel > 1 && x_.kernel * channels < kFewTaps && depth <= kDepth &&
        rows_adjoin) {
      return convolve_patches(depth);
    }
    // A panel then holds whole rows of the kernel; otherwise one tap, and of that at most kDepth channels.
    const bool adjoin = adjacent && x_.kernel * channels <= kDepth;
    const ptrdiff_t taps = adjoin ? x_.kernel : 1;
    const ptrdiff_t most_channels = std::min(channels, kDepth);
    // As many rows of the kernel as fit in the panel, and whose input for one output fits in the copy of the
    // image: ((rows - 1) * dilation + 1) * run floats.
    ptrdiff_t rows = 1;
    if (adjoin) {
      const ptrdiff_t run = taps * channels;
      rows = std::min({kDepth / run, (kImage / run - 1) / y_.dilation + 1, y_.kernel});
    }
    for (ptrdiff_t c = 0; c < g_.out_channels; c += kColumns) {
      take_columns(c);
      Piece piece;
      for (piece.row = 0; piece.row < y_.kernel; piece.row += rows) {
        piece.rows = std::min(rows, y_.kernel - piece.row);
        for (piece.tap = 0; piece.tap < x_.kernel; piece.tap += taps) {
          piece.taps = taps;
          for (piece.channel = 0; piece.channel < channels; piece.channel += most_channels) {
            piece.channels = std::min(most_channels, channels - piece.channel);
            // The first piece starts from the bias, the last one applies relu, all others add to the output.
            piece.first = piece.row + piece.tap + piece.channel == 0;
            piece.last = piece.row + piece.rows == y_.kernel && piece.tap + taps == x_.kernel &&
                         piece.channel + piece.channels == channels;
            add_piece(piece);
          }
        }
      }
    }
  }

 private:
  // im2col for kernels with few elements in a row: copies the patches of several outputs, then multiplies
  // them. Longer products outweigh the copy. Packs the panels again for each batch of patches.
  void convolve_patches(ptrdiff_t depth) {
    const Piece whole{0, y_.kernel, 0, x_.kernel, 0, g_.in_channels, true, true};
    const ptrdiff_t outputs = y_.out * x_.out;
    // The patches use the memory behind the panel.
    float* const patches = panel_ + depth * kColumns;
    const ptrdiff_t free_floats = kDepth * kColumns + kImage - depth * kColumns;
    // A multiple of the microkernel's rows, so only the last batch has a remainder.
    const ptrdiff_t most = std::max<ptrdiff_t>(free_floats / depth / kRows * kRows, 1);
    ukernel::PanelProduct product;
    product.left = patches;
    product.left_stride = depth;
    product.panel = panel_;
    product.depth = static_cast<size_t>(depth);
    product.out_stride = x_.out_stride;
    product.column_stride = 1;
    product.initial = initial_;
    product.rectify = c_.rectify;
    ptrdiff_t y = 0, x = 0;
    for (ptrdiff_t i = 0; i < outputs; i += most) {
      const ptrdiff_t count = std::min(most, outputs - i);
      for (ptrdiff_t j = 0; j < count; ++j) {
        take_patch(y, x, patches + j * depth);
        if (++x == x_.out) x = 0, ++y;
      }
      product.rows = static_cast<size_t>(count);
      for (ptrdiff_t c = 0; c < g_.out_channels; c += kColumns) {
        take_columns(c);
        pack(whole);
        product.columns = static_cast<size_t>(columns_);
        product.out = c_.out + i * x_.out_stride + column_;
        ukernel::multiply_panel(product);
      }
    }
  }

  // Copies the patch of one output: [rows x taps x channels], with zeros outside the image.
  void take_patch(ptrdiff_t y, ptrdiff_t x, float* to) const {
    const ptrdiff_t width = x_.kernel * g_.in_channels;
    const ptrdiff_t column = first_position(x_, x, false);
    const ptrdiff_t first = first_position(y_, y, false);
    // Clips the window to the image: rows [row, end), and of each the elements [left, right).
    const ptrdiff_t left = std::min(std::max<ptrdiff_t>(-column, 0), x_.kernel) * g_.in_channels;
    const ptrdiff_t right = std::min(x_.in - column, x_.kernel) * g_.in_channels;
    ptrdiff_t row = 0, end = y_.kernel;
    while (row < end && first + row * y_.dilation < 0) ++row;
    while (end > row && first + (end - 1) * y_.dilation >= y_.in) --end;
    const bool is_whole = end - row == y_.kernel && right - left == width;
    if (!is_whole) ukernel::fill_span(to, static_cast<size_t>(width * y_.kernel), 0);
    const float* from = c_.in + (first + row * y_.dilation) * y_.in_stride + column * x_.in_stride + left;
    if (row >= end || left >= right) return;
    ukernel::copy_block(to + row * width + left, {width, 1}, from, {y_.dilation * y_.in_stride, 1},
                        static_cast<size_t>(end - row), static_cast<size_t>(right - left));
  }

  // Selects the panel of output channels at c. With kWholePanels the last panel starts earlier, to be full.
  void take_columns(ptrdiff_t c) {
    columns_ = std::min(kColumns, g_.out_channels - c);
    column_ = c;
    if (kWholePanels && g_.out_channels >= kColumns) {
      column_ = std::min(c, g_.out_channels - kColumns);
      columns_ = kColumns;
    }
    if (c_.bias == nullptr) return ukernel::fill_span(initial_, kColumns, 0);
    ukernel::copy_span(initial_, c_.bias + column_, static_cast<size_t>(columns_));
  }

  void add_piece(const Piece& piece) {
    pack(piece);
    // Outputs in `quick` read the image in place; on both sides of it they read a padded copy. If the
    // channels are not adjacent, `quick` is empty and all outputs read the copy.
    const Image image{c_.in + piece.channel, 0, 0, y_.in_stride, x_.in_stride};
    const Range quick = is_adjacent_ ? inside(x_, piece.tap, piece.taps) : Range{0, 0};
    add_border(piece, {0, quick.begin});
    add_block(piece, quick, {0, y_.out}, image);
    add_border(piece, {quick.end, x_.out});
  }

  // Packs the panel: [rows x taps x channels][columns].
  void pack(const Piece& piece) {
    const ptrdiff_t step = piece.channels == 1 ? x_.kernel_stride : g_.weight_in_stride;
    // Merges axes that are contiguous in the weight: channels, then taps of a row, then rows.
    ptrdiff_t taps = piece.taps, rows = piece.rows, depth = piece.channels;
    if (depth == 1 || taps == 1 || x_.kernel_stride == depth * step) {
      depth *= taps;
      taps = 1;
      if (rows == 1 || y_.kernel_stride == depth * step) {
        depth *= rows;
        rows = 1;
      }
    }
    const float* weight = c_.weight + column_ * g_.weight_out_stride + piece.row * y_.kernel_stride +
                          piece.tap * x_.kernel_stride + piece.channel * g_.weight_in_stride;
    float* to = panel_;
    for (ptrdiff_t i = 0; i < rows; ++i, weight += y_.kernel_stride) {
      for (ptrdiff_t j = 0; j < taps; ++j, to += depth * kColumns) {
        ukernel::pack_panel(to, weight + j * x_.kernel_stride, g_.weight_out_stride, step,
                            static_cast<size_t>(columns_), static_cast<size_t>(depth));
      }
    }
  }

  // Elements of one image row that the outputs in `range` see through the piece, and image rows that one
  // output sees.
  [[nodiscard]] ptrdiff_t seen(const Piece& piece, Range range) const {
    return ((range.end - range.begin - 1) * x_.step + piece.taps) * piece.channels;
  }
  [[nodiscard]] ptrdiff_t reach(const Piece& piece) const { return (piece.rows - 1) * y_.dilation + 1; }

  [[nodiscard]] ptrdiff_t column_of(const Piece& piece, ptrdiff_t output) const {
    return first_position(x_, output, false) + piece.tap * x_.dilation;
  }

  // Adds the piece for output columns whose taps reach outside the image, from a zero-padded copy.
  void add_border(const Piece& piece, Range range) {
    if (range.begin == range.end) return;
    // A single tap that lies outside of the image contributes nothing: no copy is needed.
    if (piece.taps == 1 && is_adjacent_) {
      return add_block(piece, range, {0, y_.out}, {image_, 0, 0, 0, 0}, false);
    }
    // Blocks as wide as the copy allows for one row of outputs, then as high as it allows for that width.
    const ptrdiff_t height = reach(piece);
    const ptrdiff_t width = (kImage / height / piece.channels - piece.taps) / x_.step + 1;
    for (ptrdiff_t x = range.begin; x < range.end; x += width) {
      const Range columns{x, std::min(x + width, range.end)};
      const ptrdiff_t outputs = (kImage / seen(piece, columns) - height) / y_.step + 1;
      for (ptrdiff_t y = 0; y < y_.out; y += outputs) {
        const Range some{y, std::min(y + outputs, y_.out)};
        add_block(piece, columns, some, copied(piece, columns, some));
      }
    }
  }

  // Copies the input of a block of outputs, with zeros left and right of the image. Rows outside the image
  // are not copied: add_block() skips them. Precondition: the taps of a row are adjacent, or the channels are
  // not.
  Image copied(const Piece& piece, Range columns, Range rows) {
    const ptrdiff_t count = seen(piece, columns) / piece.channels;
    const ptrdiff_t column = column_of(piece, columns.begin);
    const ptrdiff_t begin = first_position(y_, rows.begin, false) + piece.row * y_.dilation;
    const ptrdiff_t end =
        first_position(y_, rows.end - 1, false) + (piece.row + piece.rows - 1) * y_.dilation + 1;
    const ptrdiff_t row_stride = count * piece.channels;
    const ptrdiff_t left = std::min(std::max<ptrdiff_t>(-column, 0), count);
    const ptrdiff_t middle = std::max<ptrdiff_t>(std::min(count, x_.in - column) - left, 0);
    for (ptrdiff_t i = std::max<ptrdiff_t>(begin, 0); i < std::min(end, y_.in); ++i) {
      float* to = image_ + (i - begin) * row_stride;
      const float* from = c_.in + piece.channel + i * y_.in_stride + (column + left) * x_.in_stride;
      ukernel::fill_span(to, static_cast<size_t>(left * piece.channels), 0);
      to += left * piece.channels;
      if (is_adjacent_) {
        ukernel::copy_span(to, from, static_cast<size_t>(middle * piece.channels));
      } else {
        ukernel::copy_block(to, {piece.channels, 1}, from, {x_.in_stride, g_.in_channel_stride},
                            static_cast<size_t>(middle), static_cast<size_t>(piece.channels));
      }
      to += middle * piece.channels;
      ukernel::fill_span(to, static_cast<size_t>((count - left - middle) * piece.channels), 0);
    }
    return {image_, begin, column, row_stride, piece.channels};
  }

  // Adds the piece to a block of outputs. Without `any` its columns see only padding, and just the initial
  // value and relu apply.
  void add_block(const Piece& piece, Range columns, Range rows, const Image& image, bool any = true) {
    const ptrdiff_t width = columns.end - columns.begin;
    ukernel::PanelProduct product;
    product.column_stride = 1;
    product.columns = static_cast<size_t>(columns_);
    product.part_stride = y_.dilation * image.row_stride;
    product.initial = piece.first ? initial_ : nullptr;
    product.rectify = piece.last && c_.rectify;
    const Line along_x{x_.step * image.column_stride, x_.out_stride};
    const Line along_y{y_.step * image.row_stride, y_.out_stride};
    // Output rows that see every row of the piece share one product; others are computed row by row.
    const Range whole = any ? inside(y_, piece.row, piece.rows) : rows;
    for (ptrdiff_t y = rows.begin, next; width > 0 && y < rows.end; y = next) {
      next = whole.begin <= y && y < whole.end ? std::min(whole.end, rows.end) : y + 1;
      const ptrdiff_t start = first_position(y_, y, false) + piece.row * y_.dilation;
      // Clips the piece to the rows [begin, end) of the kernel that are inside the image.
      ptrdiff_t begin = 0, end = any ? piece.rows : 0;
      while (begin < end && start + begin * y_.dilation < 0) ++begin;
      while (end > begin && start + (end - 1) * y_.dilation >= y_.in) --end;
      product.depth = static_cast<size_t>(piece.taps * piece.channels);
      product.parts = static_cast<size_t>(end - begin);
      // No row is inside: a product of depth 0 stores the initial value or applies relu.
      if (begin == end) {
        if (!piece.first && !product.rectify) continue;
        product.depth = 0;
        product.parts = 1;
      }
      product.panel = panel_ + begin * piece.taps * piece.channels * kColumns;
      const float* left = image.data + (start + begin * y_.dilation - image.row) * image.row_stride +
                          (column_of(piece, columns.begin) - image.column) * image.column_stride;
      float* out = c_.out + y * y_.out_stride + columns.begin * x_.out_stride + column_;
      // Goes along rows, except for the width % kRows remaining columns, which go along columns to fill the
      // rows of the microkernel.
      const ptrdiff_t height = next - y;
      const ptrdiff_t beside = height < kRows ? 0 : width % kRows;
      const ptrdiff_t within = width - beside;
      if (within > 0) multiply_lines(product, left, out, along_x, within, along_y, height);
      if (beside == 0) continue;
      multiply_lines(product, left + within * along_x.in, out + within * along_x.out, along_y, height,
                     along_x, beside);
    }
  }

  // One product for each of `lines` lines of `rows` outputs. `row` has the strides within a line, `line` the
  // strides between lines.
  static void multiply_lines(ukernel::PanelProduct& product, const float* left, float* out, Line row,
                             ptrdiff_t rows, Line line, ptrdiff_t lines) {
    product.left = left;
    product.left_stride = row.in;
    product.out = out;
    product.out_stride = row.out;
    product.rows = static_cast<size_t>(rows);
    for (; lines > 0; --lines, product.left += line.in, product.out += line.out) {
      ukernel::multiply_panel(product);
    }
  }

  const PixelsConvolution& c_;
  const ConvolutionGeometry& g_;
  const ConvolutionAxis& y_;
  const ConvolutionAxis& x_;
  bool is_adjacent_;      // the channels of a pixel
  ptrdiff_t column_ = 0;  // first output channel of the panel
  ptrdiff_t columns_ = 0;
  float initial_[kColumns] = {};
  alignas(16) float panel_[kDepth * kColumns + kImage];
  // The padded copy is behind the panel; convolve_patches() uses the memory of both.
  float* const image_ = panel_ + kDepth * kColumns;
};

}  // namespace

void convolve_pixels(const PixelsConvolution& convolution) { ByPixels(convolution).convolve(); }

}  // namespace rushlight::kernels::board
