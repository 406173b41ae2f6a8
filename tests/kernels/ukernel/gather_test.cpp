// SPDX-License-Identifier: BSD-3-Clause
// Pure data movement, compared exactly. Elements between rows keep -1: a variant must not write there.
#include "kernels/ukernel/gather.h"

#include <algorithm>
#include <numeric>
#include <ostream>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/gather.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

struct Gather {
  const char* name;
  void (*rows)(const GatherRows&);
};
RL_VARIANTS(Gather, variants, gather_rows)
std::ostream& operator<<(std::ostream& out, const Gather& gather) { return out << gather.name; }

class GatherVariants : public ::testing::TestWithParam<Gather> {};
INSTANTIATE_TEST_SUITE_P(Each, GatherVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

// Buffers end, or begin, at a protected page.
void compare(const Gather& variant, GatherRows gather, Edge edge) {
  const size_t width = gather.before + gather.count + gather.after;
  const size_t seen = gather.count == 0 ? 0 : (gather.count - 1) * static_cast<size_t>(gather.step) + 1;
  Guarded<float> from((gather.rows - 1) * (seen + 2) + seen, edge);
  Guarded<float> to((gather.rows - 1) * (width + 3) + width, edge);
  Guarded<float> expected(to.size());
  std::iota(from.begin(), from.end(), 1.0F);
  std::fill(to.begin(), to.end(), -1.0F);
  std::fill(expected.begin(), expected.end(), -1.0F);
  gather.from = from.data();
  gather.from_stride = static_cast<ptrdiff_t>(seen + 2);
  gather.to_stride = static_cast<ptrdiff_t>(width + 3);
  gather.to = expected.data();
  reference::gather_rows(gather);
  gather.to = to.data();
  variant.rows(gather);
  ASSERT_TRUE(std::equal(to.begin(), to.end(), expected.begin()))
      << gather.before << " + " << gather.count << " + " << gather.after << ", step " << gather.step;
}

TEST_P(GatherVariants, Rows_AnySizesAndSteps_AsReference) {
  for (const Edge edge : {Edge::kFront, Edge::kBack}) {
    for (const size_t count : {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 50}) {
      for (const size_t padding : {0, 1, 5, 16, 20}) {
        for (const ptrdiff_t step : {1, 2, 3}) {
          GatherRows gather;
          gather.rows = 3;
          gather.before = padding;
          gather.count = count;
          gather.after = padding / 2;
          gather.step = step;
          compare(GetParam(), gather, edge);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
