// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/baked/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/baked/method.h"

namespace rushlight::baked {
namespace {

using ::testing::ElementsAre;
using Dynamism = TensorShapeDynamism;

constexpr SizesType kSizes[] = {2, 3};
constexpr StridesType kStrides[] = {3, 1};
constexpr DimOrderType kOrder[] = {0, 1};
alignas(16) uint8_t memory[24];

// In read-only memory, if all is as it should be.
constexpr TensorImpl kFixed = fixed(ScalarType::Float, kSizes, kStrides, kOrder, 6, memory, Storage::Planned);
constexpr Tensor kHandle = handle(kFixed);

struct Resizable {
  SizesType sizes[2] = {2, 3};
  StridesType strides[2] = {3, 1};
  TensorImpl impl;
  Tensor tensor{&impl};
  explicit Resizable(const uint8_t* data, Storage storage)
      : impl(resizable(ScalarType::Float, sizes, strides, kOrder, 6, data, storage,
                       Dynamism::DYNAMIC_BOUND)) {}
};

TEST(FixedTensor, IsAsOneMadeAtRunTime_WithoutBeingWritten) {
  SizesType sizes[] = {2, 3};
  DimOrderType order[] = {0, 1};
  StridesType strides[2];
  const TensorImpl plain(ScalarType::Float, 2, sizes, memory, order, strides);
  EXPECT_EQ(kHandle.strides()[0], strides[0]);
  EXPECT_EQ(kHandle.strides()[1], strides[1]);
  EXPECT_EQ(kHandle.numel(), plain.numel());
  EXPECT_EQ(kHandle.nbytes(), plain.nbytes());
  EXPECT_TRUE(kFixed.is_writable());
  // A write would fault.
  EXPECT_EQ(written(kHandle).impl()->resize({sizes, 2}), Error::Ok);
  sizes[0] = 1;
  EXPECT_EQ(written(kHandle).impl()->resize({sizes, 2}), Error::NotSupported);
}

TEST(FixedTensor, OfRankZero_HasOneElement) {
  constexpr TensorImpl kScalar = fixed(ScalarType::Long, memory, Storage::Constant);
  EXPECT_EQ(kScalar.numel(), 1u);
  EXPECT_EQ(kScalar.dim(), 0);
  EXPECT_FALSE(kScalar.is_writable());
}

TEST(CheckTensors, WithoutMemory_IsInvalidState) {
  Resizable loose(nullptr, Storage::None);
  const Use read[] = {{&kHandle, true}, {&loose.tensor, false}};
  EXPECT_EQ(check_tensors(read), Error::InvalidState);
  loose.impl.set_data(memory, Storage::Given);
  EXPECT_EQ(check_tensors(read), Error::Ok);
}

TEST(CheckTensors, OfAWrittenConstant_IsInvalidProgram) {
  Resizable constant(memory, Storage::ConstantView);
  const Use uses[] = {{&constant.tensor, true}};
  EXPECT_EQ(check_tensors(uses), Error::InvalidProgram);
}

TEST(CheckTensors, OfOneThatIsResizedAndRead_IsInvalidProgram) {
  Resizable own(memory, Storage::Planned);
  const Tensor again(&own.impl);
  const Use uses[] = {{&own.tensor, false}, {&again, true}};
  EXPECT_EQ(check_tensors(uses), Error::InvalidProgram);
  const Use reads[] = {{&own.tensor, false}, {&again, false}};
  EXPECT_EQ(check_tensors(reads), Error::Ok);
  const Use in_place[] = {{&kHandle, false}, {&kHandle, true}};
  EXPECT_EQ(check_tensors(in_place), Error::Ok);
}

TEST(ReadCondition, TakesNumbersAndOneBool) {
  bool holds = false;
  EXPECT_EQ(read_condition(EValue(int64_t{2}), &holds), Error::Ok);
  EXPECT_TRUE(holds);
  EXPECT_EQ(read_condition(EValue(0.0), &holds), Error::Ok);
  EXPECT_FALSE(holds);
  const uint8_t flag = 1;
  const TensorImpl one = fixed(ScalarType::Bool, &flag, Storage::Planned);
  EXPECT_EQ(read_condition(EValue(handle(one)), &holds), Error::Ok);
  EXPECT_TRUE(holds);
  EXPECT_EQ(read_condition(EValue(kHandle), &holds), Error::InvalidProgram);
}

TEST(ForgetViews, TakesTheMemoryOfViewsOnly) {
  for (const Storage storage : {Storage::View, Storage::ConstantView}) {
    TensorImpl tensors[] = {Resizable(memory, storage).impl};
    forget_views(tensors);
    EXPECT_EQ(tensors[0].data(), nullptr);
    EXPECT_EQ(tensors[0].storage(), Storage::None);
  }
  for (const Storage storage : {Storage::Planned, Storage::Given, Storage::Lent, Storage::Constant}) {
    TensorImpl tensors[] = {Resizable(memory, storage).impl};
    forget_views(tensors);
    EXPECT_EQ(tensors[0].data(), memory);
    EXPECT_EQ(tensors[0].storage(), storage);
  }
}

TEST(TakeInput, OfASmallerShape_CopiesToPlannedMemory) {
  Resizable planned(memory, Storage::Planned);
  const float data[] = {1, 2, 3};
  const SizesType sizes[] = {1, 3};
  EXPECT_EQ(take_input(0, planned.tensor, data, sizes), Error::Ok);
  EXPECT_THAT(planned.sizes, ElementsAre(1, 3));
  EXPECT_EQ(planned.tensor.const_data_ptr<float>()[2], 3);
  const SizesType more[] = {3, 3};
  EXPECT_EQ(take_input(0, planned.tensor, data, more), Error::InvalidArgument);
  const SizesType negative[] = {-1, 3};
  EXPECT_EQ(take_input(0, planned.tensor, data, negative), Error::InvalidArgument);
}

TEST(TakeInput, OfALentTensor_UsesTheCallersMemory) {
  Resizable lent(nullptr, Storage::Lent);
  EXPECT_EQ(check_input(0, lent.tensor), Error::InvalidState);
  const float data[] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(take_input(0, lent.tensor, data, kSizes), Error::Ok);
  EXPECT_EQ(lent.tensor.const_data_ptr(), data);
  EXPECT_EQ(check_input(0, lent.tensor), Error::Ok);
}

TEST(GiveOutput, CopiesElementsAndSizes) {
  memory[0] = 7;
  uint8_t out[24] = {};
  SizesType sizes[2] = {};
  give_output(kHandle, out, sizes);
  EXPECT_EQ(out[0], 7);
  EXPECT_THAT(sizes, ElementsAre(2, 3));
}

TEST(Method, OfWrongIndex_IsInvalidArgument) {
  const Method method = {"m",
                         1,
                         1,
                         0,
                         0,
                         0,
                         [] {},
                         [] { return Error::Ok; },
                         [](size_t) { return EValue(int64_t{3}); },
                         [](size_t) { return EValue(kHandle); }};
  EXPECT_EQ(method.set_input(1, EValue()), Error::InvalidArgument);
  EXPECT_EQ(method.set_input(0, EValue(int64_t{3})), Error::Ok);
  EXPECT_EQ(method.set_input(0, EValue(int64_t{4})), Error::InvalidArgument);
  EXPECT_EQ(method.set_input(0, EValue(3.0)), Error::InvalidType);
  EXPECT_EQ(method.set_output_buffer(1, {}), Error::InvalidArgument);
  EXPECT_EQ(method.set_output_buffer(0, {}), Error::InvalidState);
}

}  // namespace
}  // namespace rushlight::baked
