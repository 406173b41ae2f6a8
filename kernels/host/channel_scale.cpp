// SPDX-License-Identifier: BSD-3-Clause
// Two loops: spans along the innermost axis with one channel's scale, or, if channels are last in memory or
// their spans short, rows of columns with one scale each. 16-bit floats are converted piece by piece on the
// stack.
#include "kernels/host/channel_scale.h"

#include <algorithm>

#include "kernels/host/elements.h"
#include "kernels/ukernel/normalize.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kPiece = 1024;  // 16-bit floats that are converted at a time

// Positions in memory: `count` of them, each with `channels` adjacent channels. Strides are in elements.
struct Positions {
  size_t count;
  size_t channels;
  ptrdiff_t input;
  ptrdiff_t output;
};

void scale_floats(const Positions& positions, const float* x, const float* scale, const float* shift,
                  float* y) {
  if (positions.channels == 1 && positions.input == 1 && positions.output == 1) {
    return ukernel::scale_span(positions.count, x, *scale, *shift, y);
  }
  ukernel::scale_rows(positions.count, positions.input, positions.output, positions.channels, x, scale, shift,
                      y);
}

void scale_converted(const Positions& positions, ScalarType type, const char* from, const float* scale,
                     const float* shift, char* to) {
  alignas(64) float floats[kPiece];
  const size_t channels = positions.channels;
  const auto size = static_cast<ptrdiff_t>(element_size(type));
  const size_t most = kPiece / channels;
  for (size_t done = 0; done < positions.count; done += most) {
    const size_t count = std::min(most, positions.count - done);
    const char* x = from + static_cast<ptrdiff_t>(done) * positions.input * size;
    char* y = to + static_cast<ptrdiff_t>(done) * positions.output * size;
    // A span of one channel, with any stride, or rows of channels; rows without gaps are one span.
    const auto row = static_cast<ptrdiff_t>(channels);
    const bool one_span = channels == 1 || (positions.input == row && positions.output == row);
    const size_t rows = one_span ? 1 : count;
    const size_t length = one_span ? count * channels : channels;
    const ptrdiff_t x_step = channels == 1 ? positions.input : 1;
    const ptrdiff_t y_step = channels == 1 ? positions.output : 1;
    for (size_t i = 0; i < rows; ++i, x += positions.input * size) {
      load_floats(floats + i * length, type, x, x_step, length);
    }
    scale_floats({count, channels, row, row}, floats, scale, shift, floats);
    for (size_t i = 0; i < rows; ++i, y += positions.output * size) {
      store_floats(y, y_step, type, floats + i * length, length);
    }
  }
}

}  // namespace

ChannelAxes::ChannelAxes(const Tensor& input, const Tensor& out, size_t first) : type(input.scalar_type()) {
  for (size_t i = input.sizes().size(); i-- > 0;) {
    const size_t d = input.dim_order()[i];
    const Axis axis{static_cast<size_t>(input.sizes()[d]), byte_stride(input, d), byte_stride(out, d)};
    if (d == 1) {
      channel = axis;
      const auto size = static_cast<ptrdiff_t>(input.element_size());
      const Axis inner = others.inner();
      const ptrdiff_t length = static_cast<ptrdiff_t>(inner.size) * size;
      // Four channels at least are a row.
      if (axis.size > 1 && inner.size > 1 && inner.size <= kChannelColumns / 4 && others.count(1) == 1 &&
          inner.input == size && inner.output == size && axis.input == length && axis.output == length) {
        span = inner.size;
        others = {};
      }
    } else if (d >= first) {
      others.add(axis);
    }
  }
}

const float* ChannelAxes::columns(size_t n, const float* values, float* columns) const {
  if (span == 1) return values;
  for (size_t i = 0; i < n; ++i) std::fill_n(columns + i * span, span, values[i]);
  return columns;
}

void scale_channels(const ChannelAxes& axes, size_t n, const char* input, char* output, const float* scale,
                    const float* shift) {
  const Axis& inner = axes.others.inner();
  const auto size = static_cast<ptrdiff_t>(element_size(axes.type));
  const size_t together = axes.together();
  for (size_t c = 0; c < n; c += together) {
    const size_t count = std::min(together, n - c);
    const Positions positions{inner.size, count * axes.span, inner.input / size, inner.output / size};
    float of_columns[2][kChannelColumns];
    const float* const scales = axes.columns(count, scale + c, of_columns[0]);
    const float* const shifts = axes.columns(count, shift + c, of_columns[1]);
    const auto skipped = static_cast<ptrdiff_t>(c);
    axes.others.walk(input + skipped * axes.channel.input, output + skipped * axes.channel.output, 1,
                     [&](const char* from, char* to) {
                       if (widens(axes.type)) {
                         return scale_converted(positions, axes.type, from, scales, shifts, to);
                       }
                       scale_floats(positions, reinterpret_cast<const float*>(from), scales, shifts,
                                    reinterpret_cast<float*>(to));
                     });
  }
}

}  // namespace rushlight::kernels::host
