// SPDX-License-Identifier: BSD-3-Clause
// The products for small cores on panels of a few columns, for many numbers of columns, rows and parts,
// against sums in double. Runs on bare metal as well, so nothing may need a constructor before main().
#include "kernels/ukernel/panel.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/panel.h"
#include "tests/kernels/ukernel/guarded.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Guarded;

uint32_t random_bits() {
  static std::minstd_rand engine;  // a local: on bare metal no constructors run before main
  return static_cast<uint32_t>(engine());
}
void fill(Guarded<float>& floats) {
  for (float& each : floats) each = static_cast<float>(random_bits() % 2001) / 1000.0f - 1.0f;
}

void expect_near(const Guarded<float>& got, const std::vector<float>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 2e-5f) << i;
}

std::vector<float> copy_of(const Guarded<float>& floats) {
  return {floats.data(), floats.data() + floats.size()};
}

TEST(MultiplyPanel, AnySizes_AddsProducts) {
  for (const size_t rows : {1, 2, 3, 4, 5, 9, 13}) {
    for (const size_t depth : {0, 1, 2, 3, 4, 7, 65}) {
      for (size_t columns = 1; columns <= kPanelColumns; ++columns) {
        for (const ptrdiff_t column_stride : {1, 3}) {
          const ptrdiff_t out_stride = static_cast<ptrdiff_t>(columns) * column_stride + 2;
          Guarded<float> left((rows - 1) * (depth + 1) + depth), panel(depth * kPanelColumns);
          Guarded<float> out((rows - 1) * static_cast<size_t>(out_stride) +
                             (columns - 1) * static_cast<size_t>(column_stride) + 1);
          fill(left);
          fill(panel);
          fill(out);
          PanelProduct product{left.data(),  static_cast<ptrdiff_t>(depth + 1),
                               panel.data(), rows,
                               depth,        out.data(),
                               out_stride,   column_stride,
                               columns};
          std::vector<float> expected = copy_of(out);
          product.out = expected.data();
          reference::multiply_panel(product);
          product.out = out.data();
          native::multiply_panel(product);
          expect_near(out, expected);
        }
      }
    }
  }
}

TEST(MultiplyPanel, PartsApartAndInitialNumbers_AreSummed) {
  for (const size_t rows : {1, 2, 3, 5, 7, 8, 13}) {
    for (const size_t depth : {0, 1, 3, 4, 8, 11, 18}) {
      for (const size_t parts : {1, 2, 5}) {
        for (const size_t columns : {kPanelColumns, kPanelColumns - 1}) {
          for (const bool rectify : {false, kPanelRectifies}) {
            const ptrdiff_t left_stride = 2, part_stride = static_cast<ptrdiff_t>(depth) + 1;
            const auto out_stride = static_cast<ptrdiff_t>(columns) + 1;
            Guarded<float> left((rows - 1) * 2 + (parts - 1) * (depth + 1) + depth);
            Guarded<float> panel(parts * depth * kPanelColumns), initial(kPanelColumns);
            Guarded<float> out((rows - 1) * (columns + 1) + columns);
            fill(left);
            fill(panel);
            fill(initial);
            fill(out);
            PanelProduct product{left.data(), left_stride, panel.data(), rows,  depth,      out.data(),
                                 out_stride,  1,           columns,      parts, part_stride};
            product.rectify = rectify;
            for (const float* begin :
                 {static_cast<const float*>(initial.data()), static_cast<const float*>(nullptr)}) {
              product.initial = begin;
              std::vector<float> expected = copy_of(out);
              product.out = expected.data();
              reference::multiply_panel(product);
              product.out = out.data();
              native::multiply_panel(product);
              expect_near(out, expected);
            }
          }
        }
      }
    }
  }
}

TEST(MultiplyPanel, ANumberForEachRow_BeginsItsSums) {
  if (!kPanelSpreads) return;
  constexpr size_t kDepth = 5;
  for (const size_t rows : {1, 3, 4, 7, 9}) {
    for (const size_t columns : {kPanelColumns, kPanelColumns - 1}) {
      Guarded<float> left(rows * kDepth), panel(kDepth * kPanelColumns), initial(rows), out(rows * columns);
      fill(left);
      fill(panel);
      fill(initial);
      fill(out);
      PanelProduct product{left.data(), kDepth, panel.data(), rows, kDepth, out.data(), 0, 1, columns};
      product.out_stride = static_cast<ptrdiff_t>(columns);
      product.initial_of_rows = initial.data();
      std::vector<float> expected = copy_of(out);
      product.out = expected.data();
      reference::multiply_panel(product);
      product.out = out.data();
      native::multiply_panel(product);
      expect_near(out, expected);
    }
  }
}

TEST(MultiplyRows, AnySizes_AddsProducts) {
  for (const size_t rows : {0, 1, 3, 4, 5, 8, 11}) {
    for (const size_t depth : {0, 1, 3, 4, 5, 17, 64}) {
      Guarded<float> left(rows == 0 ? 0 : (rows - 1) * (depth + 3) + depth), right(depth);
      Guarded<float> out(rows == 0 ? 0 : (rows - 1) * 2 + 1);
      fill(left);
      fill(right);
      fill(out);
      std::vector<float> expected = copy_of(out);
      RowProduct product{
          left.data(), static_cast<ptrdiff_t>(depth + 3), right.data(), rows, depth, expected.data(), 2};
      reference::multiply_rows(product);
      product.out = out.data();
      native::multiply_rows(product);
      expect_near(out, expected);
    }
  }
}

TEST(CopyPanel, Rows_AreCopied) {
  Guarded<float> from(4 * (kPanelColumns + 1) + kPanelColumns), to(4 * 2 * kPanelColumns + kPanelColumns);
  fill(from);
  native::copy_panel(to.data(), 2 * kPanelColumns, from.data(), kPanelColumns + 1, 5);
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < kPanelColumns; ++j) {
      EXPECT_EQ(to[i * 2 * kPanelColumns + j], from[i * (kPanelColumns + 1) + j]);
    }
  }
}

TEST(PackPanel, Rows_BecomeColumns) {
  for (size_t columns = 1; columns <= kPanelColumns; ++columns) {
    for (const size_t depth : {0, 1, 3, 4, 9}) {
      for (const size_t apart : {1, 3}) {
        const size_t width = depth * apart + 2;
        Guarded<float> from((columns - 1) * width + (depth == 0 ? 0 : (depth - 1) * apart + 1));
        Guarded<float> to(depth * kPanelColumns);
        fill(from);
        fill(to);
        native::pack_panel(to.data(), from.data(), static_cast<ptrdiff_t>(width),
                           static_cast<ptrdiff_t>(apart), columns, depth);
        for (size_t k = 0; k < depth; ++k) {
          for (size_t j = 0; j < kPanelColumns; ++j) {
            EXPECT_EQ(to[k * kPanelColumns + j], j < columns ? from[j * width + k * apart] : 0);
          }
        }
      }
    }
  }
}

TEST(GatherPanel, PlacesOutsideOfTheImage_AreZero) {
  constexpr int32_t kHeight = 5, kWidth = 4;
  constexpr size_t kChannels = 3;
  Guarded<float> image(kChannels * kHeight * kWidth);
  fill(image);
  PanelWindows windows;
  for (size_t j = 0; j < kPanelColumns; ++j) {
    windows.row[j] = static_cast<int32_t>(j % 4) - 2;
    windows.column[j] = static_cast<int32_t>(j % 3) * 2 - 3;
    windows.offset[j] = windows.row[j] * kWidth + windows.column[j];
  }
  for (int32_t row = 0; row < 6; ++row) {
    for (int32_t column = 0; column < 5; ++column) {
      Guarded<float> to(2 * kPanelColumns * (kChannels - 1) + kPanelColumns);
      const PanelPosition position{
          image.data() + row * kWidth + column, kHeight * kWidth, kChannels, row, column, kHeight, kWidth};
      native::gather_panel(to.data(), 2 * kPanelColumns, windows, position);
      for (size_t i = 0; i < kChannels; ++i) {
        for (size_t j = 0; j < kPanelColumns; ++j) {
          const int32_t y = windows.row[j] + row, x = windows.column[j] + column;
          const bool inside = y >= 0 && y < kHeight && x >= 0 && x < kWidth;
          const size_t at = i * kHeight * kWidth + static_cast<size_t>(inside ? y * kWidth + x : 0);
          EXPECT_EQ(to[i * 2 * kPanelColumns + j], inside ? image[at] : 0);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
