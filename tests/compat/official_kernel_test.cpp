// SPDX-License-Identifier: BSD-3-Clause
// Generated wrappers of official kernels: they select by tensors, pass arguments on and report failures.
#include "compat/detail/official_kernel.h"

#include <gtest/gtest.h>

namespace {

using rushlight::KernelContext;
using rushlight::ScalarType;
using rushlight::Tensor;
namespace aten = executorch::aten;
namespace compat = rushlight::compat;

// A float tensor of shape {2, 3}.
struct Matrix {
  float data[6] = {};
  int32_t sizes[2] = {2, 3};
  uint8_t order[2] = {0, 1};
  int32_t strides[2] = {3, 1};
  rushlight::TensorImpl impl{ScalarType::Float, 2, sizes, data, order, strides};
  Tensor tensor{&impl};
};

TEST(OfficialKernel_Matches, DtypeAndOrderOfEachTensor_AreCompared) {
  Matrix a;
  Matrix b;
  constexpr compat::TensorKey kBoth[] = {{ScalarType::Float, 2, {0, 1}}, {ScalarType::Float, 2, {0, 1}}};
  constexpr compat::TensorKey kOtherDtype[] = {{ScalarType::Float, 2, {0, 1}}, {ScalarType::Int, 2, {0, 1}}};
  constexpr compat::TensorKey kOtherOrder[] = {{ScalarType::Float, 2, {1, 0}},
                                               {ScalarType::Float, 2, {0, 1}}};
  EXPECT_TRUE(compat::matches(kBoth, {&a.tensor, &b.tensor}));
  EXPECT_FALSE(compat::matches(kOtherDtype, {&a.tensor, &b.tensor}));
  EXPECT_FALSE(compat::matches(kOtherOrder, {&a.tensor, &b.tensor}));
  EXPECT_FALSE(compat::matches(kBoth, {&a.tensor}));
  EXPECT_FALSE(compat::matches(kBoth, {&a.tensor, &b.tensor, &b.tensor}));
}

TEST(OfficialKernel_As, EachKindOfArgument_KeepsItsValue) {
  Matrix a;
  EXPECT_EQ(compat::as<aten::Tensor&>(a.tensor).mutable_data_ptr<float>(), a.data);
  const Tensor& read = a.tensor;
  EXPECT_EQ(compat::as<aten::Tensor>(read).size(1), 3);
  const std::optional<Tensor> none;
  EXPECT_FALSE(compat::as<std::optional<aten::Tensor>>(none).has_value());
  const std::optional<int64_t> dtype = 6;
  EXPECT_EQ(compat::as<std::optional<aten::ScalarType>>(dtype), aten::ScalarType::Float);
  const int64_t sizes[] = {4, 5};
  const rushlight::Span<const int64_t> span(sizes);
  EXPECT_EQ(compat::as<aten::ArrayRef<int64_t>>(span)[1], 5);
  const rushlight::Scalar number(2.5);
  EXPECT_EQ(compat::as<aten::Scalar>(number).to<double>(), 2.5);
}

TEST(OfficialKernel_Call, FailureOfTheContext_IsReturned) {
  KernelContext context;
  const auto fail = [](auto& official) { official.fail(executorch::runtime::Error::NotSupported); };
  EXPECT_EQ(compat::call_official(context, [](auto&) {}), rushlight::Error::Ok);
  EXPECT_EQ(compat::call_official(context, fail), rushlight::Error::NotSupported);
}

}  // namespace
