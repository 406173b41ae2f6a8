// SPDX-License-Identifier: BSD-3-Clause
// ATen mode (USE_ATEN_LIB): values, tensor utilities, tensors with owners, kernels and programs on PyTorch's
// tensors. One source, because PyTorch's headers take most of its time.
#include <sstream>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/evalue_util/print_evalue.h>
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/support/program_builder.h"

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::Module;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::aten::KernelRuntimeContext;
using ::testing::ElementsAre;

static_assert(std::is_same_v<Tensor, at::Tensor> && std::is_same_v<executorch::aten::Scalar, c10::Scalar>);
static_assert(std::is_same_v<executorch::aten::SizesType, int64_t>);
static_assert(std::is_same_v<executorch::extension::Method, executorch::runtime::aten::Method>);

TEST(AtenModeEValue, Tensor_Released_StaysAlive) {
  EValue value(at::ones({2}));
  EValue copy = value;
  value = EValue();
  ASSERT_TRUE(copy.isTensor());
  EXPECT_EQ(copy.toTensor().sum().item<float>(), 2);
  EXPECT_EQ(copy.tryToInt().error(), Error::InvalidType);
  EValue moved = std::move(copy);
  EXPECT_TRUE(copy.isNone());
  EXPECT_TRUE(moved.isTensor());
}

TEST(AtenModeEValue, Numbers_KeepTheirKind) {
  EXPECT_EQ(EValue(int64_t{3}).toInt(), 3);
  EXPECT_EQ(EValue(2.5).toScalar().to<double>(), 2.5);
  EXPECT_TRUE(EValue(executorch::aten::Scalar(true)).toBool());
  EXPECT_EQ(EValue(int64_t{6}).toScalarType(), at::kFloat);
  EXPECT_FALSE(EValue().toOptional<Tensor>().has_value());
}

TEST(AtenModeEValue, Lists_GatherTheirValues) {
  EValue one(int64_t{1}), two(int64_t{2}), tensor(at::ones({3}));
  EValue* ints[] = {&one, &two};
  int64_t int_items[2];
  BoxedEvalueList<int64_t> int_list(ints, int_items, 2);
  EXPECT_THAT(EValue(&int_list).toIntList(), ElementsAre(1, 2));
  EValue* optionals[] = {nullptr, &tensor};
  std::optional<Tensor> items[2];
  BoxedEvalueList<std::optional<Tensor>> list(optionals, items, 2);
  const auto read = EValue(&list).toListOptionalTensor();
  EXPECT_FALSE(read[0].has_value());
  EXPECT_TRUE(read[1]->is_same(tensor.toTensor()));
}

TEST(AtenModeTensorUtil, DimOrder_FollowsStrides) {
  const Tensor image = at::ones({1, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  uint8_t order[4];
  ASSERT_EQ(executorch::runtime::aten::get_dim_order(image, order, 4), Error::Ok);
  EXPECT_THAT(order, ElementsAre(0, 2, 3, 1));
  EXPECT_TRUE(executorch::runtime::aten::tensor_is_channels_last_dim_order(image));
  EXPECT_FALSE(executorch::runtime::aten::tensor_is_default_dim_order(image));
  EXPECT_FALSE(executorch::runtime::aten::tensors_have_same_dim_order(image, image.contiguous()));
  EXPECT_EQ(executorch::runtime::aten::get_dim_order(image, order, 3), Error::InvalidArgument);
}

TEST(AtenModeTensorUtil, ResizeTensor_KeepsMemoryAndDimOrder) {
  Tensor image = at::ones({1, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  const void* memory = image.const_data_ptr();
  ASSERT_EQ(executorch::runtime::aten::resize_tensor(image, ArrayRef<int64_t>({1, 3, 2, 5})), Error::Ok);
  EXPECT_EQ(image.const_data_ptr(), memory);
  EXPECT_THAT(image.strides(), ElementsAre(30, 1, 15, 3));
  using executorch::runtime::aten::internal::resize_tensor_impl;
  EXPECT_EQ(resize_tensor_impl(image.unsafeGetTensorImpl(), {60}), Error::NotSupported);
}

TEST(AtenModeTensorUtil, ResizeTensor_BeyondTheMemory_GrowsWhatPyTorchAllocated) {
  using executorch::runtime::aten::internal::resize_tensor_impl;
  Tensor owner = at::arange(4, at::kFloat);
  Tensor part = owner.slice(0, 2, 4);
  ASSERT_EQ(resize_tensor_impl(part.unsafeGetTensorImpl(), {6}), Error::Ok);
  EXPECT_EQ(owner.storage().nbytes(), (2 + 6) * sizeof(float));
  EXPECT_TRUE(at::equal(owner, at::arange(4, at::kFloat)));
  float memory[4] = {};
  Tensor borrowed = at::from_blob(memory, {4}).slice(0, 2, 4);
  EXPECT_EQ(resize_tensor_impl(borrowed.unsafeGetTensorImpl(), {3}), Error::OutOfResources);
  EXPECT_EQ(borrowed.size(0), 2);
}

TEST(AtenModeTensorUtil, MemoryFunctions_ShareAndCopy) {
  namespace internal = executorch::runtime::aten::internal;
  Tensor target = at::zeros({2}), source = at::ones({2});
  ASSERT_EQ(internal::copy_tensor_data(target, source), Error::Ok);
  EXPECT_TRUE(at::equal(target, source));
  ASSERT_EQ(internal::share_tensor_data(target, source), Error::Ok);
  EXPECT_EQ(target.const_data_ptr(), source.const_data_ptr());
  EXPECT_EQ(internal::share_tensor_data(target, at::ones({3})), Error::InvalidArgument);
  float memory[2] = {5, 6};
  ASSERT_EQ(internal::set_tensor_data(target, memory, sizeof memory), Error::Ok);
  EXPECT_EQ(target.const_data_ptr(), memory);
}

TEST(AtenModeTensorPtr, Makers_GivePyTorchsTensors) {
  using executorch::extension::make_tensor_ptr;
  const auto made = make_tensor_ptr({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f});
  EXPECT_TRUE(at::equal(*made, at::tensor({1.0f, 2.0f, 3.0f, 4.0f}).reshape({2, 2})));
  EXPECT_EQ(executorch::extension::clone_tensor_ptr(made, at::kDouble)->scalar_type(), at::kDouble);
  bool deleted = false;
  float memory[2] = {1, 2};
  {
    const executorch::extension::TensorPtr tensor = executorch::extension::from_blob(memory, {2}, at::kFloat);
    EXPECT_EQ(tensor->const_data_ptr(), memory);
  }
  {
    const auto tensor = executorch::extension::for_blob(memory, {2})
                            .deleter([&](void*) { deleted = true; })
                            .make_tensor_ptr();
  }
  EXPECT_TRUE(deleted);
  EXPECT_TRUE(at::equal(*executorch::extension::full({2}, 7, at::kInt), at::full({2}, 7, at::kInt)));
  auto accessor = executorch::extension::make_tensor_accessor<const float, 2>(*made);
  ASSERT_TRUE(accessor.ok());
  EXPECT_EQ((*accessor)[1][0], 3);
}

// The address is not read, so this needs no device.
TEST(AtenModeTensorPtr, MemoryOfADevice_KeepsItsDevice) {
  float memory[2] = {};
  const at::Device device(at::DeviceType::CUDA, 1);
  const auto tensor = executorch::extension::for_blob(memory, {2}).device(device).make_tensor_ptr();
  EXPECT_EQ(tensor->device(), device);
  EXPECT_EQ(tensor->const_data_ptr(), memory);
}

// A kernel in front of the build's, for a second program only: it counts its calls.
int calls = 0;
Tensor& add_out(KernelRuntimeContext&, const Tensor& self, const Tensor& other,
                const executorch::aten::Scalar& alpha, Tensor& out) {
  ++calls;
  return at::add_out(out, self, other, alpha);
}
Tensor& throwing_out(KernelRuntimeContext&, const Tensor& self, const Tensor&,
                     const executorch::aten::Scalar&, Tensor& out) {
  return at::add_out(out, self, at::ones({7}, at::kDouble));
}

const std::string kAdd = std::string(RUSHLIGHT_TEST_PROGRAMS) + "/f64_add/model.pte";

TEST(AtenModeModule, Forward_RushlightsKernels_GivesPyTorchsTensors) {
  Module module(kAdd);
  const Tensor a = at::arange(24, at::kDouble).reshape({4, 6}), b = at::full({4, 6}, 10.0, at::kDouble);
  const auto outputs = module.forward({EValue(a), EValue(b)});
  ASSERT_TRUE(outputs.ok());
  EXPECT_TRUE(at::equal(outputs->at(0).toTensor(), a + b));
  std::ostringstream text;
  text << outputs->at(0);
  EXPECT_NE(text.str().find("10"), std::string::npos);
}

TEST(AtenModeModule, Forward_OperatorOfPyTorchOnly_IsComputed) {
  namespace build = rushlight::testing;
  build::PlanSpec plan;
  plan.values = {build::tensor({{4}}), build::tensor({{4},
                                                      rushlight::ScalarType::Float,
                                                      rushlight::TensorShapeDynamism::STATIC,
                                                      std::nullopt,
                                                      0,
                                                      1,
                                                      0})};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.operators = {{"aten::special_sinc", "out"}};
  plan.instructions = {build::call(0, {0, 1, 1})};
  plan.buffer_sizes = {0, 16};
  const build::Bytes file = build::build(plan);
  Module module(std::make_unique<executorch::extension::BufferDataLoader>(file.data(), file.size()));
  const Tensor x = at::linspace(-1, 1, 4);
  const auto outputs = module.forward({EValue(x)});
  ASSERT_TRUE(outputs.ok());
  EXPECT_TRUE(at::equal(outputs->at(0).toTensor(), at::special_sinc(x)));
}

TEST(AtenModeModule, Forward_WrongInput_IsRefused) {
  Module module(kAdd);
  EXPECT_EQ(module.set_input(EValue(at::ones({4, 6}, at::kLong)), 0), Error::InvalidType);
  EXPECT_EQ(module.set_input(EValue(at::ones({4, 8}, at::kDouble).slice(1, 0, 6)), 0),
            Error::InvalidArgument);
}

TEST(AtenModeModule, Forward_OwnKernel_ComputesOnPyTorchsTensors) {
  static constexpr const char kName[] = "aten::add.out";
  Module module(kAdd);
  ASSERT_EQ(
      module.load_forward(nullptr, nullptr, nullptr,
                          {executorch::extension::make_boxed_kernel(kName, EXECUTORCH_FN(add_out, kName))}),
      Error::Ok);
  const Tensor a = at::ones({4, 6}, at::kDouble), b = at::full({4, 6}, 2.0, at::kDouble);
  calls = 0;
  const auto outputs = module.forward({EValue(a), EValue(b)});
  ASSERT_TRUE(outputs.ok());
  EXPECT_TRUE(at::equal(outputs->at(0).toTensor(), a + b));
  EXPECT_GT(calls, 0);
}

TEST(AtenModeModule, Forward_KernelThrows_ReturnsError) {
  static constexpr const char kName[] = "aten::add.out";
  Module module(kAdd);
  ASSERT_EQ(module.load_forward(
                nullptr, nullptr, nullptr,
                {executorch::extension::make_boxed_kernel(kName, EXECUTORCH_FN(throwing_out, kName))}),
            Error::Ok);
  const EValue ones(at::ones({4, 6}, at::kDouble));
  EXPECT_EQ(module.forward({ones, ones}).error(), Error::InvalidArgument);
}

}  // namespace
