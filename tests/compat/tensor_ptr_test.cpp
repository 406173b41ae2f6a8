// SPDX-License-Identifier: BSD-3-Clause
// Tensors with shared ownership: every way to make one, views, copies, and devices.
#include <cstring>
#include <map>

#include <executorch/extension/tensor/tensor.h>
#include <executorch/kernels/portable/Functions.h>
#include <executorch/runtime/core/device_memory_buffer.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <gtest/gtest.h>

#include "tests/compat/tensors.h"

namespace {

using namespace executorch::extension;
using executorch::aten::Device;
using executorch::aten::DeviceType;
using executorch::aten::ScalarType;
using executorch::aten::TensorShapeDynamism;
using executorch::runtime::DeviceAllocator;
using executorch::runtime::Error;
using executorch::runtime::Result;

template <class T>
std::vector<T> elements(const TensorPtr& tensor) {
  const T* first = tensor->const_data_ptr<T>();
  return std::vector<T>(first, first + tensor->numel());
}

template <class T>
std::vector<int> list(const T& range) {
  return {range.begin(), range.end()};
}

TEST(MakeTensorPtr, FromElements_TakesTheirDtypeOrConverts) {
  const auto integers = make_tensor_ptr({2, 2}, std::vector<int32_t>{1, 2, 3, 4});
  EXPECT_EQ(integers->scalar_type(), ScalarType::Int);
  EXPECT_EQ(elements<int32_t>(integers), (std::vector<int32_t>{1, 2, 3, 4}));
  const auto doubles = make_tensor_ptr({1, 3}, {1.5f, 2.0f, -3.0f}, {}, {}, ScalarType::Double);
  EXPECT_EQ(elements<double>(doubles), (std::vector<double>{1.5, 2, -3}));
  const auto flags = make_tensor_ptr(std::vector<bool>{true, false, true});
  EXPECT_EQ(flags->scalar_type(), ScalarType::Bool);
  EXPECT_EQ(elements<bool>(flags), (std::vector<bool>{true, false, true}));
  const auto half = make_tensor_ptr({2.0f, 0.5f}, ScalarType::Half);
  EXPECT_EQ(list(half->sizes()), std::vector<int>{2});
  EXPECT_EQ(static_cast<float>(half->const_data_ptr<executorch::aten::Half>()[1]), 0.5f);
  const auto number = make_tensor_ptr(int64_t{7});
  EXPECT_EQ(number->dim(), 0);
  EXPECT_EQ(*number->const_data_ptr<int64_t>(), 7);
}

TEST(MakeTensorPtr, WithALayout_TakesItFromOrderOrStrides) {
  const std::vector<float> six(6, 1);
  EXPECT_EQ(list(make_tensor_ptr({2, 3}, six)->strides()), (std::vector<int>{3, 1}));
  EXPECT_EQ(list(make_tensor_ptr({2, 3}, six, {1, 0})->strides()), (std::vector<int>{1, 2}));
  EXPECT_EQ(list(make_tensor_ptr({2, 3}, six, {}, {1, 2})->dim_order()), (std::vector<int>{1, 0}));
  // Strides of an empty tensor address nothing.
  EXPECT_EQ(empty_strided({2, 0, 4, 4}, {16, 1, 4, 1})->numel(), 0);
  EXPECT_EQ(empty_strided({0, 3}, {1, 2})->numel(), 0);
  // A dimension of one element has no stride that matters.
  EXPECT_EQ(list(make_tensor_ptr({6, 1}, six, {0, 1}, {1, 5})->strides()), (std::vector<int>{1, 1}));
}

TEST(MakeTensorPtrDeathTest, PartsThatDoNotFit_Abort) {
  const std::vector<float> six(6, 1);
  EXPECT_DEATH(make_tensor_ptr({2, 4}, six), "expected 8");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, six, {0}), "dim order: expected 2");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, six, {0, 0}), "dim order: expected a permutation");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, six, {0, 1}, {1, 2}), "stride of dimension 0: expected 3, got 1");
  EXPECT_DEATH(make_tensor_ptr({6}, six, {}, {-1}), "stride of dimension 0: expected 1, got -1");
  const std::vector<int32_t> seventeen(17, 1);
  EXPECT_DEATH(for_blob(nullptr, seventeen).strides(seventeen).make_tensor_ptr(),
               "strides: expected at most 16 dimensions, got 17");
  EXPECT_DEATH(make_tensor_ptr({2, -3}, six), "sizes");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, six, {}, {}, ScalarType::Int), "dtype");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, std::vector<uint8_t>(23), ScalarType::Float), "expected 24, got 23");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, std::vector<uint8_t>(25), ScalarType::Float), "expected 24, got 25");
  EXPECT_DEATH(make_tensor_ptr(make_tensor_ptr({2, 3}, six), {7}), "expected at most 6");
}

TEST(MakeTensorPtr, OverAnother_SharesMemoryAndKeepsItAlive) {
  auto base = make_tensor_ptr({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {1, 0});
  const auto same = make_tensor_ptr(base);
  EXPECT_EQ(list(same->dim_order()), (std::vector<int>{1, 0}));
  const auto flat = make_tensor_ptr(base, {4});
  EXPECT_EQ(flat->const_data_ptr(), base->const_data_ptr());
  EXPECT_EQ(list(make_tensor_ptr(base, {3, 2}, {}, {2, 1})->dim_order()), (std::vector<int>{0, 1}));
  base.reset();
  EXPECT_EQ(elements<float>(flat), (std::vector<float>{1, 2, 3, 4}));
}

TEST(CloneTensorPtr, OfATensor_OwnsConvertedElements) {
  const auto base = make_tensor_ptr({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f}, {1, 0});
  const auto copy = clone_tensor_ptr(base, ScalarType::Double);
  base->mutable_data_ptr<float>()[0] = 9;
  EXPECT_EQ(elements<double>(copy), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(list(copy->dim_order()), (std::vector<int>{1, 0}));
  EXPECT_EQ(clone_tensor_ptr(from_blob(nullptr, {2}))->const_data_ptr(), nullptr);
  EXPECT_DEATH(clone_tensor_ptr(base, ScalarType::Long), "dtype");
}

TEST(ForBlob, StepByStep_HasWhatWasSaid) {
  int32_t data[6] = {};
  void* freed = nullptr;
  {
    const TensorPtr tensor = for_blob(data, {2, 3}, ScalarType::Int)
                                 .strides({1, 2})
                                 .dynamism(TensorShapeDynamism::STATIC)
                                 .device(Device(DeviceType::CUDA, 3))
                                 .deleter([&](void* memory) { freed = memory; });
    EXPECT_EQ(tensor->scalar_type(), ScalarType::Int);
    EXPECT_EQ(tensor->shape_dynamism(), TensorShapeDynamism::STATIC);
    EXPECT_EQ(list(tensor->dim_order()), (std::vector<int>{1, 0}));
    EXPECT_EQ(tensor->device(), Device(DeviceType::CUDA, 3));
    EXPECT_EQ(freed, nullptr);
  }
  EXPECT_EQ(freed, data);
  const auto ordered = for_blob(data, {2, 3}).type(ScalarType::Int).dim_order({1, 0}).make_tensor_ptr();
  EXPECT_EQ(list(ordered->strides()), (std::vector<int>{1, 2}));
}

TEST(FromBlob, EachForm_IsOverTheMemory) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  int ends = 0;
  const Device cpu(DeviceType::CPU);
  EXPECT_EQ(from_blob(data, {6})->const_data_ptr(), data);
  EXPECT_EQ(list(from_blob(data, {2, 3}, {1, 2})->strides()), (std::vector<int>{1, 2}));
  from_blob(data, {6}, ScalarType::Float, cpu, [&](void*) { ++ends; });
  const auto strided = from_blob(data, {2, 3}, {1, 2}, ScalarType::Float, cpu, [&](void*) { ++ends; });
  EXPECT_EQ(list(strided->strides()), (std::vector<int>{1, 2}));
  EXPECT_EQ(ends, 1);
}

TEST(TensorMakers, OfNumbers_FillEveryElement) {
  EXPECT_EQ(elements<float>(full({2, 2}, 0.5)), std::vector<float>(4, 0.5f));
  EXPECT_EQ(elements<int64_t>(full({2}, (int64_t{1} << 60) + 1, ScalarType::Long))[0],
            (int64_t{1} << 60) + 1);
  EXPECT_EQ(elements<uint8_t>(ones({3}, ScalarType::Byte)), std::vector<uint8_t>(3, 1));
  EXPECT_EQ(elements<double>(zeros({3}, ScalarType::Double)), std::vector<double>(3, 0));
  EXPECT_EQ(*scalar_tensor(true, ScalarType::Bool)->const_data_ptr<bool>(), true);
  EXPECT_EQ(list(full_strided({2, 3}, {1, 2}, 4)->dim_order()), (std::vector<int>{1, 0}));
  EXPECT_EQ(empty({2, 3}, ScalarType::Short)->nbytes(), 12u);
}

TEST(TensorMakers, LikeAnother_TakeItsForm) {
  const auto like = empty_strided({2, 3}, {1, 2}, ScalarType::Int);
  for (const auto& made : {empty_like(like), zeros_like(like), ones_like(like), full_like(like, 3),
                           randint_like(like, 0, 5), rand_like(like), randn_like(like)}) {
    EXPECT_EQ(list(made->sizes()), (std::vector<int>{2, 3}));
    EXPECT_EQ(list(made->strides()), (std::vector<int>{1, 2}));
    EXPECT_EQ(made->scalar_type(), ScalarType::Int);
  }
  EXPECT_EQ(elements<float>(full_like(like, 3, ScalarType::Float)), std::vector<float>(6, 3));
}

TEST(TensorMakers, LikeAnotherWithEqualStrides_TakeItsDimOrder) {
  const std::vector<uint8_t> channels_last = {0, 2, 3, 1};
  for (const int channels : {0, 1}) {
    // Strides 16, 1, 4, 1: only the dim order shows that channels are innermost.
    const auto like = for_blob(nullptr, {2, channels, 4, 4}).dim_order(channels_last).make_tensor_ptr();
    for (const auto& made : {empty_like(like), zeros_like(like), ones_like(like), full_like(like, 3),
                             randint_like(like, 0, 5), rand_like(like), randn_like(like)}) {
      EXPECT_EQ(list(made->dim_order()), list(channels_last));
      EXPECT_EQ(list(made->strides()), (std::vector<int>{16, 1, 4, 1}));
    }
  }
}

TEST(TensorMakers, OfRandomNumbers_StayInTheirRange) {
  float low = 1, high = 0, mean = 0;
  for (const float x : elements<float>(rand({1000}))) low = std::min(low, x), high = std::max(high, x);
  EXPECT_GE(low, 0);
  EXPECT_LT(high, 1);
  EXPECT_GT(high - low, 0.9);
  for (const float x : elements<float>(randn({10000}))) mean += x / 10000;
  EXPECT_NEAR(mean, 0, 0.1);
  std::map<int32_t, int> seen;
  for (const int32_t x : elements<int32_t>(randint(-1, 2, {300}))) ++seen[x];
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen.begin()->first, -1);
  EXPECT_DEATH(randint(2, 2, {1}), "low below high");
}

TEST(Tensor, ThatAliasesAConstant_IsNotWritable) {
  int32_t sizes[] = {2};
  float data[2] = {};
  executorch::aten::TensorImpl constant(ScalarType::Float, 1, sizes);
  constant.rushlight::TensorImpl::set_data(data, rushlight::Storage::Constant);
  const executorch::aten::Tensor tensor(&constant);
  const auto view = make_tensor_ptr(tensor);
  EXPECT_EQ(view->const_data_ptr(), data);
  EXPECT_FALSE(view->unsafeGetTensorImpl()->is_writable());
  const auto other = empty({2});
  ASSERT_EQ(executorch::runtime::internal::share_tensor_data(*other, tensor), Error::Ok);
  EXPECT_FALSE(other->unsafeGetTensorImpl()->is_writable());
  ASSERT_EQ(executorch::runtime::internal::share_tensor_data(*other, *empty({2})), Error::Ok);
  EXPECT_TRUE(other->unsafeGetTensorImpl()->is_writable());
}

TEST(ResizeTensorPtr, WithinTheBound_ChangesTheShape) {
  auto tensor = make_tensor_ptr({2, 3}, std::vector<float>(6));
  EXPECT_EQ(resize_tensor_ptr(tensor, {1, 3}), Error::Ok);
  EXPECT_EQ(tensor->numel(), 3);
  EXPECT_NE(resize_tensor_ptr(tensor, {7, 3}), Error::Ok);
}

// Memory of a device: the host's, and what was asked for.
class CountingAllocator final : public DeviceAllocator {
 public:
  Result<void*> allocate(size_t nbytes, executorch::runtime::etensor::DeviceIndex index, size_t) override {
    last_index = index;
    ++held;
    return ::operator new(nbytes);
  }
  void deallocate(void* memory, executorch::runtime::etensor::DeviceIndex) override {
    --held;
    ::operator delete(memory);
  }
  Error copy_host_to_device(void* to, const void* from, size_t nbytes,
                            executorch::runtime::etensor::DeviceIndex index) override {
    ++to_device;
    last_index = index;
    return std::memcpy(to, from, nbytes), Error::Ok;
  }
  Error copy_device_to_host(void* to, const void* from, size_t nbytes,
                            executorch::runtime::etensor::DeviceIndex index) override {
    ++to_host;
    last_index = index;
    return fails ? Error::Internal : (std::memcpy(to, from, nbytes), Error::Ok);
  }
  DeviceType device_type() const override { return DeviceType::CUDA; }

  int held = 0, to_device = 0, to_host = 0, last_index = -1;
  bool fails = false;
};

CountingAllocator& device_memory() {
  static auto* allocator = [] {
    auto* made = new CountingAllocator();
    executorch::runtime::register_device_allocator(made);
    return made;
  }();
  *allocator = CountingAllocator();
  return *allocator;
}

TEST(Device, OfATensor_StaysInCopiesAndViews) {
  int32_t sizes[] = {2};
  float data[2] = {};
  for (const int index : {0, 1, 15, -1, -16}) {
    executorch::aten::TensorImpl impl(ScalarType::Float, 1, sizes, data, nullptr, nullptr,
                                      TensorShapeDynamism::STATIC, DeviceType::CUDA,
                                      static_cast<int8_t>(index));
    EXPECT_EQ(impl.device_type(), DeviceType::CUDA);
    EXPECT_EQ(impl.device_index(), index);
    EXPECT_EQ(impl.shape_dynamism(), TensorShapeDynamism::STATIC);
    const executorch::aten::TensorImpl copy(impl);
    EXPECT_EQ(executorch::aten::Tensor(&impl).device(), copy.device());
    EXPECT_EQ(make_tensor_ptr(executorch::aten::Tensor(&impl))->device(), impl.device());
  }
  EXPECT_TRUE(executorch::aten::TensorImpl(ScalarType::Float, 1, sizes, data).device().is_cpu());
}

TEST(CloneTensorPtrTo, ADeviceAndBack_UsesItsAllocator) {
  auto& memory = device_memory();
  const auto host = make_tensor_ptr({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f}, {1, 0});
  {
    const auto there = clone_tensor_ptr_to(host, Device(DeviceType::CUDA, 2));
    EXPECT_EQ(there->device(), Device(DeviceType::CUDA, 2));
    EXPECT_NE(there->const_data_ptr(), host->const_data_ptr());
    EXPECT_EQ(memory.held, 1);
    EXPECT_EQ(memory.to_device, 1);
    EXPECT_EQ(memory.last_index, 2);
    const auto back = clone_tensor_ptr_to(there, Device(DeviceType::CPU));
    EXPECT_EQ(memory.to_host, 1);
    EXPECT_TRUE(back->device().is_cpu());
    EXPECT_EQ(elements<float>(back), elements<float>(host));
    EXPECT_EQ(list(back->dim_order()), (std::vector<int>{1, 0}));
    EXPECT_DEATH(clone_tensor_ptr(there), "expected a tensor of the CPU");
    EXPECT_DEATH(clone_tensor_ptr_to(there, Device(DeviceType::CUDA)), "the CPU on one side");
  }
  EXPECT_EQ(memory.held, 0);
  EXPECT_DEATH(clone_tensor_ptr_to(host, Device(DeviceType::CPU)), "the CPU on one side");
}

TEST(CopyTensorData, BetweenDevices_UsesTheAllocatorAndItsError) {
  auto& memory = device_memory();
  float there[2] = {1, 2};
  float here[2] = {};
  const auto source = for_blob(there, {2}).device(Device(DeviceType::CUDA, 1)).make_tensor_ptr();
  const auto target = from_blob(here, {2});
  EXPECT_EQ(executorch::runtime::internal::copy_tensor_data(*target, *source), Error::Ok);
  EXPECT_EQ(here[1], 2);
  EXPECT_EQ(memory.to_host, 1);
  EXPECT_EQ(memory.last_index, 1);
  EXPECT_EQ(executorch::runtime::internal::copy_tensor_data(*source, *target), Error::Ok);
  EXPECT_EQ(memory.to_device, 1);
  EXPECT_EQ(executorch::runtime::internal::copy_tensor_data(*source, *source), Error::NotSupported);
  memory.fails = true;
  EXPECT_EQ(executorch::runtime::internal::copy_tensor_data(*target, *source), Error::Internal);
  EXPECT_EQ(executorch::runtime::internal::copy_tensor_data(*from_blob(here, {1}), *source),
            Error::InvalidArgument);
}

TEST(DeviceCopyOperators, OnDeviceTensors_UseTheAllocator) {
  auto& memory = device_memory();
  executorch::runtime::KernelRuntimeContext context;
  float there[2] = {};
  const auto host = make_tensor_ptr({5.0f, 6.0f});
  auto device = for_blob(there, {2}).device(Device(DeviceType::CUDA)).make_tensor_ptr();
  torch::executor::et_copy::_h2d_copy_outf(context, *host, *device);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(memory.to_device, 1);
  EXPECT_EQ(there[1], 6);
  auto back = zeros({2});
  torch::executor::et_copy::_d2h_copy_outf(context, *device, *back);
  EXPECT_EQ(memory.to_host, 1);
  EXPECT_EQ(elements<float>(back), (std::vector<float>{5, 6}));
  auto other = zeros({2}, ScalarType::Int);
  torch::executor::et_copy::_d2h_copy_outf(context, *device, *other);
  EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
}

}  // namespace
