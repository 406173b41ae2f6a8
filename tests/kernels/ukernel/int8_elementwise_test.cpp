// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/ukernel/int8_elementwise.h"

#include <ostream>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/ukernel/reference/int8_elementwise.h"
#include "tests/kernels/ukernel/guarded.h"
#include "tests/kernels/ukernel/int8_samples.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using rushlight::testing::Edge;
using rushlight::testing::Guarded;

struct Functions {
  const char* name;
  decltype(&ukernel::native::add_int8) add;
};
RL_EXACT_VARIANTS(Functions, variants, add_int8)
std::ostream& operator<<(std::ostream& out, const Functions& functions) { return out << functions.name; }

class Int8ElementwiseVariants : public ::testing::TestWithParam<Functions> {};
INSTANTIATE_TEST_SUITE_P(Each, Int8ElementwiseVariants, ::testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param.name; });

// The last of them fills 32 bits: 128 * 2 * 8388000 + 2^19.
const QuantizedSum kSums[] = {{{1234567, -987654}, 1 << 19, 20, -3, -128, 127},
                              {{1 << 20, 1 << 20}, 0, 20, 0, -128, 127},
                              {{-300, 77}, 12345, 3, 17, -20, 90},
                              {{0, 0}, 7, 0, 0, 5, 5},
                              {{8388000, 8388000}, 1 << 19, 20, 100, -128, 127}};

void compare(const Functions& f, const QuantizedSum& sum, size_t count, size_t n, bool one, Edge edge) {
  Guarded<int8_t> a(count * n, edge), b(one ? count : count * n, edge), out(count * n, edge);
  fill_int8(a);
  fill_int8(b);
  std::vector<int8_t> expected(count * n);
  for (size_t i = 0; i < count * n; ++i) expected[i] = reference::add_int8(sum, a[i], b[one ? i / n : i]);
  Rows rows{};
  rows.count = count;
  rows.n = n;
  rows.in[0] = {a.data(), static_cast<ptrdiff_t>(n), false};
  rows.in[1] = {b.data(), one ? 1 : static_cast<ptrdiff_t>(n), one};
  rows.out = out.data();
  rows.stride = static_cast<ptrdiff_t>(n);
  f.add(rows, sum);
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], expected[i]) << i << " of " << count << " x " << n;
  rows.out = a.data();
  f.add(rows, sum);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(a[i], expected[i]) << "in place: " << i;
}

TEST_P(Int8ElementwiseVariants, Sums_SameBitsAsReference) {
  for (const QuantizedSum& sum : kSums) {
    for (const size_t n : {1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 300}) {
      for (const bool one : {false, true}) {
        compare(GetParam(), sum, 1, n, one, Edge::kBack);
        compare(GetParam(), sum, 3, n, one, Edge::kFront);
      }
    }
  }
}

}  // namespace
}  // namespace rushlight::ukernel
