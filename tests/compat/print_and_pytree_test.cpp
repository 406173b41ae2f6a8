// SPDX-License-Identifier: BSD-3-Clause
// Values as text, and nested structures from text.
#include <sstream>
#include <string>
#include <vector>

#include <executorch/extension/evalue_util/print_evalue.h>
#include <executorch/extension/pytree/pytree.h>
#include <gtest/gtest.h>

#include "tests/compat/tensors.h"

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::extension::evalue_edge_items;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::EValue;
using rushlight::compat::testing::TensorOf;
namespace pytree = executorch::extension::pytree;

std::string text_of(const EValue& value, long edge_items = 0) {
  std::ostringstream os;
  os << evalue_edge_items(edge_items) << value;
  return os.str();
}

TEST(PrintEValue, OfNumbers_LooksLikeThem) {
  EXPECT_EQ(text_of(EValue()), "None");
  EXPECT_EQ(text_of(EValue(true)), "True");
  EXPECT_EQ(text_of(EValue(int64_t{-1152921504606846976})), "-1152921504606846976");
  EXPECT_EQ(text_of(EValue(10.0)), "10.");
  EXPECT_EQ(text_of(EValue(-0.0)), "-0.");
  EXPECT_EQ(text_of(EValue(-10.1)), "-10.1");
  EXPECT_EQ(text_of(EValue(Scalar(-INFINITY))), "-inf");
  EXPECT_EQ(text_of(EValue(1e30)), "1e+30");
  EValue unknown;
  unknown.tag = static_cast<executorch::runtime::Tag>(77);
  EXPECT_EQ(text_of(unknown), "<Unknown EValue tag 77>");
}

TEST(PrintEValue, OfText_QuotesIt) {
  const std::string text = "a \"b\" \\";
  ArrayRef<char> characters(text.data(), text.size());
  EXPECT_EQ(text_of(EValue(&characters)), "\"a \\\"b\\\" \\\\\"");
}

TEST(PrintEValue, OfLongLists_KeepsTheirEnds) {
  std::vector<double> numbers(30);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i);
  ArrayRef<double> seven(numbers.data(), 7);
  EXPECT_EQ(text_of(EValue(&seven)), "(len=7)[0., 1., 2., ..., 4., 5., 6.]");
  EXPECT_EQ(text_of(EValue(&seven), 1), "(len=7)[0., ..., 6.]");
  EXPECT_EQ(text_of(EValue(&seven), 4), "(len=7)[0., 1., 2., 3., 4., 5., 6.]");
  ArrayRef<double> eleven(numbers.data(), 11);
  EXPECT_EQ(text_of(EValue(&eleven), 50),
            "(len=11)[\n  0., 1., 2., 3., 4., 5., 6., 7., 8., 9., \n  10., \n]");
  ArrayRef<double> all(numbers.data(), numbers.size());
  EXPECT_EQ(text_of(EValue(&all), 11),
            "(len=30)[\n  0., 1., 2., 3., 4., 5., 6., 7., 8., 9., \n  10., \n  ...,\n"
            "  19., \n  20., 21., 22., 23., 24., 25., 26., 27., 28., 29., \n]");
}

TEST(PrintEValue, OfTensors_HasSizesAndElements) {
  TensorOf<float> tensor({2, 2}, {1, 2.5, 3, 4});
  TensorOf<int8_t> bytes({1}, {-3});
  const std::string text = "tensor(sizes=[2, 2], [1., 2.5, 3., 4.])";
  EXPECT_EQ(text_of(EValue(Tensor(tensor))), text);
  EXPECT_EQ(text_of(EValue(Tensor(bytes))), "tensor(sizes=[1], [-3])");
  EValue value{Tensor(tensor)};
  EValue* values[] = {nullptr, &value};
  std::optional<Tensor> items[2];
  BoxedEvalueList<std::optional<Tensor>> list(values, items, 2);
  EXPECT_EQ(text_of(EValue(&list)), "(len=2)[\n  [0]: None,\n  [1]: " + text + ",\n]");
  BoxedEvalueList<std::optional<Tensor>> one(values + 1, items, 1);
  EXPECT_EQ(text_of(EValue(&one)), "(len=1)[" + text + "]");
}

TEST(PyTree, FromText_HoldsTheLeaves) {
  int leaves[] = {11, 12, 13};
  auto tree = pytree::unflatten(std::string("D2#2#1('a':L2#1#1($,$),7:$)"), leaves);
  ASSERT_TRUE(tree.isDict());
  EXPECT_TRUE(tree.at("a").isList());
  EXPECT_EQ(tree.at("a")[1], 12);
  EXPECT_EQ(tree.at(7), 13);
  EXPECT_TRUE(tree.contains("a"));
  EXPECT_FALSE(tree.contains("b"));
  EXPECT_EQ(tree.leaves_num(), 3u);
  auto [flat, spec] = pytree::flatten(tree);
  ASSERT_EQ(flat.size(), 3u);
  EXPECT_EQ(*flat[2], 13);
  EXPECT_EQ(pytree::to_str(*spec), "D2#2#1('a':L2#1#1($,$),7:$)");
  EXPECT_TRUE(*spec == pytree::from_str("D2#2#1('a':L2#1#1($,$),7:$)"));
  EXPECT_FALSE(*spec == pytree::from_str("D2#2#1('c':L2#1#1($,$),7:$)"));
  EXPECT_THROW(static_cast<void>(tree.at("b")), std::runtime_error);
  EXPECT_EQ(pytree::to_str(pytree::from_str("T0()")), "T0()");
}

TEST(PyTree, WithIntegerKeys_GivesItsTextBack) {
  for (const char* text : {"D2#1#1(-7:$,0:$)", "D2#1#1(-2147483648:$,2147483647:$)"}) {
    EXPECT_EQ(pytree::to_str(pytree::from_str(std::string(text))), text);
  }
  int leaf = 11;
  EXPECT_EQ(pytree::unflatten(std::string("D1#1(-7:$)"), &leaf).at(-7), 11);
}

TEST(PyTree, FromDamagedText_Throws) {
  int leaves[2] = {};
  for (const char* text : {"", "L", "L1", "L1#1", "L1#1(", "L1#1($", "L1#1($,$)", "L2#1#1($)", "L1#2($)",
                           "L1($)", "D1#1('a':$,'b':$)", "D1#1('a", "L1#1($)$", "L99999999999#1($)",
                           "T3#1($)", "D1#1(2147483648:$)", "D1#1(-2147483649:$)", "D1#1(-"}) {
    EXPECT_THROW(pytree::unflatten(std::string(text), leaves), std::out_of_range) << text;
  }
  EXPECT_THROW(pytree::unflatten(std::string("Lx"), leaves), std::runtime_error);
  EXPECT_THROW(pytree::unflatten(std::string("?"), leaves), std::runtime_error);
  EXPECT_THROW(pytree::unflatten(std::string("D1#1(-:$)"), leaves), std::runtime_error);
  EXPECT_THROW(pytree::unflatten(std::string("L-1#1($)"), leaves), std::runtime_error);
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "L1#1(";
  EXPECT_THROW(pytree::unflatten(deep, leaves), std::out_of_range);
}

}  // namespace
