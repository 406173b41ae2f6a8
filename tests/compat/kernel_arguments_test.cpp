// SPDX-License-Identifier: BSD-3-Clause
// The adapters between official arguments and rushlight's kernels: ranks, scratch memory, results.
#include <cstring>
#include <type_traits>
#include <vector>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/test/FunctionHeaderWrapper.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <gtest/gtest.h>

#include "compat/detail/registry.h"
#include "tests/compat/tensors.h"

namespace {

using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::BoxedEvalueList;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;
using rushlight::compat::testing::TensorOf;

// The elaborated name of the enumeration, in every namespace that has it.
enum torch::executor::TensorShapeDynamism dynamism_of(const Tensor& tensor) {
  return tensor.shape_dynamism();
}
static_assert(
    std::is_same_v<enum executorch::runtime::TensorShapeDynamism, enum torch::executor::TensorShapeDynamism>);
static_assert(
    std::is_same_v<enum executorch::aten::TensorShapeDynamism, enum torch::executor::TensorShapeDynamism>);
static_assert(std::is_same_v<enum executorch::runtime::Tag, enum torch::executor::Tag>);

TEST(TensorShapeDynamism, ByItsElaboratedName_IsTheType) {
  TensorOf<float> tensor({1});
  EXPECT_EQ(dynamism_of(tensor), torch::executor::TensorShapeDynamism::STATIC);
}

// A float tensor of more dimensions than kernels can index, all of size 1.
class DeepTensor {
 public:
  explicit DeepTensor(size_t rank) : sizes_(rank, 1), order_(rank), strides_(rank, 1), impl_(make(rank)) {}
  operator Tensor() { return Tensor(&impl_); }
  float value = 1;

 private:
  TensorImpl make(size_t rank) {
    for (size_t i = 0; i < rank; ++i) order_[i] = static_cast<uint8_t>(i);
    return TensorImpl(ScalarType::Float, static_cast<ssize_t>(rank), sizes_.data(), &value, order_.data(),
                      strides_.data());
  }

  std::vector<int32_t> sizes_;
  std::vector<uint8_t> order_;
  std::vector<int32_t> strides_;
  TensorImpl impl_;
};

TEST(Functions, OfATensorWithTooManyDimensions_FailTheContext) {
  DeepTensor in(25);
  DeepTensor deep_out(25);
  TensorOf<float> out({1});
  Tensor result = out;
  Tensor deep_result = deep_out;
  const auto failed = [](auto&& call) {
    KernelRuntimeContext context;
    call(context);
    return context.failure_state();
  };
  namespace aten = torch::executor::aten;
  EXPECT_EQ(failed([&](auto& c) { aten::tril_outf(c, in, 0, deep_result); }), Error::InvalidArgument);
  EXPECT_EQ(failed([&](auto& c) { aten::abs_outf(c, in, result); }), Error::InvalidArgument);
  EXPECT_EQ(failed([&](auto& c) { aten::abs_outf(c, out, deep_result); }), Error::InvalidArgument);
  const Tensor list[] = {out, in};
  EXPECT_EQ(failed([&](auto& c) { aten::cat_outf(c, list, 0, result); }), Error::InvalidArgument);
  const std::optional<Tensor> indices[] = {std::nullopt, Tensor(in)};
  EXPECT_EQ(failed([&](auto& c) { aten::index_outf(c, out, indices, result); }), Error::InvalidArgument);
  EXPECT_EQ(failed([&](auto& c) { aten::clamp_outf(c, out, std::optional<Tensor>(in), {}, result); }),
            Error::InvalidArgument);
  KernelRuntimeContext context;
  EXPECT_EQ(&torch::executor::native::tril_out(context, in, 0, deep_result), &deep_result);
  EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
  DeepTensor most(16);
  DeepTensor most_out(16);
  Tensor most_result = most_out;
  EXPECT_EQ(failed([&](auto& c) { aten::abs_outf(c, most, most_result); }), Error::Ok);
}

// One value of each kind that a signature may ask for; tensors are `tensor`.
struct Arguments {
  explicit Arguments(Tensor tensor) : value(tensor), items{tensor}, optional_items{tensor} {
    pointers[0] = &value;
    number_pointers[0] = &number;
  }

  EValue of(char code) {
    if (code >= 'A' && code <= 'Z') return of(static_cast<char>(code - 'A' + 'a'));
    switch (code) {
      case 't':
      case 'w':
        return value;
      case 'i':
        return number;
      case 'b':
        return EValue(false);
      case 'd':
      case 's':
        return EValue(1.0);
      case 'z':
        return EValue(&text);
      case 'n':
        return EValue(&numbers);
      case 'f':
        return EValue(&doubles);
      case 'o':
        return EValue(&bools);
      case 'l':
      case 'k':
        return EValue(&tensors);
      case 'p':
        return EValue(&optional_tensors);
      default:
        return EValue();
    }
  }

  EValue value;
  EValue number = EValue(int64_t{0});
  Tensor items[1];
  std::optional<Tensor> optional_items[1];
  int64_t number_items[1] = {};
  const double double_items[1] = {1};
  const bool bool_items[1] = {false};
  EValue* pointers[1];
  EValue* number_pointers[1];
  executorch::aten::ArrayRef<char> text{"floor", size_t{5}};
  executorch::aten::ArrayRef<double> doubles{double_items};
  executorch::aten::ArrayRef<bool> bools{bool_items};
  BoxedEvalueList<int64_t> numbers{number_pointers, number_items, 1};
  BoxedEvalueList<Tensor> tensors{pointers, items, 1};
  BoxedEvalueList<std::optional<Tensor>> optional_tensors{pointers, optional_items, 1};
};

// Every kernel of the build, with a deep tensor in place of each of its tensors in turn.
TEST(BoxedKernels, OfATensorWithTooManyDimensions_FailTheContext) {
  DeepTensor deep(25);
  TensorOf<float> shallow({1});
  int tried = 0;
  const auto& table = rushlight::selected_operators;
  for (size_t k = 0; k < table.size; ++k) {
    const char* signature = table.entries[k].signature;
    const size_t count = std::strlen(signature);
    for (size_t at = 0; at < count; ++at) {
      if (std::strchr("twlkpTWLKP", signature[at]) == nullptr) continue;
      Arguments usual{Tensor(shallow)};
      Arguments hostile{Tensor(deep)};
      std::vector<EValue> values;
      for (size_t i = 0; i < count; ++i) values.push_back((i == at ? hostile : usual).of(signature[i]));
      std::vector<EValue*> stack;
      for (EValue& value : values) stack.push_back(&value);
      KernelRuntimeContext context;
      rushlight::compat::selected_function(k)(context, Span<EValue*>(stack.data(), stack.size()));
      EXPECT_EQ(context.failure_state(), Error::InvalidArgument) << table.entries[k].name << " " << at;
      ++tried;
    }
  }
  EXPECT_GT(tried, 500);
}

TEST(TensorImpl, OfTooManyDimensionsWithoutMemoryForThem_IsRefused) {
  std::vector<int32_t> sizes(25, 1);
  EXPECT_DEATH(TensorImpl(ScalarType::Float, 25, sizes.data()), "");
  DeepTensor deep(25);
  size_t memo[executorch::runtime::kTensorDimensionLimit];
  EXPECT_DEATH(executorch::runtime::memoizeTrailingDims(deep, memo), "");
}

std::vector<Half> halves(std::initializer_list<float> values) { return {values.begin(), values.end()}; }

// Kernels that compute float16 in float32 need scratch memory; a context without an allocator has it, too.
TEST(Functions, OfHalvesInAContextWithoutAllocator_Compute) {
  KernelRuntimeContext context;
  TensorOf<Half> a({2, 2}, halves({1, 2, 3, 4}));
  TensorOf<Half> b({2, 2}, halves({1, 0, 1, 1}));
  TensorOf<Half> bias({2}, halves({1, 1}));
  TensorOf<Half> out({2, 2});
  Tensor result = out;
  torch::executor::aten::mm_outf(context, a, b, result);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(out.data, halves({3, 2, 7, 4}));
  torch::executor::aten::addmm_outf(context, bias, a, b, 1, 1, result);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(out.data, halves({4, 3, 8, 5}));
  torch::executor::aten::linear_outf(context, a, b, std::optional<Tensor>(bias), result);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(out.data, halves({2, 4, 4, 8}));
  TensorOf<Half> batch_a({1, 2, 2}, halves({1, 2, 3, 4}));
  TensorOf<Half> batch_b({1, 2, 2}, halves({1, 0, 1, 1}));
  TensorOf<Half> batch_out({1, 2, 2});
  Tensor batch_result = batch_out;
  torch::executor::aten::bmm_outf(context, batch_a, batch_b, batch_result);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(batch_out.data, halves({3, 2, 7, 4}));
  // A kernel of the user's has none: it asks for it in vain, as before.
  EXPECT_EQ(context.allocate_temp(4).error(), Error::NotFound);
}

// An allocator that is given is used, and nothing beside it.
TEST(Functions, OfHalvesInAContextWithTooLittleMemory_FailIt) {
  alignas(16) uint8_t memory[64];
  executorch::runtime::MemoryAllocator allocator(sizeof memory, memory);
  KernelRuntimeContext context(nullptr, &allocator);
  TensorOf<Half> a({64, 64});
  TensorOf<Half> out({64, 64});
  Tensor result = out;
  torch::executor::aten::mm_outf(context, a, a, result);
  EXPECT_EQ(context.failure_state(), Error::MemoryAllocationFailed);
}

// Running statistics are written, and no results.
TEST(Functions, OfABatchNorm_ReturnItsThreeResults) {
  KernelRuntimeContext context;
  TensorOf<float> in({2, 1}, {1, 3});
  TensorOf<float> running_mean({1}, {0});
  TensorOf<float> running_var({1}, {1});
  TensorOf<float> out({2, 1});
  TensorOf<float> save_mean({1});
  TensorOf<float> save_invstd({1});
  Tensor mean = running_mean;
  Tensor var = running_var;
  Tensor first = out;
  Tensor second = save_mean;
  Tensor third = save_invstd;
  const std::tuple<Tensor&, Tensor&, Tensor&> results = torch::executor::aten::_native_batch_norm_legit_outf(
      context, in, {}, {}, mean, var, true, 0.5, 0, first, second, third);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(&std::get<0>(results), &first);
  EXPECT_EQ(&std::get<2>(results), &third);
  EXPECT_EQ(save_mean.data, (std::vector<float>{2}));
  EXPECT_EQ(running_mean.data, (std::vector<float>{1}));
  EXPECT_EQ(out.data, (std::vector<float>{-1, 1}));
}

TEST(EValue, NumbersOfItsPayload_AreReadAndWritten) {
  EValue value(int64_t{5});
  EXPECT_EQ(value.payload.copyable_union.as_int, 5);
  value.payload.copyable_union.as_double = 2.5;
  value.tag = executorch::runtime::Tag::Double;
  EXPECT_EQ(value.toDouble(), 2.5);
  EXPECT_TRUE(EValue(true).payload.copyable_union.as_bool);
}

TEST(EValue, WhosePointerIsNull_IsRefused) {
  using executorch::runtime::Tag;
  EValue value;
  value.tag = Tag::String;
  value.payload.copyable_union.as_string_ptr = nullptr;
  EXPECT_DEATH(static_cast<void>(value.toString()), "string pointer is null");
  EXPECT_EQ(value.tryToString().error(), Error::InvalidState);
  value.tag = Tag::ListInt;
  value.payload.copyable_union.as_int_list_ptr = nullptr;
  EXPECT_DEATH(static_cast<void>(value.toIntList()), "int list pointer is null");
  value.tag = Tag::ListOptionalTensor;
  EXPECT_DEATH(static_cast<void>(value.toListOptionalTensor()), "pointer is null");
  EXPECT_DEATH(static_cast<void>(EValue(true).toInt()), "EValue is not an int");
  // An empty list may lie nowhere.
  executorch::aten::ArrayRef<bool> none;
  EXPECT_EQ(EValue(&none).toBoolList().size(), 0u);
}

}  // namespace
