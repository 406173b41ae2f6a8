// SPDX-License-Identifier: BSD-3-Clause
// Spreading (widening, and reordering for the microkernel) costs more than a copy, and overlapping patches
// share inputs. So each input line is spread once for a block, and patches are copied, or only located, in
// spread form.
#include "kernels/host/int8/int8_lines.h"

#include <algorithm>
#include <cstring>

namespace rushlight::kernels::host {

namespace {

constexpr size_t kPiece = 16;             // bytes copied at a time; the last copy may exceed the end
constexpr size_t kSlack = 64;             // bytes behind lines and patches that copies and products may touch
constexpr ptrdiff_t kFilled = 256;        // padding elements that are spread at a time
constexpr ptrdiff_t kMost = 1 << 20;      // bytes
constexpr ptrdiff_t kMostSpan = 1 << 16;  // limit of lines, pixels, channels: no overflow

// The number of inputs that `outputs` adjacent outputs see on an axis.
ptrdiff_t span_of(const ConvolutionAxis& axis, ptrdiff_t outputs) {
  return (outputs - 1) * axis.step + (axis.kernel - 1) * axis.dilation + 1;
}

bool is_small(const ConvolutionAxis& axis) {
  return axis.out < kMostSpan && axis.step < kMostSpan && axis.kernel < kMostSpan &&
         axis.dilation < kMostSpan;
}

// In pieces of 16 bytes, each a vector load and store; lines and patches have kSlack bytes behind them for
// the last one.
void copy(const char* from, char* to, size_t count) {
  for (size_t i = 0; i < count; i += kPiece) std::memcpy(to + i, from + i, kPiece);
}

void spread_padding(int8_t zero_point, ptrdiff_t count, char* to) {
  const auto number = static_cast<ptrdiff_t>(ukernel::int8_spread_bytes());
  int8_t filled[kFilled];
  std::memset(filled, zero_point, static_cast<size_t>(std::min(count, kFilled)));
  for (; count > 0; count -= kFilled, to += kFilled * number) {
    ukernel::spread_int8(to, filled, static_cast<size_t>(std::min(count, kFilled)));
  }
}

}  // namespace

Int8Lines::Int8Lines(const ConvolutionGeometry& g, PatchOrder order, size_t block)
    : g_(g),
      down_(g.axes[1]),
      across_(g.axes[2]),
      pixel_(g.in_channels * static_cast<ptrdiff_t>(ukernel::int8_spread_bytes())),
      row_(static_cast<ptrdiff_t>(ukernel::int8_gemm_depth(static_cast<size_t>(g.taps() * g.in_channels)) *
                                  ukernel::int8_spread_bytes())),
      is_direct_(false),
      in_parts_(false),
      bytes_(0) {
  const ConvolutionAxis& outer = g.axes[0];
  const bool is_flat = outer.out == 1 && outer.in == 1 && outer.kernel == 1 && outer.pad == 0;
  const bool has_pixels = g.in_channel_stride == 1 || g.in_channels == 1;
  const bool in_order = order == PatchOrder::kTapsThenChannels || g.in_channels == 1;
  const bool is_small_enough = is_small(down_) && g.in_channels < kMostSpan && across_.step < kMostSpan &&
                               across_.kernel < kMostSpan && across_.dilation < kMostSpan;
  if (g.transposed || !is_flat || !has_pixels || !in_order || !is_small_enough || block == 0) return;
  const auto most = static_cast<ptrdiff_t>(block);
  // The largest area of input that a block of outputs can see: a part of one line, or several whole lines.
  const bool in_a_line = across_.out >= most;
  const ptrdiff_t outputs = in_a_line ? std::min(most, across_.out) : across_.out;
  const ptrdiff_t lines = in_a_line ? 1 : std::min((most - 1) / across_.out + 2, down_.out);
  const ptrdiff_t in_lines = span_of(down_, lines), columns = span_of(across_, outputs);
  if (in_lines > kMost || columns > kMost || in_lines * columns > kMost ||
      in_lines * columns * pixel_ > kMost) {
    return;
  }
  const bool is_run = across_.kernel == 1 || across_.dilation == 1;
  const auto run = static_cast<size_t>(across_.kernel * g.in_channels);
  // The spread line itself is the matrix: patches overlap in memory, `step` pixels apart.
  is_direct_ = in_a_line && down_.kernel == 1 && is_run;
  // The microkernel takes an offset for each patch and reads a part of it from each spread line. Parts must
  // need no padding of their depth.
  in_parts_ = ukernel::kInt8GemmParts && !is_direct_ && is_run && down_.kernel > 0 &&
              (down_.kernel == 1 || ukernel::int8_gemm_depth(run) == run);
  const size_t each = in_parts_ ? sizeof(ptrdiff_t) : static_cast<size_t>(row_);  // bytes for each patch
  bytes_ = bytes_of(in_lines, columns) + (is_direct_ ? 0 : block * each + kSlack);
}

size_t Int8Lines::bytes_of(ptrdiff_t lines, ptrdiff_t columns) const {
  return (static_cast<size_t>(lines * columns * pixel_) + kSlack + 63) / 64 * 64;
}

Int8Lines::Part Int8Lines::part_of(ptrdiff_t first, ptrdiff_t count) const {
  // The lines and columns of input that outputs [first, first + count) see; columns of whole lines if there
  // are several.
  const ptrdiff_t line = first / across_.out;
  const ptrdiff_t lines = (first + count - 1) / across_.out - line + 1;
  const bool in_a_line = lines == 1;
  const ptrdiff_t column = in_a_line ? first % across_.out : 0;
  return {line * down_.step - down_.pad, span_of(down_, lines), column * across_.step - across_.pad,
          span_of(across_, in_a_line ? count : across_.out)};
}

void Int8Lines::spread_line(const int8_t* in, int8_t zero_point, ptrdiff_t line, const Part& part,
                            char* to) const {
  const ptrdiff_t channels = g_.in_channels;
  const bool is_outside = line < 0 || line >= down_.in;
  const ptrdiff_t left = is_outside ? part.columns : std::clamp<ptrdiff_t>(-part.column, 0, part.columns);
  const ptrdiff_t end = std::clamp<ptrdiff_t>(across_.in - part.column, left, part.columns);
  // [left, end) is inside the image; both sides of it are padding.
  if (left > 0) spread_padding(zero_point, left * channels, to);
  if (end > left) {
    const int8_t* from = in + line * down_.in_stride + (part.column + left) * across_.in_stride;
    char* at = to + left * pixel_;
    if (across_.in_stride == channels) {
      ukernel::spread_int8(at, from, static_cast<size_t>((end - left) * channels));
    } else {
      for (ptrdiff_t i = left; i < end; ++i, from += across_.in_stride, at += pixel_) {
        ukernel::spread_int8(at, from, static_cast<size_t>(channels));
      }
    }
  }
  if (end < part.columns) spread_padding(zero_point, (part.columns - end) * channels, to + end * pixel_);
}

template <class Body>
void Int8Lines::for_each_patch(const Part& part, ptrdiff_t first, ptrdiff_t count, const Body& body) const {
  const ptrdiff_t pitch = part.columns * pixel_;
  ptrdiff_t y = first / across_.out, x = first % across_.out;
  for (ptrdiff_t i = 0; i < count; ++i) {
    body(i, (y * down_.step - down_.pad - part.line) * pitch +
                (x * across_.step - across_.pad - part.column) * pixel_);
    if (++x < across_.out) continue;
    x = 0;
    ++y;
  }
}

void Int8Lines::gather(const Part& part, const char* lines, ptrdiff_t first, ptrdiff_t count,
                       char* to) const {
  const bool is_run = across_.kernel == 1 || across_.dilation == 1;
  const ptrdiff_t pieces = is_run ? 1 : across_.kernel;
  const auto bytes = static_cast<size_t>(is_run ? across_.kernel * pixel_ : pixel_);
  const ptrdiff_t next = across_.dilation * pixel_, below = down_.dilation * part.columns * pixel_;
  const ptrdiff_t tap = static_cast<ptrdiff_t>(bytes);
  for_each_patch(part, first, count, [&](ptrdiff_t i, ptrdiff_t offset) {
    const char* from = lines + offset;
    char* at = to + i * row_;
    for (ptrdiff_t k1 = 0; k1 < down_.kernel; ++k1, from += below) {
      for (ptrdiff_t piece = 0; piece < pieces; ++piece, at += tap) copy(from + piece * next, at, bytes);
    }
  });
}

// Layout of `to`: spread lines [lines][columns][channels]; behind them the offset of each patch (parts), or
// the patches themselves [count][row_ bytes], or nothing (direct).
SpreadRows Int8Lines::spread(const int8_t* in, int8_t zero_point, size_t first, size_t count,
                             char* to) const {
  const auto begin = static_cast<ptrdiff_t>(first), outputs = static_cast<ptrdiff_t>(count);
  const Part part = part_of(begin, outputs);
  const ptrdiff_t pitch = part.columns * pixel_;
  for (ptrdiff_t i = 0; i < part.lines; ++i) spread_line(in, zero_point, part.line + i, part, to + i * pitch);
  if (is_direct_) return {to, across_.step * pixel_};
  char* const patches = to + bytes_of(part.lines, part.columns);
  if (in_parts_) {
    auto* offsets = reinterpret_cast<ptrdiff_t*>(patches);
    for_each_patch(part, begin, outputs, [&](ptrdiff_t i, ptrdiff_t offset) { offsets[i] = offset; });
    return {to, 0, offsets, static_cast<size_t>(down_.kernel), down_.dilation * pitch};
  }
  gather(part, to, begin, outputs, patches);
  return {patches, row_};
}

}  // namespace rushlight::kernels::host
