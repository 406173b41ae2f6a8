// SPDX-License-Identifier: BSD-3-Clause
// torch::executor::native: kernels by their official names, with a context that takes the error and without.
#include <limits>
#include <numeric>
#include <vector>

#include <executorch/kernels/portable/Functions.h>
#include <executorch/kernels/quantized/NativeFunctions.h>
#include <gtest/gtest.h>

#include "tests/compat/tensors.h"

namespace {

using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using rushlight::compat::testing::TensorOf;
using torch::executor::native::add_scalar_out;
using torch::executor::native::allclose_out;
using torch::executor::native::dequantize_per_tensor_out;

TEST(NativeFunctions, WithoutAContext_Compute) {
  TensorOf<int32_t> in({2}, {1, 2});
  TensorOf<int32_t> out({2});
  Tensor result = out;
  EXPECT_EQ(&add_scalar_out(in, 3, 2, result), &result);
  EXPECT_EQ(out.data, (std::vector<int32_t>{7, 8}));
  TensorOf<uint8_t> quantized({2}, {30, 100});
  TensorOf<float> real({2});
  Tensor written = real;
  dequantize_per_tensor_out(quantized, 0.5, 30, 0, 255, ScalarType::Byte, std::nullopt, written);
  EXPECT_EQ(real.data, (std::vector<float>{0, 35}));
}

TEST(NativeFunctionsDeathTest, WithoutAContext_AbortOnBadArguments) {
  TensorOf<int32_t> in({2}, {1, 2});
  TensorOf<int32_t> out({3});
  Tensor result = out;
  EXPECT_DEATH(add_scalar_out(in, 3, 2, result), "");
}

// The one bool that allclose writes.
bool is_close(const Tensor& a, const Tensor& b, double rtol, double atol, bool equal_nan) {
  bool close = false;
  int32_t size = 1;
  TensorImpl impl(ScalarType::Bool, 1, &size, &close);
  Tensor out(&impl);
  allclose_out(a, b, rtol, atol, equal_nan, false, out);
  return close;
}

TEST(Allclose, OfNumbers_TakesBothTolerances) {
  TensorOf<float> a({2}, {1, 100});
  TensorOf<float> b({2}, {1, 101});
  EXPECT_FALSE(is_close(a, b, 0, 0.5, false));
  EXPECT_TRUE(is_close(a, b, 0, 1.5, false));
  EXPECT_FALSE(is_close(a, b, 0.001, 0, false));
  EXPECT_TRUE(is_close(a, b, 0.01, 0, false));
  // A share of the second one, here a hundredth: 1.01 and 1.
  EXPECT_TRUE(is_close(a, b, 0.00995, 0, false));
  EXPECT_FALSE(is_close(b, a, 0.00995, 0, false));
  TensorOf<int64_t> c({1}, {100});
  TensorOf<int64_t> d({1}, {101});
  EXPECT_FALSE(is_close(c, d, 1, 1, false));
}

TEST(Allclose, OfNanAndInfinity_IsEqualOnlyWhereAsked) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  TensorOf<float> a({2}, {nan, infinity});
  TensorOf<float> b({2}, {0, -infinity});
  EXPECT_FALSE(is_close(a, a, 1, 1, false));
  EXPECT_TRUE(is_close(a, a, 0, 0, true));
  EXPECT_FALSE(is_close(a, b, 1, 1, true));
}

TEST(Allclose, OfOtherShapesAndDtypes_FailsTheContext) {
  TensorOf<float> a({2}, {1, 2});
  TensorOf<double> other_dtype({2}, {1, 2});
  TensorOf<float> other_shape({1, 2}, {1, 2});
  TensorOf<float> no_bool({1});
  Tensor out = no_bool;
  for (const Tensor& b : {Tensor(other_dtype), Tensor(other_shape), Tensor(a)}) {
    KernelRuntimeContext context;
    allclose_out(context, a, b, 0, 0, false, false, out);
    EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
  }
}

TEST(TensorImpl, OfMoreDimensionsThanKernelsTake_IsDescribedAndRefused) {
  std::vector<int32_t> sizes(17, 1);
  std::vector<uint8_t> order(17);
  std::iota(order.begin(), order.end(), uint8_t{0});
  std::vector<int32_t> strides(17, 1);
  float number = 0;
  TensorImpl impl(ScalarType::Float, 17, sizes.data(), &number, order.data(), strides.data());
  EXPECT_EQ(impl.dim(), 17);
  EXPECT_EQ(impl.numel(), 1);
  EXPECT_EQ(TensorImpl(impl).dim(), 17);
  TensorOf<float> in({1}, {1});
  const std::vector<int64_t> repeats(17, 1);
  Tensor out(&impl);
  KernelRuntimeContext context;
  torch::executor::aten::repeat_outf(context, in, {repeats.data(), repeats.size()}, out);
  EXPECT_NE(context.failure_state(), Error::Ok);
}

}  // namespace
