// SPDX-License-Identifier: BSD-3-Clause
// Two loops: spans along the innermost axis with one channel's scale, or, if channels are last in memory,
// rows of channels with one scale each.
#include "kernels/host/channel_scale.h"

#include "kernels/ukernel/normalize.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);

}  // namespace

ChannelAxes::ChannelAxes(const Tensor& input, const Tensor& out, size_t first) {
  for (size_t i = input.sizes().size(); i-- > 0;) {
    const size_t d = input.dim_order()[i];
    const Axis axis{static_cast<size_t>(input.sizes()[d]), byte_stride(input, d), byte_stride(out, d)};
    if (d == 1) {
      channel = axis;
    } else if (d >= first) {
      others.add(axis);
    }
  }
}

void scale_channels(const ChannelAxes& axes, size_t n, const char* input, char* output, const float* scale,
                    const float* shift) {
  const Axis& inner = axes.others.inner();
  const bool is_contiguous = inner.input == kFloat && inner.output == kFloat;
  // Channels-last: all n channels of a position at once.
  const size_t together = axes.last() ? n : 1;
  for (size_t c = 0; c < n; c += together) {
    const auto skipped = static_cast<ptrdiff_t>(c);
    axes.others.walk(input + skipped * axes.channel.input, output + skipped * axes.channel.output, 1,
                     [&](const char* from, char* to) {
                       const auto* x = reinterpret_cast<const float*>(from);
                       auto* y = reinterpret_cast<float*>(to);
                       if (is_contiguous && together == 1) {
                         ukernel::scale_span(inner.size, x, scale[c], shift[c], y);
                       } else {
                         ukernel::scale_rows(inner.size, inner.input / kFloat, inner.output / kFloat,
                                             together, x, scale + c, shift + c, y);
                       }
                     });
  }
}

}  // namespace rushlight::kernels::host
