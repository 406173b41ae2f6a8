// SPDX-License-Identifier: BSD-3-Clause
// Kernels written against the official headers, and rushlight's kernels called through them.
#include <vector>

#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/test/FunctionHeaderWrapper.h>
#include <executorch/kernels/test/supported_features.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>
#include <gtest/gtest.h>

#include "compat/detail/registry.h"
#include "tests/compat/tensors.h"
#include "tests/runtime/support/program_builder.h"

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelKey;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;
using rushlight::compat::testing::TensorOf;

// out = factor * in; fails for a negative factor.
Tensor& scaled_out(KernelRuntimeContext& context, const Tensor& in, double factor,
                   const std::optional<Tensor>& bias, Tensor& out) {
  ET_KERNEL_CHECK(context, resize_tensor(out, in.sizes()) == Error::Ok, InvalidArgument, out);
  ET_KERNEL_CHECK_MSG(context, factor >= 0, NotSupported, out, "factor %f", factor);
  ET_SWITCH_REAL_TYPES_AND3(Half, BFloat16, Bool, in.scalar_type(), context, "scaled.out", CTYPE, [&] {
    const auto* from = in.const_data_ptr<CTYPE>();
    auto* to = out.mutable_data_ptr<CTYPE>();
    for (const auto i : c10::irange(in.numel())) {
      const double added = bias.has_value() ? bias->const_data_ptr<float>()[i] : 0.0;
      to[i] = static_cast<CTYPE>(static_cast<double>(from[i]) * factor + added);
    }
  });
  return out;
}

EXECUTORCH_LIBRARY(rl_test, "scaled.out", scaled_out);

// Unboxed by hand; uses temporary memory.
void counted(KernelRuntimeContext& context, Span<EValue*> stack) {
  auto memory = context.allocate_temp(64, 16);
  if (!memory.ok()) return context.fail(memory.error());
  stack[1]->toTensor().mutable_data_ptr<float>()[0] = static_cast<float>(stack.size());
}

const Error registered = executorch::runtime::register_kernels(Kernel("rl_test::counted.out", counted));

TEST(Functions, OfGoodArguments_Compute) {
  KernelRuntimeContext context;
  TensorOf<float> a({2, 2}, {1, 2, 3, 4});
  TensorOf<float> b({2}, {10, 20});
  TensorOf<float> out({2, 2});
  Tensor result = out;
  Tensor& returned = torch::executor::aten::add_outf(context, a, b, 2, result);
  EXPECT_EQ(&returned, &result);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(out.data, (std::vector<float>{21, 42, 23, 44}));
}

TEST(Functions, OfBadArguments_FailTheContext) {
  KernelRuntimeContext context;
  TensorOf<float> a({2}, {1, 2});
  TensorOf<float> b({3}, {1, 2, 3});
  TensorOf<float> out({2});
  Tensor result = out;
  torch::executor::aten::add_outf(context, a, b, 1, result);
  EXPECT_NE(context.failure_state(), Error::Ok);
}

TEST(Functions, WithListsAndOptionals_Compute) {
  KernelRuntimeContext context;
  TensorOf<float> a({2, 2}, {1, 2, 3, 4});
  TensorOf<float> out({4, 2});
  Tensor result = out;
  const Tensor both[] = {a, a};
  torch::executor::aten::cat_outf(context, both, 0, result);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(out.data, (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4}));
  TensorOf<float> sum({2});
  Tensor sums = sum;
  const int64_t dims[] = {0};
  torch::executor::aten::sum_outf(context, a, executorch::aten::ArrayRef<int64_t>(dims), false,
                                  ScalarType::Float, sums);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(sum.data, (std::vector<float>{4, 6}));
}

TEST(Functions, InPlace_WriteTheirInput) {
  KernelRuntimeContext context;
  TensorOf<float> target({2}, {0, 0});
  TensorOf<float> source({2}, {5, 6});
  Tensor tensor = target;
  torch::executor::aten::copy_(context, tensor, source, false);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(target.data, (std::vector<float>{5, 6}));
}

TEST(NativeFunctions, ByKernelName_Compute) {
  KernelRuntimeContext context;
  TensorOf<int64_t> a({3}, {1, 2, 3});
  TensorOf<int64_t> out({3});
  Tensor result = out;
  torch::executor::native::add_scalar_out(context, a, 1, 1, result);
  EXPECT_EQ(out.data, (std::vector<int64_t>{2, 3, 4}));
  torch::executor::testing::SupportedFeatures* features = torch::executor::testing::SupportedFeatures::get();
  EXPECT_FALSE(features->is_aten);
}

TEST(Switch, OverEveryType_CallsWithItsType) {
  KernelRuntimeContext context;
  int calls = 0;
#define COUNT_TYPE(cpp_type, name)                                                       \
  ET_SWITCH_REALHBBF16_AND_UINT_TYPES(ScalarType::name, context, "count", CTYPE, [&] {   \
    EXPECT_EQ(executorch::runtime::CppTypeToScalarType<CTYPE>::value, ScalarType::name); \
    ++calls;                                                                             \
  });
  ET_FORALL_REALHBBF16_TYPES(COUNT_TYPE)
#undef COUNT_TYPE
  EXPECT_EQ(calls, 10);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  const auto bytes = ET_SWITCH_TWO_TYPES(Float, Double, ScalarType::Double, context, "size", CTYPE,
                                         [&]() -> size_t { return sizeof(CTYPE); });
  EXPECT_EQ(bytes, 8u);
  ET_SWITCH_INT_TYPES(ScalarType::Float, context, "none", CTYPE, [&] { calls += sizeof(CTYPE); });
  EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
  EXPECT_EQ(calls, 10);
}

TEST(Registry, DuplicateKernel_Aborts) {
  EXPECT_EQ(registered, Error::Ok);
  EXPECT_TRUE(executorch::runtime::registry_has_op_function("rl_test::scaled.out"));
  EXPECT_TRUE(executorch::runtime::registry_has_op_function("aten::add.out"));
  EXPECT_FALSE(executorch::runtime::registry_has_op_function("rl_test::nothing.out"));
  const auto enter = [](const Kernel& kernel) {
    static_cast<void>(executorch::runtime::register_kernel(kernel));
  };
  EXPECT_DEATH(enter(Kernel("rl_test::counted.out", counted)), "rl_test::counted.out");
  EXPECT_DEATH(enter(Kernel("rl_test::empty.out", nullptr)), "");
}

// One's own kernel under a built-in operator's name: once.
TEST(Registry, KernelUnderABuiltInName_ReplacesIt) {
  const char* name = "aten::logical_not.out";
  const size_t before = executorch::runtime::get_registered_kernels().size();
  ASSERT_EQ(executorch::runtime::register_kernel(Kernel(name, counted)), Error::Ok);
  EXPECT_EQ(executorch::runtime::get_registered_kernels().size(), before);
  EXPECT_EQ(executorch::runtime::get_op_function_from_registry(name).get(), counted);
  EXPECT_EQ(rushlight::compat::all_operators().find("aten::logical_not", "out")->signature,
            rushlight::selected_operators.find("aten::logical_not", "out")->signature);
  EXPECT_DEATH(static_cast<void>(executorch::runtime::register_kernel(Kernel(name, counted))), name);
  TensorOf<float> in({1}, {1});
  TensorOf<float> out({1}, {0});
  EValue values[] = {EValue(Tensor(in)), EValue(Tensor(out))};
  EValue* stack[] = {&values[0], &values[1]};
  alignas(16) uint8_t memory[256];
  executorch::runtime::MemoryAllocator allocator(sizeof memory, memory);
  KernelRuntimeContext context(nullptr, &allocator);
  torch::executor::getOpsFn(name)(context, Span<EValue*>(stack));
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(out.data[0], 2.0f);  // counted() says how many arguments it had
}

TEST(Registry, KernelOfTheBuild_CanBeCalled) {
  TensorOf<float> a({2}, {1, 2});
  TensorOf<float> out({2});
  EValue values[] = {EValue(Tensor(a)), EValue(Tensor(a)), EValue(int64_t{1}), EValue(Tensor(out))};
  EValue* stack[] = {&values[0], &values[1], &values[2], &values[3]};
  KernelRuntimeContext context;
  torch::executor::getOpsFn("aten::add.out")(context, Span<EValue*>(stack));
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(out.data, (std::vector<float>{2, 4}));
  torch::executor::getOpsFn("aten::add.out")(context, Span<EValue*>(stack, size_t{2}));
  EXPECT_NE(context.failure_state(), Error::Ok);
}

void set_one(KernelRuntimeContext&, Span<EValue*> stack) {
  *stack[1]->toTensor().mutable_data_ptr<float>() = 1;
}
void set_two(KernelRuntimeContext&, Span<EValue*> stack) {
  *stack[1]->toTensor().mutable_data_ptr<float>() = 2;
}

TEST(Registry, KernelsByKey_AreChosenByTensors) {
  uint8_t order[] = {0};
  executorch::runtime::TensorMeta metas[] = {{ScalarType::Float, order}, {ScalarType::Float, order}};
  char key[executorch::runtime::internal::kKernelKeyBufSize];
  ASSERT_EQ(executorch::runtime::internal::make_kernel_key_string(metas, key, sizeof key), Error::Ok);
  EXPECT_STREQ(key, "v1/6;0|6;0");
  const Kernel kernels[] = {Kernel("rl_test::keyed.out", set_one),
                            Kernel("rl_test::keyed.out", KernelKey("v1/6;0|6;0"), set_two)};
  ASSERT_EQ(executorch::runtime::register_kernels(kernels), Error::Ok);
  EXPECT_EQ(executorch::runtime::get_op_function_from_registry("rl_test::keyed.out", metas).get(), set_two);
  EXPECT_EQ(executorch::runtime::get_op_function_from_registry("rl_test::keyed.out").get(), set_one);
}

// in, a number, None, out.
rushlight::testing::Bytes scaled_program(double factor, const char* name = "rl_test::scaled") {
  namespace t = rushlight::testing;
  t::PlanSpec plan;
  plan.values = {t::tensor({}), t::real(factor), t::none(), t::tensor({.memory_id = 1})};
  plan.inputs = {0};
  plan.outputs = {3};
  plan.operators = {{name, "out"}};
  plan.instructions = {t::call(0, {0, 1, 2, 3, 3})};
  plan.buffer_sizes = {0, 16};
  return t::build(plan);
}

TEST(RegisteredKernel, InAProgram_Runs) {
  rushlight::testing::Loaded method(scaled_program(3), rushlight::compat::all_operators());
  ASSERT_EQ(method.error(), rushlight::Error::Ok);
  TensorOf<float> in({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, EValue(Tensor(in))), rushlight::Error::Ok);
  ASSERT_EQ(method->execute(), rushlight::Error::Ok);
  const auto* out = method->output(0).to_tensor().const_data_ptr<float>();
  EXPECT_EQ(out[0], 3);
  EXPECT_EQ(out[1], 6);
}

TEST(RegisteredKernel, ThatFails_MakesTheRunFailLikewise) {
  rushlight::testing::Loaded method(scaled_program(-1), rushlight::compat::all_operators());
  ASSERT_EQ(method.error(), rushlight::Error::Ok);
  TensorOf<float> in({2}, {1, 2});
  ASSERT_EQ(method->set_input(0, EValue(Tensor(in))), rushlight::Error::Ok);
  EXPECT_EQ(method->execute(), rushlight::Error::NotSupported);
}

TEST(RegisteredKernel, OfOtherArguments_IsRefusedAtLoad) {
  namespace t = rushlight::testing;
  t::PlanSpec plan;
  plan.values = {t::tensor({}), t::tensor({.memory_id = 1})};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.operators = {{"rl_test::scaled", "out"}};
  plan.instructions = {t::call(0, {0, 1, 1})};
  plan.buffer_sizes = {0, 16};
  rushlight::testing::Loaded method(t::build(plan), rushlight::compat::all_operators());
  EXPECT_EQ(method.error(), rushlight::Error::InvalidProgram);
}

TEST(ParallelFor, OverARange_VisitsEachIndexOnce) {
  std::vector<int> visits(10);
  EXPECT_TRUE(executorch::extension::parallel_for(0, 10, 3, [&](int64_t begin, int64_t end) {
    for (const auto i : c10::irange(begin, end)) ++visits[static_cast<size_t>(i)];
  }));
  EXPECT_EQ(visits, std::vector<int>(10, 1));
  EXPECT_FALSE(executorch::extension::parallel_for(1, 0, 1, [](int64_t, int64_t) {}));
}

}  // namespace
