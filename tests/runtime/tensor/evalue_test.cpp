// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/evalue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rushlight {
namespace {

using ::testing::ElementsAre;

TEST(EValue, IsNone_WhenDefault) {
  EXPECT_TRUE(EValue().is_none());
  EXPECT_FALSE(EValue().is_number());
}

TEST(EValue, ReadsNumbersAsEachOther_WherePythonWould) {
  EXPECT_EQ(EValue(true).to_int(), 1);
  EXPECT_EQ(EValue(true).to_double(), 1.0);
  EXPECT_EQ(EValue(int64_t{7}).to_double(), 7.0);
  EXPECT_TRUE(EValue(int64_t{7}).to_bool());
  EXPECT_FALSE(EValue(int64_t{0}).to_bool());
  EXPECT_EQ(EValue(2.5).to_double(), 2.5);
  EXPECT_TRUE(EValue(2.5).is_number() && EValue(true).is_number() && EValue(int64_t{1}).is_number());
}

TEST(EValue, KeepsTheKind_OfScalars) {
  EXPECT_TRUE(EValue(true).to_scalar().is_bool());
  EXPECT_TRUE(EValue(int64_t{1}).to_scalar().is_integral(false));
  EXPECT_TRUE(EValue(1.0).to_scalar().is_floating());
}

TEST(EValue, HoldsStringsByLength_ZeroBytesIncluded) {
  EXPECT_EQ(EValue(std::string_view("a\0b", 3)).to_string_view().size(), 3u);
}

TEST(EValueLists, AreGatheredAnew_WhenItemsChange) {
  EValue items[] = {EValue(int64_t{1}), EValue(int64_t{2})};
  EValue* pointers[] = {&items[0], &items[1], &items[0]};
  int64_t gathered[3];
  const BoxedList<int64_t> list{pointers, gathered};
  EValue value;
  value.tag = Tag::ListInt;
  value.length = 3;
  value.payload.as_int_list = &list;
  EXPECT_THAT(std::vector<int64_t>(value.to_int_list().begin(), value.to_int_list().end()),
              ElementsAre(1, 2, 1));
  items[0] = EValue(int64_t{9});
  EXPECT_THAT(std::vector<int64_t>(value.to_int_list().begin(), value.to_int_list().end()),
              ElementsAre(9, 2, 9));
}

TEST(EValueLists, OfOptionalTensors_TakeAbsentAndNone) {
  TensorImpl impl(ScalarType::Float, 0, nullptr, nullptr, nullptr, nullptr);
  EValue tensor{Tensor(&impl)};
  EValue none;
  EValue* pointers[] = {nullptr, &tensor, &none};
  std::optional<Tensor> gathered[3];
  const BoxedList<std::optional<Tensor>> list{pointers, gathered};
  EValue value;
  value.tag = Tag::ListOptionalTensor;
  value.length = 3;
  value.payload.as_optional_tensor_list = &list;
  const auto tensors = value.to_optional_tensor_list();
  EXPECT_FALSE(tensors[0].has_value());
  EXPECT_EQ(tensors[1]->impl(), &impl);
  EXPECT_FALSE(tensors[2].has_value());
}

TEST(Tag, IsSpelledOut) {
  EXPECT_STREQ(to_string(Tag::ListOptionalTensor), "ListOptionalTensor");
  EXPECT_STREQ(to_string(static_cast<Tag>(77)), "unknown");
}

TEST(Scalar, Converts_AsItsKindDoes) {
  EXPECT_EQ(Scalar(3).to<float>(), 3.0f);
  EXPECT_EQ(Scalar(2.75).to<int64_t>(), 2);
  EXPECT_EQ(Scalar(true).to<int8_t>(), 1);
  EXPECT_EQ(static_cast<float>(Scalar(0.5).to<Half>()), 0.5f);
  EXPECT_EQ(Scalar(3).type(), ScalarType::Long);
  EXPECT_EQ(Scalar(3.0).type(), ScalarType::Float);
  EXPECT_EQ(Scalar(false).type(), ScalarType::Bool);
}

}  // namespace
}  // namespace rushlight
