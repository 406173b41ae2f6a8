// SPDX-License-Identifier: BSD-3-Clause
// See narrow_gemm.h.
#include "kernels/ukernel/gemm_bf16.h"

#include "kernels/ukernel/reference/gemm_bf16.h"
#include "tests/kernels/ukernel/narrow_gemm.h"
#include "tests/kernels/ukernel/variants_here.h"

namespace rushlight::ukernel {
namespace {

using testing::NarrowGemm;
RL_BFLOAT16_VARIANTS(NarrowGemm, variants, gemm_has_bf16, gemm_rows_bf16, gemm_columns_bf16, gemm_tile_bf16,
                     gemm_pack_bf16, gemm_group_bf16)
constexpr int kFractionBits = 7;

class GemmBf16Test : public ::testing::TestWithParam<NarrowGemm> {};
INSTANTIATE_TEST_SUITE_P(Variants, GemmBf16Test, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(GemmBf16Test, Tile_OfEachSize_IsTheReference) {
  testing::expect_tiles_of_the_reference(GetParam(), kFractionBits);
}

TEST_P(GemmBf16Test, Tile_OfNanAndInfinities_IsThatOfFloat32) {
  testing::expect_special_values_as_in_float32(GetParam(), kFractionBits);
}

TEST_P(GemmBf16Test, Pack_OfEachLayout_HasGroupsAndZeros) {
  testing::expect_panels_of_groups_and_zeros(GetParam(), kFractionBits);
}

TEST_P(GemmBf16Test, OnlyVariantsWithTheInstruction_SayThatTheyGain) {
  const std::string name = GetParam().name;
  EXPECT_EQ(GetParam().has(), name == "avx512bf16" || name == "bf16");
}

}  // namespace
}  // namespace rushlight::ukernel
