// SPDX-License-Identifier: BSD-3-Clause
// WRAP_TO_ATEN: kernels on ExecuTorch's tensors, called through PyTorch's dispatcher.
#include <tuple>

#include <executorch/extension/aten_util/make_aten_functor_from_et_functor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

namespace {

using executorch::extension::internal::type_convert;
using executorch::extension::internal::type_map;
using executorch::runtime::ArrayRef;
using executorch::runtime::KernelRuntimeContext;
using torch::executor::Tensor;

// Adds to each element of an int64 output.
void add(Tensor& out, int64_t value) {
  for (ssize_t i = 0; i < out.numel(); ++i) out.mutable_data_ptr<int64_t>()[i] += value;
}

Tensor& add_tensor_out(const Tensor& in, Tensor& out) { return add(out, *in.const_data_ptr<int64_t>()), out; }
Tensor& add_optionals_out(std::optional<int64_t> number, std::optional<Tensor> tensor, Tensor& out) {
  if (number.has_value()) add(out, *number);
  if (tensor.has_value()) add(out, *tensor->const_data_ptr<int64_t>());
  return out;
}
Tensor& add_lists_out(ArrayRef<int64_t> numbers, ArrayRef<Tensor> tensors,
                      ArrayRef<std::optional<Tensor>> optionals, Tensor& out) {
  for (const int64_t number : numbers) add(out, number);
  for (const Tensor& tensor : tensors) add(out, *tensor.const_data_ptr<int64_t>());
  for (const auto& tensor : optionals) {
    if (tensor.has_value()) add(out, *tensor->const_data_ptr<int64_t>());
  }
  return out;
}
std::tuple<Tensor&, Tensor&> two_out(int64_t value, Tensor& first, Tensor& second) {
  add(first, value);
  add(second, 2 * value);
  return {first, second};
}
Tensor& shrink_out(KernelRuntimeContext& context, const Tensor& in, Tensor& out) {
  const int32_t size = 2;
  const auto error = out.unsafeGetTensorImpl()->internal_resize_contiguous({&size, size_t{1}});
  if (error != executorch::runtime::Error::Ok) return context.fail(error), out;
  if (!context.allocate_temp(64).ok()) return context.fail(executorch::runtime::Error::Internal), out;
  for (int i = 0; i < 2; ++i) out.mutable_data_ptr<int64_t>()[i] = in.const_data_ptr<int64_t>()[i];
  return out;
}
Tensor& failing_out(KernelRuntimeContext& context, const Tensor&, Tensor& out) {
  return context.fail(executorch::runtime::Error::NotSupported), out;
}
int64_t count(ArrayRef<Tensor> tensors) { return static_cast<int64_t>(tensors.size()); }

TORCH_LIBRARY(rushlight_wrapped, m) {
  m.def("add_tensor.out", WRAP_TO_ATEN(add_tensor_out, 1));
  m.def("add_optionals.out", WRAP_TO_ATEN(add_optionals_out, 2));
  m.def("add_lists.out", WRAP_TO_ATEN(add_lists_out, 3));
  m.def("two.out(int value, *, Tensor(a!) first, Tensor(b!) second) -> (Tensor(a!), Tensor(b!))",
        WRAP_TO_ATEN(two_out, 1));
  m.def("count", WRAP_TO_ATEN(count));
}

// The results of a call through the dispatcher.
torch::jit::Stack call(const char* name, torch::jit::Stack stack) {
  const auto op = c10::Dispatcher::singleton().findSchema({std::string("rushlight_wrapped::") + name, "out"});
  if (!op.has_value()) throw std::runtime_error(name);
  op->callBoxed(&stack);
  return stack;
}

at::Tensor zeros(int64_t size) { return at::zeros({size}, at::kLong); }

template <class From, class To>
constexpr bool kMaps = std::is_same_v<typename type_map<From>::type, To>;

TEST(MakeAtenFunctor, TypeMap_EachKindOfArgument_IsPyTorchs) {
  EXPECT_TRUE((kMaps<int64_t, int64_t>));
  EXPECT_TRUE((kMaps<Tensor, at::Tensor>));
  EXPECT_TRUE((kMaps<const Tensor&, const at::Tensor&>));
  EXPECT_TRUE((kMaps<std::optional<ArrayRef<Tensor>>, std::optional<c10::ArrayRef<at::Tensor>>>));
  EXPECT_TRUE((kMaps<ArrayRef<std::optional<Tensor>>, c10::ArrayRef<std::optional<at::Tensor>>>));
  EXPECT_TRUE((kMaps<std::tuple<Tensor&, Tensor&>, std::tuple<at::Tensor&, at::Tensor&>>));
}

TEST(MakeAtenFunctor, TypeConvert_BothDirections_SharesMemory) {
  const at::Tensor given = torch::tensor({7});
  type_convert<const at::Tensor&, Tensor> there(given);
  const Tensor tensor = there.call();
  EXPECT_EQ(tensor.const_data_ptr(), given.const_data_ptr());
  type_convert<std::tuple<Tensor, Tensor>, std::tuple<at::Tensor, at::Tensor>> back({tensor, tensor});
  EXPECT_EQ(std::get<1>(back.call()).const_data_ptr(), given.const_data_ptr());
  const std::optional<at::Tensor> none;
  EXPECT_FALSE(
      (type_convert<const std::optional<at::Tensor>&, std::optional<Tensor>>(none).call().has_value()));
}

TEST(MakeAtenFunctor, Call_Tensor_WritesOutputInPlace) {
  at::Tensor out = zeros(2);
  const auto results = call("add_tensor", {torch::tensor({3}), out});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_TRUE(results[0].toTensor().is_same(out));
  EXPECT_TRUE(at::equal(out, torch::tensor({3, 3})));
}

TEST(MakeAtenFunctor, Call_OptionalsAndLists_PassesEachItem) {
  at::Tensor out = zeros(1);
  call("add_optionals", {int64_t{3}, c10::IValue(), out});
  EXPECT_EQ(out.item<int64_t>(), 3);
  call("add_optionals", {c10::IValue(), torch::tensor({8}), out});
  EXPECT_EQ(out.item<int64_t>(), 11);
  const std::vector<int64_t> numbers = {1, 2};
  const std::vector<at::Tensor> tensors = {torch::tensor({10}), torch::tensor({20})};
  const std::vector<std::optional<at::Tensor>> optionals = {torch::tensor({100}), std::nullopt};
  call("add_lists", {numbers, tensors, optionals, out});
  EXPECT_EQ(out.item<int64_t>(), 11 + 3 + 30 + 100);
}

TEST(MakeAtenFunctor, Call_TwoOutputs_ReturnsBoth) {
  const auto results = call("two", {int64_t{4}, zeros(1), zeros(1)});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].toTensor().item<int64_t>(), 4);
  EXPECT_EQ(results[1].toTensor().item<int64_t>(), 8);
}

TEST(MakeAtenFunctor, Call_ResizedOutput_ResizesPyTorchsTensor) {
  at::Tensor out = zeros(4);
  auto function = WRAP_TO_ATEN(shrink_out, 1);
  EXPECT_TRUE(function(torch::tensor({5, 6, 7}), out).is_same(out));
  EXPECT_TRUE(at::equal(out, torch::tensor({5, 6})));
}

TEST(MakeAtenFunctor, Call_OutputWithGaps_IsCopiedBack) {
  at::Tensor whole = at::zeros({3, 2}, at::kLong);
  at::Tensor column = whole.select(1, 0);
  auto function = WRAP_TO_ATEN(add_tensor_out, 1);
  function(torch::tensor({5}), column);
  EXPECT_TRUE(at::equal(whole, torch::tensor({5, 0, 5, 0, 5, 0}).reshape({3, 2})));
}

TEST(MakeAtenFunctor, Call_FailedContext_Throws) {
  at::Tensor out = zeros(1);
  auto function = WRAP_TO_ATEN(failing_out, 1);
  EXPECT_THROW(function(out, out), c10::Error);
}

TEST(MakeAtenFunctor, Call_NoOutput_ReturnsTheNumber) {
  const std::vector<at::Tensor> tensors(3, zeros(1));
  auto function = WRAP_TO_ATEN(count);
  EXPECT_EQ(function(tensors), 3);
}

}  // namespace
