// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/scalar_type.h"

#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace rushlight {
namespace {

using S = ScalarType;

// The order of the rows and columns of kPromoted.
constexpr S kTypes[] = {S::Byte,     S::Char,   S::Short,       S::Int,          S::Long,          S::Half,
                        S::Float,    S::Double, S::ComplexHalf, S::ComplexFloat, S::ComplexDouble, S::Bool,
                        S::BFloat16, S::UInt16, S::UInt32,      S::UInt64};
constexpr size_t kCount = std::size(kTypes);

// torch.promote_types of torch 2.13 as one letter a type: bcsilhfd for the integers and floats, H F D for
// complex, B bool, x bfloat16, u v w for uint16, 32 and 64; a dot where torch refuses.
constexpr char kLetters[] = "bcsilhfdHFDBxuvw";
constexpr const char* kPromoted[kCount] = {
    "bssilhfdHFDbx...",  // uint8
    "scsilhfdHFDcx...",  // int8
    "sssilhfdHFDsx...",  // int16
    "iiiilhfdHFDix...",  // int32
    "lllllhfdHFDlx...",  // int64
    "hhhhhhfdHFDhfhhh",  // float16
    "fffffffdFFDfffff",  // float32
    "ddddddddDDDddddd",  // float64
    "HHHHHHFDHFDHF...",  // complex32
    "FFFFFFFDFFDFF...",  // complex64
    "DDDDDDDDDDDDD...",  // complex128
    "bcsilhfdHFDBx...",  // bool
    "xxxxxffdFFDxxxxx",  // bfloat16
    ".....hfd....xu..",  // uint16
    ".....hfd....x.v.",  // uint32
    ".....hfd....x..w",  // uint64
};

TEST(PromoteTypes, IsTorchs_ForEveryPairThatTorchTakes) {
  for (size_t i = 0; i < kCount; ++i) {
    for (size_t j = 0; j < kCount; ++j) {
      const char expected = kPromoted[i][j];
      if (expected == '.') continue;
      const S type = kTypes[std::string(kLetters).find(expected)];
      EXPECT_EQ(promote_types(kTypes[i], kTypes[j]), type)
          << to_string(kTypes[i]) << " with " << to_string(kTypes[j]);
    }
  }
}

TEST(PromoteTypes, IsSymmetric_ForEveryPair) {
  for (const S a : kTypes) {
    for (const S b : kTypes) EXPECT_EQ(promote_types(a, b), promote_types(b, a));
  }
}

TEST(ElementSize, IsTheNumberOfBytes) {
  constexpr size_t kSizes[kCount] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 2, 2, 4, 8};
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(element_size(kTypes[i]), kSizes[i]) << to_string(kTypes[i]);
}

TEST(ElementSize, IsZero_ForNumbersThatAreNoType) {
  for (int number = -128; number < 128; ++number) {
    const auto type = static_cast<S>(number);
    EXPECT_EQ(element_size(type) == 0, std::string(to_string(type)) == "unknown") << number;
  }
  EXPECT_EQ(element_size(static_cast<S>(-1)), 0u);
  EXPECT_EQ(element_size(static_cast<S>(16)), 0u);
  EXPECT_EQ(element_size(static_cast<S>(30)), 0u);
}

TEST(TypeSets, HoldTheirTypes_AndNoNumberBeyond) {
  EXPECT_TRUE(contains(types::kAll, S::UInt64));
  EXPECT_TRUE(contains(types::kReal, S::BFloat16));
  EXPECT_FALSE(contains(types::kReal, S::Bool));
  EXPECT_FALSE(contains(~TypeSet{0}, static_cast<S>(-1)));
  EXPECT_FALSE(contains(~TypeSet{0}, static_cast<S>(32)));
}

TEST(ScalarTypeOf, NamesTheElement) {
  EXPECT_EQ(scalar_type_of<int64_t>, S::Long);
  EXPECT_EQ(scalar_type_of<BFloat16>, S::BFloat16);
  EXPECT_EQ(scalar_type_of<bool>, S::Bool);
}

}  // namespace
}  // namespace rushlight
