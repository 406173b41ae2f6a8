// SPDX-License-Identifier: BSD-3-Clause
// Small convolutions in place of im2col, against sums in double. Buffers have exactly the extent that a
// convolution may read.
#include "kernels/ukernel/patch.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/panel.h"
#include "kernels/ukernel/reference/patch.h"
#include "tests/kernels/ukernel/guarded.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

uint32_t random_bits() {
  static std::minstd_rand engine;  // a local: on bare metal no constructors run before main
  return static_cast<uint32_t>(engine());
}
void fill(Guarded<float>& floats) {
  for (float& each : floats) each = static_cast<float>(random_bits() % 2001) / 1000.0f - 1.0f;
}

void expect_near(const Guarded<float>& got, const Guarded<float>& expected) {
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5f) << i;
}

TEST(ConvolvePatch, KernelsStepsAndDilations_GiveSumsOfProducts) {
  for (const ptrdiff_t kernel_size : {1, 2, 3, 5}) {
    for (const ptrdiff_t step : {1, 2}) {
      for (const ptrdiff_t dilation : {1, 3}) {
        for (const ptrdiff_t columns : {1, 3, 4, 9}) {
          const ptrdiff_t reach = (kernel_size - 1) * dilation + 1;
          const ptrdiff_t width = (columns - 1) * step + reach, height = step + reach;
          const ptrdiff_t column_stride = step;  // 1 and another value
          Guarded<float> patch(static_cast<size_t>(width * height));
          Guarded<float> kernel(static_cast<size_t>(kernel_size * kernel_size));
          const auto size = static_cast<size_t>(columns * column_stride + (columns - 1) * column_stride + 1);
          Guarded<float> out(size), expected(size);
          fill(patch);
          fill(kernel);
          const auto count = static_cast<size_t>(kernel_size);
          PatchConvolution convolution{patch.data(),
                                       width,
                                       kernel.data(),
                                       1,
                                       kernel_size,
                                       count,
                                       count,
                                       step,
                                       step,
                                       dilation,
                                       dilation,
                                       out.data(),
                                       columns * column_stride,
                                       column_stride,
                                       2,
                                       static_cast<size_t>(columns),
                                       0.5f};
          native::convolve_patch(convolution);
          convolution.out = expected.data();
          reference::convolve_patch(convolution);
          expect_near(out, expected);
        }
      }
    }
  }
}

TEST(ConvolvePlane3x3, AnySize_SeesZerosAround) {
  for (const size_t rows : {1, 2, 3, 4, 5, 8}) {
    for (const size_t columns : {1, 2, 3, 4, 5, 7, 8, 9, 33}) {
      for (const Edge edge : {Edge::kFront, Edge::kBack}) {
        const size_t size = (rows - 1) * (columns + 2) + columns;
        Guarded<float> in(size, edge), kernel(9), out(size, edge), expected(size);
        fill(in);
        fill(kernel);
        const auto stride = static_cast<ptrdiff_t>(columns + 2);
        PlaneConvolution convolution{in.data(),  stride, kernel.data(), 3,       1,
                                     out.data(), stride, rows,          columns, -0.25f};
        native::convolve_plane_3x3(convolution);
        convolution.out = expected.data();
        reference::convolve_plane_3x3(convolution);
        expect_near(out, expected);
      }
    }
  }
}

TEST(CopyBlock, ColumnsApart_AreAdjacentAfterwards) {
  for (const size_t rows : {0, 1, 3}) {
    for (const size_t columns : {0, 1, 4, 7}) {
      for (const size_t apart : {1, 3}) {
        Guarded<float> from(2 * 50 + columns * apart + 1), to(rows * (columns + 1)), before(to.size());
        fill(from);
        fill(to);
        std::copy(to.begin(), to.end(), before.begin());
        native::copy_block(to.data(), static_cast<ptrdiff_t>(columns + 1), from.data(), 50,
                           static_cast<ptrdiff_t>(apart), rows, columns);
        for (size_t i = 0; i < rows; ++i) {
          for (size_t j = 0; j <= columns; ++j) {
            const size_t at = i * (columns + 1) + j;
            EXPECT_EQ(to[at], j < columns ? from[i * 50 + j * apart] : before[at]);
          }
        }
      }
    }
  }
}

// The channels of each pixel are contiguous, also in `out`; `apart` elements are between pixels.
void expect_channel_sums(size_t channels, size_t rows, size_t columns, size_t outputs, size_t apart,
                         bool rectify) {
  const size_t width = (outputs - 1) + columns, pixel = channels + apart;
  const size_t groups = (channels + kChannelGroup - 1) / kChannelGroup;
  // The weights are 3 x 3 taps, some of which are used.
  const size_t weight_row = 3 * kChannelGroup, group = 3 * weight_row;
  Guarded<float> in(rows * width * pixel), weight(groups * group), initial(channels);
  Guarded<float> out((outputs - 1) * pixel + channels);
  fill(in);
  fill(weight);
  fill(initial);
  fill(out);
  ChannelSums sums{in.data(),
                   static_cast<ptrdiff_t>(width * pixel),
                   static_cast<ptrdiff_t>(pixel),
                   static_cast<ptrdiff_t>(pixel),
                   weight.data(),
                   static_cast<ptrdiff_t>(weight_row),
                   static_cast<ptrdiff_t>(group),
                   rows,
                   columns,
                   initial.data(),
                   out.data(),
                   static_cast<ptrdiff_t>(pixel),
                   outputs,
                   channels,
                   rectify};
  native::add_channels(sums);
  for (size_t o = 0; o < outputs; ++o) {
    for (size_t c = 0; c < channels; ++c) {
      double expected = initial[c];
      for (size_t i = 0; i < rows; ++i) {
        for (size_t j = 0; j < columns; ++j) {
          expected +=
              double{in[(i * width + o + j) * pixel + c]} *
              weight[c / kChannelGroup * group + i * weight_row + j * kChannelGroup + c % kChannelGroup];
        }
      }
      if (rectify && expected < 0) expected = 0;
      EXPECT_NEAR(out[o * pixel + c], expected, 1e-5) << c;
    }
  }
}

TEST(AddChannels, AnyCount_AddsProducts) {
  for (const size_t channels : {1, 3, 4, 8, 9, 21, 32}) {
    for (const size_t rows : {0, 1, 2, 3}) {
      for (const size_t columns : {1, 2, 3}) {
        for (const size_t outputs : {1, 2, 5}) {
          for (const size_t apart : {0, 3}) {
            expect_channel_sums(channels, rows, columns, outputs, apart, false);
            if (kPanelRectifies) expect_channel_sums(channels, rows, columns, outputs, apart, true);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
