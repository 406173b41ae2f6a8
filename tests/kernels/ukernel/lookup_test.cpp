// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/lookup.h"

#include <cstring>
#include <ostream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/lookup.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

struct Lookup {
  const char* name;
  decltype(&ukernel::native::look_up_bytes) look_up;
};
RL_EXACT_VARIANTS(Lookup, variants, look_up_bytes)
std::ostream& operator<<(std::ostream& out, const Lookup& lookup) { return out << lookup.name; }

class LookupVariant : public ::testing::TestWithParam<Lookup> {};
INSTANTIATE_TEST_SUITE_P(Each, LookupVariant, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

void fill(Guarded<uint8_t>& bytes, unsigned seed) {
  std::minstd_rand random(seed);
  for (uint8_t& each : bytes) each = static_cast<uint8_t>(random() >> 8);
}

TEST_P(LookupVariant, EveryByteAtEveryPlace_IsTheTables) {
  Guarded<uint8_t> table(256, Edge::kBack);
  fill(table, 1);
  for (const size_t count : {0, 1, 15, 16, 31, 32, 127, 128, 129, 255, 256, 257, 300, 1000}) {
    for (const Edge edge : {Edge::kFront, Edge::kBack}) {
      Guarded<uint8_t> from(count, edge), to(count, edge);
      for (size_t i = 0; i < count; ++i) from[i] = static_cast<uint8_t>(i * 7 + count);
      std::vector<uint8_t> expected(count);
      reference::look_up_bytes(table.data(), count, from.data(), expected.data());
      GetParam().look_up(table.data(), count, from.data(), to.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(to[i], expected[i]) << i << " of " << count;
      GetParam().look_up(table.data(), count, from.data(), from.data());
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(from[i], expected[i]) << "in place: " << i;
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
