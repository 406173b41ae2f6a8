// SPDX-License-Identifier: BSD-3-Clause
// Small convolutions in place of im2col, against sums in double. Buffers have exactly the extent that a
// convolution may read.
#include "kernels/ukernel/patch.h"

#include <algorithm>
#include <cmath>
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

// Groups of taps in reverse order, of all sizes, and rows further apart than their columns.
TEST(AddShifted, AnyRowsAndTaps_AddProducts) {
  for (const size_t rows : {0, 1, 2, 3, 4, 7}) {
    for (const size_t count : {0, 1, 2, 5}) {
      for (const size_t blocks : {1, 2, 3, 5}) {
        for (const bool starts : {false, true}) {
          const bool single = blocks == 2;
          const size_t columns = blocks * kShiftColumns, apart = columns + 3;
          // Group t starts 2 * (count - t) - 1 elements in and has up to kShiftTaps taps.
          std::vector<ShiftedTaps> taps(count);
          size_t sum = 0, reach = 0;
          for (size_t t = 0; t < count; ++t) {
            const size_t from = 2 * (count - t) - 1, some = single ? 1 : (t + 2) % kShiftTaps + 1;
            taps[t] = {static_cast<int32_t>(from * sizeof(float)), static_cast<int32_t>(some - 1)};
            sum += some;
            reach = std::max(reach, from + some - 1);
          }
          Guarded<float> in(columns + reach, Edge::kBack), initial(rows);
          Guarded<float> weight(rows == 0 ? 0 : (rows - 1) * (sum + 1) + sum, Edge::kBack);
          Guarded<float> out(rows * apart + 1), expected(out.size());
          for (Guarded<float>* each : {&in, &weight, &initial, &out}) fill(*each);
          std::copy(out.begin(), out.end(), expected.begin());
          ShiftedSums sums{in.data(),
                           weight.data(),
                           static_cast<ptrdiff_t>(sum + 1),
                           taps.data(),
                           count,
                           starts ? initial.data() : nullptr,
                           out.data(),
                           static_cast<ptrdiff_t>(apart),
                           rows,
                           columns};
          sums.has_single_taps = single;
          native::add_shifted(sums);
          sums.out = expected.data();
          reference::add_shifted(sums);
          expect_near(out, expected);
        }
      }
    }
  }
}

// The two forms of PlaneTap.
[[maybe_unused]] void add_tap(std::vector<int32_t>& taps, ShiftedTaps tap) { taps.push_back(tap.in); }
[[maybe_unused]] void add_tap(std::vector<ShiftedTaps>& taps, ShiftedTaps tap) { taps.push_back(tap); }

// Planes without padding: the outputs of `columns` columns in each of two rows, in tiles of all widths that
// the variant has.
TEST(AddPlanes, AnyStepAndTaps_AddProducts) {
  if (kTileColumns == 0) return;  // planes take shifts
  constexpr bool kLists = kTilePositions > 1;
  constexpr size_t kRows = 2, kPlanes = 3;
  for (const size_t step : {1, 2, 3}) {
    if (static_cast<ptrdiff_t>(step) > kTileSteps) continue;
    for (const size_t out_step : {1, 2}) {
      for (const size_t kernel : {1, 2, 3, 4, 5, 6, 7}) {
        for (const bool starts : {false, true}) {
          const size_t columns = kLists ? kTileColumns : kTileColumns + kTileColumns / 2 + 1;
          const size_t width = (columns - 1) * step + kernel, line = width + 1, out_line = columns * out_step;
          // Two rows of taps, whose second one starts a row further.
          std::vector<PlaneTap> taps;
          for (size_t i = 0; i < 2; ++i) {
            const size_t most = kLists || kernel == 4 ? 1 : kShiftTaps;
            for (size_t j = 0; j < kernel; j += most) {
              const auto at = static_cast<int32_t>((i * line + j) * sizeof(float));
              add_tap(taps, {at, static_cast<int32_t>(std::min(kernel - j, most) - 1)});
            }
          }
          std::vector<PlaneTile> tiles;
          PlaneSums sums{};
          size_t first = 0;
          for (size_t kind = 0; kind < (kLists ? 1 : 3); ++kind) {
            const size_t before = tiles.size();
            for (size_t row = 0; row < kRows; ++row) {
              PlaneTile tile;
              for (size_t j = 0; j < kTilePositions; ++j) {
                tile.in[j] = static_cast<int32_t>((row * line + (first + j) * step) * sizeof(float));
                tile.out[j] = static_cast<int32_t>((row * out_line + (first + j) * out_step) * sizeof(float));
              }
              tiles.push_back(tile);
            }
            first += kind == 0 ? kTileColumns : kTileColumns / 2;
            sums.counts[kind] = tiles.size() - before;
          }
          const size_t plane = (kRows + 1) * line - 1, out_plane = kRows * out_line;
          Guarded<float> in(kPlanes * plane, Edge::kBack), weight(kPlanes * 2 * kernel, Edge::kBack);
          Guarded<float> initial(kPlanes), out(kPlanes * out_plane), expected(out.size());
          for (Guarded<float>* each : {&in, &weight, &initial, &out}) fill(*each);
          std::copy(out.begin(), out.end(), expected.begin());
          sums.in = in.data();
          sums.in_plane = static_cast<ptrdiff_t>(plane);
          sums.weight = weight.data();
          sums.weight_plane = static_cast<ptrdiff_t>(2 * kernel);
          sums.taps = taps.data();
          sums.count = taps.size();
          sums.initial = starts ? initial.data() : nullptr;
          sums.initial_plane = 1;
          sums.out = out.data();
          sums.out_plane = static_cast<ptrdiff_t>(out_plane);
          sums.planes = kPlanes;
          sums.tiles = tiles.data();
          sums.in_step = static_cast<ptrdiff_t>(step);
          sums.out_step = static_cast<ptrdiff_t>(out_step);
          native::add_planes(sums);
          sums.out = expected.data();
          reference::add_planes(sums);
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

// Copies blocks of elements `apart` in both arrays by copy(to, to_strides, from, from_strides, rows,
// columns), and compares with expected(element).
template <class From, class To, class Copy, class Expected>
void expect_copies(Copy copy, From (*some)(), Expected expected) {
  for (const size_t rows : {0, 1, 3}) {
    for (const size_t columns : {0, 1, 4, 7, 9}) {
      for (const size_t apart : {1, 3}) {
        for (const size_t to_apart : {1, 2}) {
          const size_t to_row = columns * to_apart + 1;
          Guarded<From> from(2 * 50 + columns * apart + 1);
          Guarded<To> to(rows * to_row);
          for (From& each : from) each = some();
          const To before = static_cast<To>(77);
          std::fill(to.begin(), to.end(), before);
          copy(to.data(), BlockStrides{static_cast<ptrdiff_t>(to_row), static_cast<ptrdiff_t>(to_apart)},
               from.data(), BlockStrides{50, static_cast<ptrdiff_t>(apart)}, rows, columns);
          for (size_t i = 0; i < to.size(); ++i) {
            const size_t row = i / to_row, rest = i % to_row, column = rest / to_apart;
            const bool is_copied = column < columns && rest % to_apart == 0;
            EXPECT_EQ(to[i], is_copied ? expected(from[row * 50 + column * apart]) : before) << i;
          }
        }
      }
    }
  }
}

float some_float() { return static_cast<float>(random_bits() % 2001) / 1000.0f - 1.0f; }
// Finite float16: normal and subnormal ones of both signs.
uint16_t some_half() {
  const auto half = static_cast<uint16_t>(random_bits());
  return (half & 0x7c00u) == 0x7c00u ? uint16_t{0x8001} : half;
}
// By the definition of float16.
float value_of(uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int digits = (half & 0x3ff) + (exponent == 0 ? 0 : 0x400);
  const float magnitude = std::ldexp(static_cast<float>(digits), (exponent == 0 ? 1 : exponent) - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(CopyBlock, AnyStrides_CopiesElements) {
  expect_copies<float, float>(native::copy_block, some_float, [](float number) { return number; });
}

TEST(WidenBlock, AnyStrides_ConvertsExactly) {
  expect_copies<uint16_t, float>(native::widen_block, some_half, value_of);
}

TEST(NarrowBlock, AnyStrides_RoundsToNearest) {
  // Values between the two neighbours of a float16 that are nearest to it, and exact ones.
  static uint16_t last;
  const auto some = [] {
    last = some_half();
    const float number = value_of(last);
    return random_bits() % 2 == 0 ? number : number * (1 + 0x1p-13f);
  };
  expect_copies<float, uint16_t>(native::narrow_block, +some, [](float number) {
    // The last float16 up to the magnitude, by bisection, or the next one if that is nearer.
    const float magnitude = std::fabs(number);
    uint16_t best = 0, end = 0x7c00;
    while (best + 1 < end) {
      const auto middle = static_cast<uint16_t>((best + end) / 2);
      (value_of(middle) <= magnitude ? best : end) = middle;
    }
    if (end < 0x7c00 && value_of(end) - magnitude < magnitude - value_of(best)) best = end;
    if (std::signbit(number)) best |= 0x8000;
    return best;
  });
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
