// SPDX-License-Identifier: BSD-3-Clause
// Conversions between values of the runtime and of PyTorch.
#include "aten/convert.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rushlight::aten {
namespace {

using testing::ElementsAre;

TEST(Alias, OfATensor_SharesItsMemoryAndShape) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  HostTensor tensor({2, 3}, data);
  const at::Tensor result = alias(tensor.tensor());
  EXPECT_EQ(result.data_ptr(), data);
  EXPECT_EQ(result.scalar_type(), c10::ScalarType::Float);
  EXPECT_THAT(result.sizes().vec(), ElementsAre(2, 3));
  EXPECT_EQ(result.sum().item<float>(), 21);
}

TEST(Alias, OfEveryDtype_HasThatDtype_AndElementSize) {
  for (int number = 0; number < 30; ++number) {
    const auto type = static_cast<ScalarType>(number);
    if (element_size(type) == 0) continue;
    alignas(16) uint8_t data[16] = {};
    HostTensor tensor({1}, type, data);
    const at::Tensor result = alias(tensor.tensor());
    EXPECT_EQ(static_cast<int>(result.scalar_type()), number);
    EXPECT_EQ(result.element_size(), element_size(type));
    EXPECT_EQ(result.data_ptr(), data);
    EXPECT_EQ(*from_aten(result.scalar_type()), type);
  }
}

TEST(Alias, OfChannelsLast_HasItsStrides_WithoutACopy) {
  std::vector<float> data(2 * 3 * 4 * 5);
  HostTensor tensor({2, 3, 4, 5}, data.data(), {0, 2, 3, 1});
  const at::Tensor result = alias(tensor.tensor());
  EXPECT_TRUE(result.is_contiguous(c10::MemoryFormat::ChannelsLast));
  EXPECT_THAT(result.strides().vec(), ElementsAre(60, 1, 15, 3));
}

TEST(Alias, OfRankZeroAndOfNoElements_HasTheirShapes_Too) {
  double number = 7;
  HostTensor scalar({}, &number);
  EXPECT_EQ(alias(scalar.tensor()).dim(), 0);
  EXPECT_EQ(alias(scalar.tensor()).item<double>(), 7);
  HostTensor none({0, 3}, static_cast<float*>(nullptr));
  EXPECT_EQ(alias(none.tensor()).numel(), 0);
}

TEST(Alias, OfAPlannedTensorThatShrank_GrowsAgain_InPlace) {
  int32_t sizes[] = {4};
  int32_t strides[1];
  uint8_t order[] = {0};
  float data[4] = {1, 2, 3, 4};
  TensorImpl impl(ScalarType::Float, 1, sizes, data, order, strides, TensorShapeDynamism::DYNAMIC_BOUND);
  impl.set_data(data, Storage::Planned);
  const int32_t fewer[] = {2};
  ASSERT_EQ(impl.resize(fewer), Error::Ok);
  at::Tensor result = alias(impl);
  EXPECT_EQ(result.numel(), 2);
  result.resize_({4});
  EXPECT_EQ(result.data_ptr(), data);
  result.resize_({5});  // beyond the capacity: ATen allocates
  EXPECT_NE(result.data_ptr(), data);
}

TEST(Alias, OfQuantizedIntegers_KeepsThem_WithScaleOne) {
  int8_t data[2] = {-3, 4};
  HostTensor tensor({2}, ScalarType::QInt8, data);
  const at::Tensor result = alias(tensor.tensor());
  EXPECT_EQ(result.data_ptr(), data);
  EXPECT_EQ(result.dequantize().sum().item<float>(), 1);
}

TEST(TensorAlias, OfAPermutedTensor_HasItsDimOrder_InTheSameMemory) {
  const at::Tensor source = at::empty({2, 3, 4, 5}).contiguous(c10::MemoryFormat::ChannelsLast);
  auto result = TensorAlias::make(source);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->tensor().const_data_ptr(), source.data_ptr());
  const auto order = result->tensor().dim_order();
  EXPECT_THAT(std::vector<int>(order.begin(), order.end()), ElementsAre(0, 2, 3, 1));
  auto transposed = TensorAlias::make(at::empty({2, 3}).t());
  ASSERT_TRUE(transposed.ok());
  EXPECT_EQ(transposed->tensor().strides()[1], 3);
}

TEST(TensorAlias, KeepsTheSource_Alive) {
  auto result = TensorAlias::make(at::arange(5));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->tensor().const_data_ptr<int64_t>()[4], 4);
  TensorAlias moved = std::move(*result);
  EXPECT_EQ(moved.tensor().const_data_ptr<int64_t>()[3], 3);
}

TEST(TensorAlias, OfATensorWithGaps_IsRefused_AndOfOtherForms) {
  EXPECT_EQ(TensorAlias::make(at::arange(10).slice(0, 0, 10, 2)).error(), Error::InvalidArgument);
  EXPECT_EQ(TensorAlias::make(at::empty({3}).expand({2, 3})).error(), Error::InvalidArgument);
  EXPECT_EQ(TensorAlias::make(at::empty({2}, c10::ScalarType::Float8_e5m2)).error(), Error::InvalidType);
  EXPECT_EQ(TensorAlias::make(at::empty({2}, c10::ScalarType::ComplexFloat).conj()).error(),
            Error::NotSupported);
  EXPECT_EQ(TensorAlias::make(at::Tensor()).error(), Error::NotSupported);
}

// Each kind of argument goes to a value of the runtime and back.
TEST(Values, OfEveryKind_ComeBack_Equal) {
  const at::Tensor tensor = at::arange(3);
  c10::List<std::optional<at::Tensor>> optional;
  optional.push_back(std::nullopt);
  optional.push_back(tensor);
  const std::vector<c10::IValue> all = {
      c10::IValue(),
      int64_t{-5},
      2.5,
      true,
      std::string("mean"),
      c10::List<int64_t>({1, 2}),
      c10::List<double>({0.5}),
      c10::List<bool>({true, false}),
      c10::List<at::Tensor>({tensor, tensor}),
      optional,
      c10::IValue(c10::List<int64_t>()),
  };
  Values values;
  for (const c10::IValue& value : all) {
    auto made = values.add(value);
    ASSERT_TRUE(made.ok()) << value;
    const c10::IValue back = to_ivalue(**made);
    EXPECT_EQ(back.tagKind(), value.tagKind());
    if (!value.isTensorList() && !value.isOptionalTensorList()) {
      EXPECT_EQ(back, value);
    }
  }
  auto list = values.add(optional);
  ASSERT_TRUE(list.ok());
  const auto items = to_ivalue(**list).toOptionalTensorVector();
  EXPECT_FALSE(items[0].has_value());
  EXPECT_EQ(items[1]->data_ptr(), tensor.data_ptr());
}

TEST(Values, OfKindsThatProgramsLack_AreRefused_WithInvalidType) {
  Values values;
  EXPECT_EQ(values.add(c10::complex<double>(1, 2)).error(), Error::InvalidType);
  EXPECT_EQ(values.add(c10::List<std::string>({"a"})).error(), Error::InvalidType);
}

TEST(ToIvalue, OfANumber_ConvertsToTheKindOfTheParameter_Only) {
  EXPECT_TRUE(to_ivalue(EValue(int64_t{2}), 'd').isDouble());
  EXPECT_TRUE(to_ivalue(EValue(int64_t{2}), 's').isInt());
  EXPECT_TRUE(to_ivalue(EValue(true), 'I').isInt());
  EXPECT_TRUE(to_ivalue(EValue(int64_t{1}), 'b').isBool());
  EXPECT_TRUE(to_ivalue(EValue(), 'D').isNone());
}

}  // namespace
}  // namespace rushlight::aten
