// SPDX-License-Identifier: BSD-3-Clause
// Sums of int8 windows are exact; initial values must be kept. Long windows of one extreme find sums that
// stay in 16 bits for too long.
#include "kernels/ukernel/int8_sums.h"

#include <algorithm>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/int8_sums.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/int8_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;
using rushlight::testing::kRequantizations;
using rushlight::testing::RequantizationCase;

struct Functions {
  const char* name;
  decltype(&ukernel::native::sum_int8) sum;
  decltype(&ukernel::native::quantize_sums) quantize;
};
RL_EXACT_VARIANTS(Functions, variants, sum_int8, quantize_sums)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class Int8SumsVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, Int8SumsVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

size_t extent_of(const Int8Windows& w) {
  if (w.count == 0 || w.rows == 0 || w.columns == 0) return 0;
  const auto last = [](size_t n, ptrdiff_t step) { return (n - 1) * static_cast<size_t>(step); };
  return last(w.count, w.lane) + last(w.rows, w.row) + last(w.columns, w.column) + 1;
}

void compare(const Functions& functions, const Int8Windows& windows, Edge edge, int filled = 0) {
  Guarded<int8_t> in(extent_of(windows), edge);
  fill_int8(in);
  if (filled != 0) std::fill(in.begin(), in.end(), static_cast<int8_t>(filled));
  Guarded<int32_t> sums(windows.count, edge);
  for (size_t i = 0; i < windows.count; ++i) sums[i] = static_cast<int32_t>(i) * 1001 - 77777;
  std::vector<int32_t> expected(sums.begin(), sums.end());
  reference::sum_int8(windows, in.data(), expected.data());
  functions.sum(windows, in.data(), sums.data());
  for (size_t i = 0; i < windows.count; ++i) {
    ASSERT_EQ(sums[i], expected[i]) << "sum " << i << " of " << windows.count << ", " << windows.rows << " x "
                                    << windows.columns << ", lane " << windows.lane;
  }
}

TEST_P(Int8SumsVariants, Channels_SameSumsAsReference) {
  for (const size_t count : {0, 1, 3, 4, 7, 8, 9, 16, 31, 33, 64, 65, 128, 200}) {
    for (const size_t rows : {0, 1, 2, 5}) {
      for (const size_t columns : {1, 3}) {
        const auto step = static_cast<ptrdiff_t>(count + columns % 2);
        compare(GetParam(), {count, rows, columns, 1, 7 * step, step},
                rows % 2 == 0 ? Edge::kFront : Edge::kBack);
      }
    }
  }
}

TEST_P(Int8SumsVariants, WindowsOfARow_SameSumsAsReference) {
  for (const size_t count : {1, 2, 4, 5, 19}) {
    for (const ptrdiff_t lane : {2, 3, 40}) {
      for (const size_t columns : {1, 2, 3, 15, 16, 33, 100}) {
        compare(GetParam(), {count, 3, columns, lane, 150, 1}, Edge::kBack);
        compare(GetParam(), {count, 2, columns, lane, 1, 5}, Edge::kFront);
      }
    }
  }
}

// More elements than int16 can hold the sum of.
TEST_P(Int8SumsVariants, ManyExtremes_DoNotOverflow) {
  for (const int filled : {-128, 127}) {
    for (const size_t columns : {255, 256, 257, 511, 1000}) {
      compare(GetParam(), {37, 1, columns, 1, 0, 37}, Edge::kBack, filled);
      compare(GetParam(), {150, 2, columns, 1, 150, 0}, Edge::kBack, filled);
      compare(GetParam(), {2, 1, columns * 40, 7, 0, 1}, Edge::kFront, filled);
    }
  }
}

TEST_P(Int8SumsVariants, AnyRounding_SameBitsAsReference) {
  for (RequantizationCase rounding : kRequantizations) {
    rounding.by_columns = false;
    for (const size_t count : {0, 1, 5, 16, 67}) {
      const rushlight::testing::Requantizations requantizations(rounding, 1, Edge::kBack);
      Guarded<int32_t> sums(count, Edge::kBack);
      for (int32_t& each : sums)
        each = static_cast<int32_t>(rushlight::testing::int8_bits()() % 200001) - 100000;
      Guarded<int8_t> out(count, Edge::kFront);
      std::vector<int8_t> expected(count);
      reference::quantize_sums(requantizations.to(), count, sums.data(), expected.data());
      GetParam().quantize(requantizations.to(), count, sums.data(), out.data());
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(out[i], expected[i]) << name_of(rounding) << ": " << sums[i];
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
