// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/tensor.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rushlight {
namespace {

using ::testing::ElementsAre;
using Dynamism = TensorShapeDynamism;

// A tensor with its arrays.
struct Built {
  Built(std::vector<int32_t> s, std::vector<uint8_t> o, Dynamism dynamism = Dynamism::STATIC,
        void* data = nullptr)
      : sizes(std::move(s)),
        order(std::move(o)),
        strides(sizes.size()),
        impl(ScalarType::Float, static_cast<ptrdiff_t>(sizes.size()), sizes.data(), data, order.data(),
             strides.data(), dynamism) {}

  Error resize(std::vector<int32_t> to) { return impl.resize({to.data(), to.size()}); }
  Error view(const Built& base, std::vector<int32_t> to) {
    return impl.make_view(base.impl, {to.data(), to.size()});
  }
  [[nodiscard]] std::vector<int32_t> shape() const { return {impl.sizes().begin(), impl.sizes().end()}; }

  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int32_t> strides;
  TensorImpl impl;
};

TEST(TensorStrides, AreRowMajor_InOrder) {
  const Built tensor({2, 3, 4}, {0, 1, 2});
  EXPECT_THAT(tensor.strides, ElementsAre(12, 4, 1));
  EXPECT_EQ(tensor.impl.numel(), 24u);
  EXPECT_EQ(tensor.impl.nbytes(), 96u);
}

TEST(TensorStrides, FollowTheDimOrder) {
  EXPECT_THAT(Built({2, 3, 4, 5}, {0, 2, 3, 1}).strides, ElementsAre(60, 1, 15, 3));
  EXPECT_THAT(Built({2, 3}, {1, 0}).strides, ElementsAre(1, 2));
}

TEST(TensorStrides, TreatSizeZeroAsOne) {
  const Built tensor({2, 0, 4}, {0, 1, 2});
  EXPECT_THAT(tensor.strides, ElementsAre(4, 4, 1));
  EXPECT_EQ(tensor.impl.numel(), 0u);
}

TEST(TensorImpl, IsOneElement_WithoutDimensions) {
  TensorImpl scalar(ScalarType::Double, 0, nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(scalar.numel(), 1u);
  EXPECT_EQ(scalar.nbytes(), 8u);
}

TEST(Resize, OfStatic_TakesItsOwnSizesOnly) {
  Built tensor({2, 3}, {0, 1});
  EXPECT_EQ(tensor.resize({2, 3}), Error::Ok);
  EXPECT_EQ(tensor.resize({3, 2}), Error::NotSupported);
  EXPECT_THAT(tensor.shape(), ElementsAre(2, 3));
}

TEST(Resize, OfBounded_ShrinksAndGrowsBack_ToTheBound) {
  Built tensor({4, 6}, {1, 0}, Dynamism::DYNAMIC_BOUND);
  EXPECT_EQ(tensor.resize({2, 5}), Error::Ok);
  EXPECT_THAT(tensor.strides, ElementsAre(1, 2));
  EXPECT_EQ(tensor.impl.numel(), 10u);
  EXPECT_EQ(tensor.impl.numel_bound(), 24u);
  EXPECT_EQ(tensor.resize({24, 1}), Error::Ok);
  EXPECT_EQ(tensor.resize({25, 1}), Error::OutOfResources);
  EXPECT_THAT(tensor.shape(), ElementsAre(24, 1));
  EXPECT_EQ(tensor.resize({0, 1000000}), Error::Ok);
}

TEST(Resize, Refuses_RankNegativeSizesAndOverflow) {
  Built tensor({4, 6}, {0, 1}, Dynamism::DYNAMIC_BOUND);
  EXPECT_EQ(tensor.resize({24}), Error::InvalidArgument);
  EXPECT_EQ(tensor.resize({-1, -1}), Error::InvalidArgument);
  EXPECT_EQ(tensor.resize({0x10000, 0x10000}), Error::InvalidArgument);
  EXPECT_EQ(tensor.resize({0, INT32_MAX}), Error::Ok);
  EXPECT_THAT(tensor.strides, ElementsAre(INT32_MAX, 1));
}

TEST(CheckedNumel, CountsElements_RefusesWhatStridesCannotHold) {
  size_t numel = 99;
  const int32_t with_zero[] = {3, 0, 5};
  EXPECT_TRUE(checked_numel({with_zero, 3}, &numel));
  EXPECT_EQ(numel, 0u);
  EXPECT_TRUE(checked_numel({}, &numel));
  EXPECT_EQ(numel, 1u);
  const int32_t limit[] = {INT32_MAX};
  EXPECT_TRUE(checked_numel({limit, 1}, &numel));
  const int32_t beyond[] = {INT32_MAX, 2};
  EXPECT_FALSE(checked_numel({beyond, 2}, &numel));
  const int32_t beyond_with_zero[] = {INT32_MAX, 2, 0};
  EXPECT_FALSE(checked_numel({beyond_with_zero, 3}, &numel));
  const int32_t negative[] = {-1};
  EXPECT_FALSE(checked_numel({negative, 1}, &numel));
  const int32_t wraps_64_bits[] = {1 << 30, 1 << 30, 1 << 30};
  EXPECT_FALSE(checked_numel({wraps_64_bits, 3}, &numel));
}

TEST(DimOrders, AreRecognized) {
  const uint8_t row_major[] = {0, 1, 2, 3};
  const uint8_t channels_last[] = {0, 2, 3, 1};
  const uint8_t channels_last_3d[] = {0, 2, 3, 4, 1};
  const uint8_t rank_3[] = {0, 2, 1};
  EXPECT_TRUE(is_contiguous_dim_order({row_major, 4}));
  EXPECT_TRUE(is_contiguous_dim_order({}));
  EXPECT_FALSE(is_contiguous_dim_order({channels_last, 4}));
  EXPECT_TRUE(is_channels_last_dim_order({channels_last, 4}));
  EXPECT_TRUE(is_channels_last_dim_order({channels_last_3d, 5}));
  EXPECT_FALSE(is_channels_last_dim_order({row_major, 4}));
  EXPECT_FALSE(is_channels_last_dim_order({rank_3, 3}));
}

TEST(MakeView, TakesMemoryAndSizes_OfItsBase) {
  float data[6] = {};
  const Built base({2, 3}, {0, 1}, Dynamism::STATIC, data);
  Built view({100}, {0}, Dynamism::DYNAMIC_BOUND);
  EXPECT_EQ(view.view(base, {6}), Error::Ok);
  EXPECT_EQ(view.impl.data(), data);
  EXPECT_THAT(view.shape(), ElementsAre(6));
  EXPECT_EQ(view.impl.storage(), Storage::View);
}

TEST(MakeView, IsNotWritable_WhereItCouldGrowPastItsBase) {
  float data[6] = {};
  const Built base({2, 3}, {0, 1}, Dynamism::STATIC, data);
  Built dynamic({100}, {0}, Dynamism::DYNAMIC_BOUND);
  Built fixed({6}, {0});
  ASSERT_EQ(dynamic.view(base, {6}), Error::Ok);
  ASSERT_EQ(fixed.view(base, {6}), Error::Ok);
  EXPECT_FALSE(dynamic.impl.is_writable());
  EXPECT_TRUE(fixed.impl.is_writable());
}

TEST(MakeView, OfConstant_IsNotWritable_NorAViewOfThat) {
  float data[6] = {};
  Built base({2, 3}, {0, 1}, Dynamism::STATIC, data);
  base.impl.set_data(data, Storage::Constant);
  Built view({6}, {0});
  Built view_of_view({3, 2}, {0, 1});
  ASSERT_EQ(view.view(base, {6}), Error::Ok);
  ASSERT_EQ(view_of_view.view(view, {3, 2}), Error::Ok);
  EXPECT_FALSE(view.impl.is_writable());
  EXPECT_EQ(view_of_view.impl.storage(), Storage::ConstantView);
  EXPECT_FALSE(view_of_view.impl.is_writable());
}

TEST(MakeView, Refuses_OtherCountsTypesAndPlaces) {
  float data[6] = {};
  float other[6] = {};
  const Built base({2, 3}, {0, 1}, Dynamism::STATIC, data);
  Built smaller({5}, {0});
  EXPECT_EQ(smaller.view(base, {5}), Error::InvalidArgument);
  Built planned_elsewhere({6}, {0}, Dynamism::STATIC, other);
  EXPECT_EQ(planned_elsewhere.view(base, {6}), Error::InvalidArgument);
  EXPECT_EQ(planned_elsewhere.impl.data(), other);
  Built planned_there({6}, {0}, Dynamism::STATIC, data);
  EXPECT_EQ(planned_there.view(base, {6}), Error::Ok);
  EXPECT_EQ(planned_there.impl.storage(), Storage::Planned);
  int32_t size = 6;
  uint8_t order = 0;
  int32_t stride = 0;
  TensorImpl ints(ScalarType::Int, 1, &size, nullptr, &order, &stride);
  EXPECT_EQ(ints.make_view(base.impl, {&size, 1}), Error::InvalidArgument);
}

}  // namespace
}  // namespace rushlight
