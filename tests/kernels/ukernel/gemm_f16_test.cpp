// SPDX-License-Identifier: BSD-3-Clause
// See narrow_gemm.h.
#include "kernels/ukernel/gemm_f16.h"

#include "kernels/ukernel/reference/gemm_f16.h"
#include "tests/kernels/ukernel/narrow_gemm.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using testing::NarrowGemm;
RL_HALF_VARIANTS(NarrowGemm, variants, gemm_has_f16, gemm_rows_f16, gemm_columns_f16, gemm_tile_f16,
                 gemm_pack_f16)
constexpr int kFractionBits = 10;

class GemmF16Test : public ::testing::TestWithParam<NarrowGemm> {};
INSTANTIATE_TEST_SUITE_P(Variants, GemmF16Test, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(GemmF16Test, Tile_OfEachSize_IsTheReference) {
  testing::expect_tiles_of_the_reference(GetParam(), kFractionBits);
}

TEST_P(GemmF16Test, Tile_OfNanAndInfinities_IsThatOfFloat32) {
  testing::expect_special_values_as_in_float32(GetParam(), kFractionBits);
}

TEST_P(GemmF16Test, Pack_OfEachLayout_HasGroupsAndZeros) {
  testing::expect_panels_of_groups_and_zeros(GetParam(), kFractionBits);
}

TEST_P(GemmF16Test, OnlyVariantsWithTheInstruction_SayThatTheyGain) {
  const std::string name = GetParam().name;
  EXPECT_EQ(GetParam().has(), name == "fp16fml");
}

}  // namespace
}  // namespace rushlight::ukernel
