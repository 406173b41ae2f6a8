// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/interleave.h"

#include <numeric>
#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/interleave.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

struct Interleave {
  const char* name;
  void (*interleave)(size_t, size_t, const float*, ptrdiff_t, float*);
};
RL_VARIANTS(Interleave, variants, interleave)
std::ostream& operator<<(std::ostream& out, const Interleave& each) { return out << each.name; }

class InterleaveTest : public ::testing::TestWithParam<Interleave> {};
INSTANTIATE_TEST_SUITE_P(Variants, InterleaveTest, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(InterleaveTest, Planes_OfAnySize_LieSideBySide) {
  for (size_t planes = 1; planes <= kInterleavedPlanes; ++planes) {
    for (size_t count = 0; count <= 70; ++count) {
      for (const Edge edge : {Edge::kFront, Edge::kBack}) {
        const size_t stride = count + 3;
        Guarded<float> from((planes - 1) * stride + count, edge);
        std::iota(from.begin(), from.end(), 1.0F);
        Guarded<float> to(planes * count, edge);
        std::vector<float> expected(planes * count);
        reference::interleave(count, planes, from.data(), static_cast<ptrdiff_t>(stride), expected.data());
        GetParam().interleave(count, planes, from.data(), static_cast<ptrdiff_t>(stride), to.data());
        ASSERT_EQ(std::vector<float>(to.begin(), to.end()), expected) << count << " of " << planes;
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
