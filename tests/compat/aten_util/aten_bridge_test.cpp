// SPDX-License-Identifier: BSD-3-Clause
// extension/aten_util in the portable mode: both kinds of tensor over the same memory.
#include <executorch/extension/aten_util/aten_bridge.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace executorch::extension {
namespace {

namespace et = runtime::etensor;
using ::testing::ElementsAre;

// A row-major tensor without memory.
struct Described {
  explicit Described(std::vector<int32_t> shape, et::ScalarType type = et::ScalarType::Float)
      : sizes(std::move(shape)), impl(type, static_cast<ssize_t>(sizes.size()), sizes.data()) {}
  std::vector<int32_t> sizes;
  et::TensorImpl impl;
  et::Tensor tensor{&impl};
};

TEST(AtenBridge, ScalarTypes_EveryOneOfBoth_MapsBack) {
  for (int value = 0; value < static_cast<int>(et::ScalarType::Undefined); ++value) {
    const auto type = static_cast<et::ScalarType>(value);
    const auto torch = executorch_to_torch_scalar_type(type);
    EXPECT_EQ(torch_to_executorch_scalar_type(c10::scalarTypeToTypeMeta(torch)), type);
  }
  EXPECT_EQ(executorch_to_torch_scalar_type(et::ScalarType::BFloat16), at::kBFloat16);
  EXPECT_EQ(torch_to_executorch_scalar_type(at::empty({1}, at::kBool).dtype()), et::ScalarType::Bool);
}

TEST(AtenBridgeDeathTest, ScalarTypes_Undefined_Aborts) {
  EXPECT_DEATH(executorch_to_torch_scalar_type(et::ScalarType::Undefined), "dtype");
}

TEST(AtenBridge, AliasEtensorToAttensor_SameDescription_SharesMemory) {
  at::Tensor torch = at::ones({4, 5, 6});
  Described described({4, 5, 6});
  alias_etensor_to_attensor(torch, described.tensor);
  EXPECT_EQ(described.tensor.const_data_ptr(), torch.const_data_ptr());
}

TEST(AtenBridgeDeathTest, AliasEtensorToAttensor_OtherDescription_Aborts) {
  at::Tensor torch = at::ones({4, 5, 6});
  Described rank({4});
  EXPECT_DEATH(alias_etensor_to_attensor(torch, rank.tensor), "rank: expected 3, got 1");
  Described size({4, 5, 7});
  EXPECT_DEATH(alias_etensor_to_attensor(torch, size.tensor), "size of dimension 2: expected 6, got 7");
  Described type({4, 5, 6}, et::ScalarType::Int);
  EXPECT_DEATH(alias_etensor_to_attensor(torch, type.tensor), "dtype: expected 6, got 3");
  at::Tensor slice = torch.slice(1, 0, 2);
  Described sliced({4, 2, 6});
  EXPECT_DEATH(alias_etensor_to_attensor(slice, sliced.tensor), "row-major");
}

TEST(AtenBridge, AliasAttensorToEtensor_ChannelsLast_KeepsStrides) {
  auto given = make_tensor_ptr({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6}, {0, 2, 3, 1});
  at::Tensor torch = alias_attensor_to_etensor(*given);
  EXPECT_EQ(torch.const_data_ptr(), given->const_data_ptr());
  EXPECT_THAT(torch.sizes(), ElementsAre(1, 2, 1, 3));
  EXPECT_TRUE(torch.is_contiguous(at::MemoryFormat::ChannelsLast));
  torch.select(1, 1).fill_(9);
  EXPECT_EQ(given->const_data_ptr<int32_t>()[1], 9);
}

TEST(AtenBridge, AliasTensorPtrToAttensor_SourceReleased_KeepsMemory) {
  at::Tensor torch = at::arange(6, at::kLong).reshape({2, 3});
  const void* memory = torch.const_data_ptr();
  TensorPtr alias = alias_tensor_ptr_to_attensor(torch);
  torch.reset();
  EXPECT_EQ(alias->const_data_ptr(), memory);
  EXPECT_THAT(alias->sizes(), ElementsAre(2, 3));
  EXPECT_EQ(alias->scalar_type(), et::ScalarType::Long);
  EXPECT_EQ(alias->const_data_ptr<int64_t>()[5], 5);
}

TEST(AtenBridgeDeathTest, AliasTensorPtrToAttensor_Gaps_Aborts) {
  at::Tensor slice = at::ones({4, 6}).slice(1, 0, 2);
  EXPECT_DEATH(alias_tensor_ptr_to_attensor(slice), "no view");
}

TEST(AtenDevice, EachKind_MapsBack) {
  using et::DeviceType;
  EXPECT_TRUE(executorch_to_torch_device(et::Device(DeviceType::CPU, 0)).is_cpu());
  EXPECT_EQ(executorch_to_torch_device(et::Device(DeviceType::CUDA, 2)), c10::Device(c10::kCUDA, 2));
  EXPECT_EQ(*torch_to_executorch_device(c10::Device(c10::kCUDA, 3)), et::Device(DeviceType::CUDA, 3));
  EXPECT_EQ(*torch_to_executorch_device(c10::Device(c10::kCPU)), et::Device(DeviceType::CPU));
  EXPECT_FALSE(torch_to_executorch_device(c10::Device(c10::kMeta)).has_value());
}

TEST(AtenBridge, OlderNames_AreTheSameFunctions) {
  at::Tensor torch = at::ones({2});
  EXPECT_EQ(torch::util::torchToExecuTorchScalarType(torch.dtype()), et::ScalarType::Float);
  EXPECT_EQ(torch::executor::util::execuTorchtoTorchScalarType(et::ScalarType::Half), at::kHalf);
  Described described({2});
  torch::util::alias_etensor_to_attensor(torch, described.tensor);
  EXPECT_TRUE(at::equal(torch::util::alias_attensor_to_etensor(described.tensor), torch));
}

}  // namespace
}  // namespace executorch::extension
