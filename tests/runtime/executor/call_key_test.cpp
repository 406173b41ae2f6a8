// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/executor/call_key.h"

#include <gtest/gtest.h>

namespace rushlight {
namespace {

const KernelEntry kKernel = {"test::fold.out", nullptr, "tiw"};

// A call of a tensor, a number and an output, all of which the key is about.
struct Call {
  SizesType sizes[2] = {2, 3};
  DimOrderType order[2] = {0, 1};
  DimOrderType out_order[2] = {0, 1};
  ScalarType type = ScalarType::Float;
  const float* data = kFirst;
  int64_t number = 1;

  [[nodiscard]] uint64_t key() {
    StridesType strides[2][2];
    TensorImpl input(type, 2, sizes, const_cast<float*>(data), order, strides[0]);
    TensorImpl output(type, 2, sizes, nullptr, out_order, strides[1]);
    EValue values[] = {EValue(Tensor(&input)), EValue(number), EValue(Tensor(&output))};
    EValue* const arguments[] = {&values[0], &values[1], &values[2]};
    return call_key(kKernel, arguments);
  }

  static constexpr float kFirst[6] = {};
  static constexpr float kSecond[6] = {};
};

TEST(CallKey, OfTheSameCall_IsTheSame) { EXPECT_EQ(Call().key(), Call().key()); }

// Every property of a call that its result may depend on changes the key: kernels find prepared data by it.
TEST(CallKey, OfAnyOtherCall_IsAnother) {
  const uint64_t key = Call().key();
  Call call;
  call.sizes[0] = 3;
  EXPECT_NE(call.key(), key) << "sizes";
  call = Call();
  call.order[0] = 1, call.order[1] = 0;
  EXPECT_NE(call.key(), key) << "the dim order of an input";
  call = Call();
  call.out_order[0] = 1, call.out_order[1] = 0;
  EXPECT_NE(call.key(), key) << "the dim order of an output";
  call = Call();
  call.type = ScalarType::Int;
  EXPECT_NE(call.key(), key) << "the dtype";
  call = Call();
  call.data = Call::kSecond;
  EXPECT_NE(call.key(), key) << "the elements";
  call = Call();
  call.number = 2;
  EXPECT_NE(call.key(), key) << "a number";
}

}  // namespace
}  // namespace rushlight
