// SPDX-License-Identifier: BSD-3-Clause
// Operators that PyTorch's kernels compute for the runtime. Expected values are PyTorch's own, from the
// functional form of each operator.
#include "aten/operators.h"

#include <atomic>
#include <deque>
#include <thread>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include "aten/boxed_call.h"
#include "aten/convert.h"
#include "aten/custom.h"
#include "runtime/executor/arguments.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight::aten {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A planned tensor of the runtime: `sizes` are its largest ones.
class Planned {
 public:
  explicit Planned(std::vector<SizesType> sizes, ScalarType type = ScalarType::Float,
                   std::vector<DimOrderType> order = {},
                   TensorShapeDynamism dynamism = TensorShapeDynamism::DYNAMIC_BOUND)
      : sizes_(std::move(sizes)), order_(std::move(order)), strides_(sizes_.size()) {
    for (size_t d = order_.size(); d < sizes_.size(); ++d) order_.push_back(static_cast<DimOrderType>(d));
    impl_.emplace(type, static_cast<ptrdiff_t>(sizes_.size()), sizes_.data(), nullptr, order_.data(),
                  strides_.data(), dynamism);
    memory_.resize(impl_->nbytes() + 16);
    impl_->set_data(memory_.data(), Storage::Planned);
  }
  [[nodiscard]] EValue value() { return EValue(Tensor(&*impl_)); }
  [[nodiscard]] at::Tensor result() { return alias(*impl_).clone(); }
  TensorImpl& impl() { return *impl_; }

 private:
  std::vector<SizesType> sizes_;
  std::vector<DimOrderType> order_;
  std::vector<StridesType> strides_;
  std::vector<uint8_t> memory_;
  std::optional<TensorImpl> impl_;
};

// The table of one operator, and a call of it as the executor calls it.
class Served {
 public:
  explicit Served(const char* name, Priority priority = Priority::OursFirst,
                  const OperatorTable& ours = selected_operators)
      : operators_(ours, priority) {
    EXPECT_EQ(operators_.add(std::string(name)), Error::Ok);
    entry_ = operators_.table().find(name, "");
  }
  [[nodiscard]] bool is_ours(const char* name) const { return entry_ == selected_operators.find(name, ""); }
  [[nodiscard]] const KernelEntry* entry() const { return entry_; }

  Error operator()(std::vector<EValue> values) const {
    std::vector<EValue*> arguments;
    for (EValue& value : values) arguments.push_back(&value);
    const Span<EValue* const> all(arguments.data(), arguments.size());
    RL_TRY(check_kinds(*entry_, all));
    RL_TRY(check_tensors(*entry_, arguments.data(), When::Running));
    std::vector<uint8_t> scratch(1 << 16);
    Arena temporary({scratch.data(), scratch.size()});
    KernelContext context(&temporary, nullptr, *entry_, arguments.size());
    return entry_->call(context, arguments.data());
  }

 private:
  Operators operators_;
  const KernelEntry* entry_ = nullptr;
};

Tensor in(const at::Tensor& tensor) {
  static std::deque<TensorAlias> kept;
  auto made = TensorAlias::make(tensor);
  return kept.emplace_back(std::move(made.get())).tensor();
}

at::Tensor numbers(at::IntArrayRef sizes) { return at::rand(sizes, at::kDouble).to(at::kFloat); }

TEST(AtenOperators, ThatTheBuildLacks_ComputePyTorchsResult) {
  const at::Tensor x = numbers({3, 4});
  Planned out({3, 4});
  ASSERT_EQ(selected_operators.find("aten::special_sinc.out", ""), nullptr);
  EXPECT_EQ(Served("aten::special_sinc.out")({EValue(in(x)), out.value()}), Error::Ok);
  EXPECT_TRUE(at::equal(out.result(), at::special_sinc(x)));
}

TEST(AtenOperators, OfBothSides_AreOursUnlessAtenIsFirst) {
  const Served ours("aten::add.out");
  const Served theirs("aten::add.out", Priority::AtenFirst);
  EXPECT_EQ(ours.entry()->kernel, selected_operators.find("aten::add.out", "")->kernel);
  EXPECT_EQ(theirs.entry()->kernel, nullptr);
  EXPECT_STREQ(theirs.entry()->signature, "ttsw");
  EXPECT_TRUE(
      Served("executorch_prim::add.Scalar", Priority::AtenFirst).is_ours("executorch_prim::add.Scalar"));
  EXPECT_EQ(Served("no_such::operator.out").entry(), nullptr);
}

TEST(AtenOperators, OfBothSides_HaveOneSignature) {
  size_t both = 0;
  for (size_t i = 0; i < selected_operators.size; ++i) {
    const KernelEntry& ours = selected_operators.entries[i];
    const auto call = BoxedCall::find(ours.name);
    if (!call.has_value()) continue;
    ++both;
    EXPECT_EQ(call->signature(), ours.signature) << ours.name;
  }
  EXPECT_GT(both, 4u);
}

TEST(AtenOperators, WithAnotherSignature_StayOurs) {
  const KernelFunction kernel = [](KernelContext&, EValue* const*, ErasedKernel) { return Error::Ok; };
  const KernelEntry entries[] = {{"aten::exp.out", kernel, "ttw"}};
  EXPECT_EQ(Served("aten::exp.out", Priority::OursFirst, {entries, 1}).entry(), &entries[0]);
}

TEST(AtenOperators, WithDtypesThatOursLacks_AreComputedByPyTorch) {
  const at::Tensor x = at::complex(numbers({2, 3}), numbers({2, 3}) / 0.0f);
  Planned out({2, 3}, ScalarType::ComplexFloat);
  const Served served("aten::nan_to_num.out");
  ASSERT_NE(selected_operators.find("aten::nan_to_num.out", ""), nullptr);
  const std::vector<EValue> arguments = {EValue(in(x)), EValue(0.5), EValue(), EValue(), out.value()};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(served(arguments), Error::Ok);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");  // ours was not asked
  EXPECT_TRUE(at::equal(out.result(), at::nan_to_num(x, 0.5)));
}

// PyTorch's kernel would compute another sum if ours had added already.
TEST(AtenOperators, ThatWriteToAnInput_AreNotTriedTwice) {
  const KernelFunction spoils = [](KernelContext&, EValue* const* arguments, ErasedKernel) {
    arguments[0]->to_tensor().mutable_data_ptr<float>()[0] = 99;
    return Error::InvalidType;
  };
  const KernelEntry entries[] = {{"aten::relu_", spoils, "w"}};
  Planned x({2});
  EXPECT_EQ(Served("aten::relu_", Priority::OursFirst, {entries, 1})({x.value()}), Error::InvalidType);
}

TEST(AtenOperators, ThatWriteToAnInput_AreComputedInPlace) {
  Planned x({2, 3});
  const at::Tensor source = numbers({3, 2}).t();
  const void* memory = x.impl().data();
  const Served served("aten::copy_", Priority::AtenFirst);
  EXPECT_EQ(served({x.value(), EValue(in(source)), EValue(false)}), Error::Ok);
  EXPECT_EQ(x.impl().data(), memory);
  EXPECT_TRUE(at::equal(x.result(), source));
}

TEST(AtenOperators, ThatOursRefuse_AreComputedByPyTorchFromThenOn) {
  static int calls = 0;
  const KernelFunction refuses = [](KernelContext&, EValue* const*, ErasedKernel) {
    ++calls;
    return Error::InvalidType;
  };
  const KernelEntry entries[] = {{"aten::exp.out", refuses, "tw"}};
  const at::Tensor x = numbers({5});
  Planned out({5});
  const Served served("aten::exp.out", Priority::OursFirst, {entries, 1});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(served({EValue(in(x)), out.value()}), Error::Ok);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(at::equal(out.result(), at::exp(x)));
}

TEST(AtenOperators, OfOurs_KeepTheirOwnErrors) {
  const KernelFunction fails = [](KernelContext&, EValue* const*, ErasedKernel) {
    return Error::InvalidArgument;
  };
  const KernelEntry entries[] = {{"aten::exp.out", fails, "tw"}};
  Planned out({5});
  const Served served("aten::exp.out", Priority::OursFirst, {entries, 1});
  EXPECT_EQ(served({EValue(in(numbers({5}))), out.value()}), Error::InvalidArgument);
}

TEST(AtenOperators, WithDynamicShapes_ResizeTheirOutput) {
  const at::Tensor x = at::arange(6).remainder(2);
  Planned out({6, 1}, ScalarType::Long);
  const Served served("aten::nonzero.out", Priority::AtenFirst);
  const void* memory = out.impl().data();
  EXPECT_EQ(served({EValue(in(x)), out.value()}), Error::Ok);
  EXPECT_EQ(out.impl().data(), memory);
  EXPECT_TRUE(at::equal(out.result(), at::nonzero(x)));
  EXPECT_EQ(served({EValue(in(at::ones({6}))), out.value()}), Error::Ok);
  EXPECT_EQ(out.impl().numel(), 6u);
}

// huber_loss.out computes the losses of all elements in its output before it averages them.
TEST(AtenOperators, ThatUseTheirOutputForMore_StillWriteTheResult) {
  const at::Tensor x = numbers({4, 4});
  const at::Tensor target = numbers({4, 4});
  Planned out({});
  EXPECT_EQ(Served("aten::huber_loss.out")({EValue(in(x)), EValue(in(target)),
                                            EValue(int64_t{at::Reduction::Mean}), EValue(1.0), out.value()}),
            Error::Ok);
  EXPECT_TRUE(at::equal(out.result(), at::huber_loss(x, target)));
}

TEST(AtenOperators, WithAResultThatDoesNotFit_FailAndSayWhy) {
  const Served served("aten::special_sinc.out");
  Planned small({2});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(served({EValue(in(numbers({3}))), small.value()}), Error::InvalidArgument);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("does not fit"));
  Planned fixed({4}, ScalarType::Float, {}, TensorShapeDynamism::STATIC);
  EXPECT_EQ(served({EValue(in(numbers({3}))), fixed.value()}), Error::InvalidArgument);
  Planned flat({6});
  EXPECT_EQ(served({EValue(in(numbers({2, 3}))), flat.value()}), Error::InvalidArgument);
}

TEST(AtenOperators, ThatThrow_ReturnErrorsWithPyTorchsMessage) {
  const Served served("aten::linalg_inv.out");
  Planned out({2, 3});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(served({EValue(in(numbers({2, 3}))), out.value()}), Error::InvalidArgument);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("square"));
}

TEST(AtenOperators, WithChannelsLast_WriteInTheProgramsLayout) {
  const at::Tensor x = numbers({2, 3, 4, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  for (const auto& order : {std::vector<DimOrderType>{0, 2, 3, 1}, std::vector<DimOrderType>{0, 1, 2, 3}}) {
    Planned out({2, 3, 4, 5}, ScalarType::Float, order);
    EXPECT_EQ(Served("aten::special_sinc.out")({EValue(in(x)), out.value()}), Error::Ok);
    EXPECT_TRUE(at::equal(out.result(), at::special_sinc(x)));
  }
}

TEST(AtenOperators, WithAnOutputOverAnInput_ReadTheInputFirst) {
  Planned square({3, 3});
  const at::Tensor x = alias(square.impl());
  x.copy_(numbers({3, 3}));
  const at::Tensor expected = at::mm(x, x);
  TensorImpl& same = square.impl();
  Planned other({3, 3});
  other.impl().set_data(same.mutable_data(), Storage::Planned);
  const Served served("aten::mm.out", Priority::AtenFirst);
  EXPECT_EQ(served({square.value(), square.value(), other.value()}), Error::Ok);
  EXPECT_TRUE(at::allclose(other.result(), expected));
}

TEST(AtenOperators, WithEveryKindOfArgument_TakeThem) {
  const at::Tensor x = numbers({4, 6});
  Planned norm({6});
  const int64_t dims[] = {0};
  const BoxedList<int64_t> boxed = {nullptr, const_cast<int64_t*>(dims)};
  EValue list;
  list.tag = Tag::ListInt;
  list.length = 1;
  list.payload.as_int_list = &boxed;
  const EValue dtype(static_cast<int64_t>(ScalarType::Float));
  // Scalar?, int[]?, bool, ScalarType?
  EXPECT_EQ(
      Served("aten::linalg_norm.out")({EValue(in(x)), EValue(2.0), list, EValue(false), dtype, norm.value()}),
      Error::Ok);
  EXPECT_TRUE(at::allclose(norm.result(), at::linalg_norm(x, 2.0, at::IntArrayRef{0})));
  // str; None for optional arguments
  Planned half({4, 4}, ScalarType::ComplexFloat);
  EXPECT_EQ(Served("aten::fft_rfft.out")({EValue(in(x)), EValue(), EValue(int64_t{-1}),
                                          EValue(std::string_view("ortho")), half.value()}),
            Error::Ok);
  EXPECT_TRUE(at::allclose(half.result(), at::fft_rfft(x, std::nullopt, -1, "ortho")));
}

// In training, native_batch_norm writes running statistics that its schema calls inputs.
TEST(AtenOperators, ThatWriteWhatTheySayTheyRead_LeaveConstantsAlone) {
  at::Tensor mean = at::zeros({2});
  TensorImpl& constant = *in(mean).impl();
  constant.set_data(mean.data_ptr(), Storage::Constant);
  Planned out({3, 2});
  Planned saved_mean({2});
  Planned saved_invstd({2});
  const EValue running{Tensor(&constant)};
  EXPECT_EQ(Served("aten::native_batch_norm.out")({EValue(in(numbers({3, 2}))), EValue(), EValue(), running,
                                                   running, EValue(true), EValue(0.5), EValue(1e-5),
                                                   out.value(), saved_mean.value(), saved_invstd.value()}),
            Error::Ok);
  EXPECT_TRUE(at::equal(mean, at::zeros({2})));
}

TEST(AtenOperators, WithListsOfOutputs_WriteEach) {
  const at::Tensor x = numbers({5});
  Planned first({2});
  Planned second({3});
  Tensor items[] = {first.value().to_tensor(), second.value().to_tensor()};
  const BoxedList<Tensor> boxed = {nullptr, items};
  EValue outs;
  outs.tag = Tag::ListTensor;
  outs.length = 2;
  outs.payload.as_tensor_list = &boxed;
  const int64_t sizes[] = {2, 3};
  const BoxedList<int64_t> boxed_sizes = {nullptr, const_cast<int64_t*>(sizes)};
  EValue list;
  list.tag = Tag::ListInt;
  list.length = 2;
  list.payload.as_int_list = &boxed_sizes;
  EXPECT_EQ(Served("aten::unsafe_split_with_sizes.out")({EValue(in(x)), list, EValue(int64_t{0}), outs}),
            Error::Ok);
  EXPECT_TRUE(at::equal(at::cat({first.result(), second.result()}), x));
}

TEST(AtenOperators, WithoutAnOutVariant_AreCalledAndCopied) {
  const at::Tensor x = numbers({3, 3});
  Planned out({3, 3});
  // aten::cov is functional only.
  const Served served("aten::cov.out");
  ASSERT_NE(served.entry(), nullptr);
  EXPECT_STREQ(served.entry()->signature, "tiTTw");
  EXPECT_EQ(served({EValue(in(x)), EValue(int64_t{1}), EValue(), EValue(), out.value()}), Error::Ok);
  EXPECT_TRUE(at::allclose(out.result(), at::cov(x)));
}

TEST(AtenOperators, OfTypesThatProgramsLack_AreNotServed) {
  EXPECT_EQ(Served("aten::set.source_Storage_out").entry(), nullptr);       // a Storage
  EXPECT_EQ(Served("aten::_foreach_add.ScalarList_out").entry(), nullptr);  // Scalar[]
  EXPECT_EQ(Served("aten::from_file.out").entry(), nullptr);                // reads a file
}

TEST(AtenOperators, OfSeveralThreads_ComputeAtOnce) {
  const Served served("aten::special_sinc.out");
  const at::Tensor x = numbers({100});
  const at::Tensor expected = at::special_sinc(x);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  const Tensor input = in(x);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      Planned out({100});
      for (int i = 0; i < 50; ++i) {
        if (served({EValue(input), out.value()}) == Error::Ok && at::equal(out.result(), expected)) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

// ---- Custom operators ----

at::Tensor& scaled_out(const at::Tensor& x, double factor, std::optional<int64_t> times, at::Tensor& out) {
  at::mul_out(out, x, at::scalar_tensor(factor * static_cast<double>(times.value_or(1))));
  return out;
}
RL_ATEN_KERNEL("test_aten::scaled.out", scaled_out);

at::Tensor twice(const at::Tensor& x) { return x + x; }
RL_ATEN_KERNEL("test_aten::twice", twice);

void halves_out(const at::Tensor& x, at::TensorList outs) {
  for (at::Tensor out : outs) at::div_out(out, x, at::scalar_tensor(2.0f));
}
RL_ATEN_KERNEL("test_aten::halves.out(Tensor x, *, Tensor(a!)[] outs) -> ()", halves_out);

TEST(AtenKernels, OfOneLine_AreFoundByTheirName) {
  const at::Tensor x = numbers({4});
  Planned out({4});
  EXPECT_EQ(Served("test_aten::scaled.out")({EValue(in(x)), EValue(3.0), EValue(int64_t{2}), out.value()}),
            Error::Ok);
  EXPECT_TRUE(at::allclose(out.result(), x * 6));
  EXPECT_EQ(Served("test_aten::twice")({EValue(in(x)), out.value()}), Error::Ok);
  EXPECT_TRUE(at::equal(out.result(), x + x));
  Tensor items[] = {out.value().to_tensor()};
  const BoxedList<Tensor> boxed = {nullptr, items};
  EValue outs;
  outs.tag = Tag::ListTensor;
  outs.length = 1;
  outs.payload.as_tensor_list = &boxed;
  EXPECT_EQ(Served("test_aten::halves.out")({EValue(in(x)), outs}), Error::Ok);
  EXPECT_TRUE(at::equal(out.result(), x / 2));
}

TEST(AtenKernels, WithAnotherSchemaOrTwice_AreRefused) {
  EXPECT_THROW(internal::CustomRegistration<&twice>("test_aten::twice"), c10::Error);
  EXPECT_THROW(internal::CustomRegistration<&twice>("test_aten::other(Tensor x, int n) -> Tensor"),
               c10::Error);
}

TORCH_LIBRARY(test_library, library) {
  library.def("shifted.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  library.impl("shifted.out", [](const at::Tensor& x, at::Tensor& out) -> at::Tensor& {
    return at::add_out(out, x, at::scalar_tensor(1.0f));
  });
}

TEST(AtenKernels, OfTorchLibraries_AreFoundInTheDispatcher) {
  const at::Tensor x = numbers({4});
  Planned out({4});
  EXPECT_EQ(Served("test_library::shifted.out")({EValue(in(x)), out.value()}), Error::Ok);
  EXPECT_TRUE(at::allclose(out.result(), x + 1));
}

// ---- In a program ----

TEST(AtenPrograms, WithOperatorsOfBothSides_Run) {
  namespace build = rushlight::testing;
  build::PlanSpec plan;
  plan.values = {build::tensor({{4}}),
                 build::tensor({{4}, ScalarType::Float, TensorShapeDynamism::STATIC, std::nullopt, 0, 1, 0}),
                 build::tensor({{4}, ScalarType::Float, TensorShapeDynamism::STATIC, std::nullopt, 0, 1, 16}),
                 build::integer(1)};
  plan.inputs = {0};
  plan.outputs = {2};
  plan.operators = {{"aten::special_sinc", "out"}, {"aten::add", "out"}};
  plan.instructions = {build::call(0, {0, 1, 1}), build::call(1, {1, 0, 3, 2, 2})};
  plan.buffer_sizes = {0, 32};
  const build::Bytes file = build::build(plan);
  BufferDataLoader loader(file.data(), file.size());
  auto program = Program::load(loader);
  ASSERT_TRUE(program.ok());
  Operators operators(selected_operators);
  ASSERT_EQ(operators.add(*program), Error::Ok);
  EXPECT_THAT(operators.names(), ElementsAre("aten::add.out", "aten::special_sinc.out"));
  build::Loaded loaded(file, operators.table());
  ASSERT_EQ(loaded.error(), Error::Ok);
  const at::Tensor x = numbers({4});
  ASSERT_EQ(loaded->set_input(0, EValue(in(x))), Error::Ok);
  ASSERT_EQ(loaded->execute(), Error::Ok);
  EXPECT_TRUE(at::allclose(alias(loaded->output(0).to_tensor()), at::special_sinc(x) + x));
}

}  // namespace
}  // namespace rushlight::aten
