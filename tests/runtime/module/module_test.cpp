// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/module/module.h"

#include <cstdio>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/executor/prepare_support.h"
#include "runtime/kernel/boxing.h"
#include "runtime/module/file_data_loader.h"
#include "runtime/module/mmap_data_loader.h"
#include "runtime/module/shared_data_loader.h"
#include "tests/runtime/support/data_files.h"
#include "tests/runtime/support/kernels.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlanSpec doubling_plan() {
  PlanSpec plan;
  plan.values = {tensor({}), tensor({})};  // both the caller's memory
  plan.inputs = {0};
  plan.outputs = {1};
  plan.operators = {{"test::add", ""}};
  plan.instructions = {call(0, {0, 0, 1})};
  return plan;
}

void expect_doubling(const Module& module) {
  const auto method = module.load_method("forward");
  ASSERT_TRUE(method.ok());
  FloatTensor input({2}, {1, 2});
  ASSERT_EQ((*method)->method().set_input(0, input.value()), Error::Ok);
  ASSERT_EQ((*method)->method().execute(), Error::Ok);
  EXPECT_THAT(elements((*method)->method().output(0)), ElementsAre(2, 4));
}

TEST(Module, RunsAProgram_FromBytesAndFromAFile) {
  const Bytes file = build(doubling_plan());
  const auto from_bytes = Module::load_bytes({file.data(), file.size()}, kernels);
  ASSERT_TRUE(from_bytes.ok());
  expect_doubling(**from_bytes);

  const std::string path = ::testing::TempDir() + "rushlight_module_test.pte";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<long>(file.size()));
  const auto from_file = Module::load_file(path.c_str(), kernels);
  std::remove(path.c_str());
  ASSERT_TRUE(from_file.ok());
  expect_doubling(**from_file);
}

TEST(Module, GivesEveryMethodStateOfItsOwn) {
  PlanSpec plan = doubling_plan();
  plan.values = {tensor({.constant = 1, .memory_id = 1, .mutable_segment = 0})};
  plan.inputs = {};
  plan.outputs = {0};
  plan.instructions = {call(0, {0, 0, 0})};
  plan.buffer_sizes = {0, 8};
  ProgramSpec spec;
  spec.plans = {plan};
  spec.segment = floats({1, 3});
  spec.mutable_offsets = {0, 0};
  const Bytes file = build(spec);
  const auto module = Module::load_bytes({file.data(), file.size()}, kernels);
  const auto first = (*module)->load_method("forward");
  const auto second = (*module)->load_method("forward");
  ASSERT_TRUE(first.ok() && second.ok());
  for (int i = 0; i < 3; ++i) ASSERT_EQ((*first)->method().execute(), Error::Ok);
  ASSERT_EQ((*second)->method().execute(), Error::Ok);
  EXPECT_THAT(elements((*first)->method().output(0)), ElementsAre(8, 24));
  EXPECT_THAT(elements((*second)->method().output(0)), ElementsAre(2, 6));
}

TEST(Module, SaysWhatIsWrong_WithFilesThatAreNone) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Module::load_file("/nowhere/model.pte", kernels).error(), Error::AccessFailed);
  EXPECT_EQ(Module::load_file("/", kernels).error(), Error::AccessFailed);
  EXPECT_EQ(Module::load_bytes({}, kernels).error(), Error::InvalidProgram);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("/nowhere/model.pte: No such file"));
}

TEST(Module, RefusesMemoryThatNobodyHas) {
  PlanSpec plan = doubling_plan();
  plan.buffer_sizes = {0, INT64_MAX / 2};
  const Bytes file = build(plan);
  const auto module = Module::load_bytes({file.data(), file.size()}, kernels);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ((*module)->load_method("forward").error(), Error::MemoryAllocationFailed);
  ::testing::internal::GetCapturedStderr();
}

// ---- The convenient front ----

std::string file_of(const Bytes& bytes, const std::string& name) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  return path;
}

// ---- Files that change, memory that is limited ----

// Adds its input to a constant of the segment.
Bytes adding_program(float constant) {
  PlanSpec plan = doubling_plan();
  plan.values.push_back(tensor({.constant = 1}));
  plan.instructions = {call(0, {0, 2, 1})};
  ProgramSpec spec;
  spec.plans = {plan};
  spec.segment = floats({constant, constant});
  spec.constant_offsets = {0, 0};
  return build(spec);
}

class MappedFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = file_of(adding_program(1), "rushlight_mapped.pte");
    auto module = Module::load_file(path_.c_str(), kernels);
    ASSERT_TRUE(module.ok());
    module_ = std::move(*module);
    EXPECT_EQ(run(), Error::Ok);
    ::testing::internal::CaptureStderr();
  }
  void TearDown() override {
    log_ = ::testing::internal::GetCapturedStderr();
    std::remove(path_.c_str());
  }
  Error run() {
    FloatTensor input({2}, {1, 2});
    const auto outputs = module_->forward({input.value()});
    return outputs.ok() ? Error::Ok : outputs.error();
  }
  void overwrite(const Bytes& bytes) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  }

  std::string path_;
  std::string log_;
  std::unique_ptr<Module> module_;
};

TEST_F(MappedFile, IsRefused_OnceItIsShorter) {
  overwrite({});
  EXPECT_EQ(run(), Error::AccessFailed);
  EXPECT_EQ(module_->load_method("forward").error(), Error::AccessFailed);
  EXPECT_EQ(module_->method_names(), std::vector<std::string>{"forward"});
  EXPECT_EQ(module_->method_meta("forward")->num_inputs(), 1U);
}

TEST_F(MappedFile, IsRefused_OnceItIsAnother) {
  overwrite(Bytes(1 << 16, 0xff));
  EXPECT_EQ(run(), Error::AccessFailed);
}

TEST_F(MappedFile, StaysWhatItWas_WhenANewOneTakesItsName) {
  const std::string other = file_of(adding_program(5), "rushlight_mapped.pte.new");
  ASSERT_EQ(std::rename(other.c_str(), path_.c_str()), 0);
  EXPECT_EQ(run(), Error::Ok);
  EXPECT_TRUE(module_->load_method("forward").ok());
}

TEST(Module, RefusesMoreMemoryThanItMayTake_BeforeItIsTaken) {
  PlanSpec plan = doubling_plan();
  plan.buffer_sizes = {0, 1 << 20, 1 << 20};
  const Bytes file = build(plan);
  ModuleOptions options;
  options.max_memory = 2 << 20;  // without the values
  const auto small = Module::load_bytes({file.data(), file.size()}, kernels, options);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ((*small)->load_method("forward").error(), Error::MemoryAllocationFailed);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("memory: expected at most 2097152 bytes, needs 209"));
  options.max_memory = (2 << 20) + 4096;
  const auto module = Module::load_bytes({file.data(), file.size()}, kernels, options);
  const auto method = (*module)->load_method("forward");
  ASSERT_TRUE(method.ok());
  EXPECT_LE((*method)->taken_bytes(), options.max_memory);
}

TEST(Module, CountsOutputsThatTheCallerOwns_EachOnce) {
  PlanSpec plan = doubling_plan();
  plan.values = {tensor({}), tensor({.sizes = {1 << 20}})};
  plan.outputs = {1, 1, 1, 1};
  const Bytes file = build(plan);
  ModuleOptions options;
  options.max_memory = (4 << 20) + 8192;
  EXPECT_TRUE(
      (*Module::load_bytes({file.data(), file.size()}, kernels, options))->load_method("forward").ok());
  options.max_memory = 4 << 20;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(
      (*Module::load_bytes({file.data(), file.size()}, kernels, options))->load_method("forward").error(),
      Error::MemoryAllocationFailed);
  ::testing::internal::GetCapturedStderr();
}

TEST(Module, LoadsAFile_InEachWay) {
  const std::string path = file_of(build(doubling_plan()), "rushlight_load_modes.pte");
  for (const LoadMode mode :
       {LoadMode::File, LoadMode::Mmap, LoadMode::MmapLocked, LoadMode::MmapTryLocked}) {
    ModuleOptions options;
    options.load_mode = mode;
    const auto module = Module::load_file(path.c_str(), kernels, options);
    ASSERT_TRUE(module.ok());
    expect_doubling(**module);
  }
  std::remove(path.c_str());
}

TEST(Module, RunsForward_OnTensorsOverTheCallersMemory) {
  const Bytes file = build(doubling_plan());
  auto module = Module::load_bytes({file.data(), file.size()}, kernels);
  ASSERT_TRUE(module.ok());
  EXPECT_THAT((*module)->method_names(), ElementsAre("forward"));
  float pixels[] = {1, 2};
  const HostTensor image({2}, pixels);
  auto outputs = (*module)->forward({image.value()});
  ASSERT_TRUE(outputs.ok());
  EXPECT_THAT(elements((*outputs)[0]), ElementsAre(2, 4));
}

TEST(Module, UsesInputsThatWereSet) {
  const Bytes file = build(doubling_plan());
  auto module = Module::load_bytes({file.data(), file.size()}, kernels);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->forward().error(), Error::InvalidState);
  const HostTensor image({2}, std::vector<float>{3, 4});
  ASSERT_EQ((*module)->set_input(0, image.value()), Error::Ok);
  const auto outputs = (*module)->forward();
  ASSERT_TRUE(outputs.ok());
  EXPECT_THAT(elements((*outputs)[0]), ElementsAre(6, 8));
}

TEST(Module, NamesTheInputsThatAreMissing) {
  const Bytes file = build(doubling_plan());
  auto module = Module::load_bytes({file.data(), file.size()}, kernels);
  ASSERT_TRUE(module.ok());
  const HostTensor image({2}, std::vector<float>{3, 4});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ((*module)->forward({image.value(), image.value()}).error(), Error::InvalidArgument);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("expected 1 inputs, got 2"));
  EXPECT_EQ((*module)->method("backward").error(), Error::NotFound);
}

TEST(Module, UsesSharedDataWhereItIs) {
  const Bytes bytes = build(doubling_plan());
  auto block = std::make_shared<Block>(bytes.size());
  std::memcpy(block->span().data(), bytes.data(), bytes.size());
  const std::weak_ptr<Block> watch = block;
  std::shared_ptr<const void> data(block, block->span().data());
  block.reset();
  {
    auto module = Module::load(std::make_shared<SharedDataLoader>(data, bytes.size()), kernels);
    ASSERT_TRUE(module.ok());
    data.reset();
    EXPECT_FALSE(watch.expired());
    expect_doubling(**module);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(MmapDataLoader, GivesPointersIntoOneMapping) {
  const std::string path = file_of({1, 2, 3, 4}, "rushlight_mapped.bin");
  auto loader = MmapDataLoader::open(path.c_str());
  std::remove(path.c_str());
  ASSERT_TRUE(loader.ok());
  auto most = loader->load(1, 3);
  auto tail = loader->load(2, 2);
  ASSERT_TRUE(most.ok() && tail.ok());
  EXPECT_EQ(tail->bytes().data(), most->bytes().data() + 1);
  EXPECT_THAT(std::vector<uint8_t>(tail->bytes().begin(), tail->bytes().end()), ElementsAre(3, 4));
  EXPECT_EQ(loader->load(3, 2).error(), Error::InvalidArgument);
}

TEST(MmapDataLoader, CopiesWhatTheFileBeginsWith) {
  const std::string path = file_of({1, 2, 3, 4}, "rushlight_copied.bin");
  auto loader = MmapDataLoader::open(path.c_str());
  ASSERT_TRUE(loader.ok());
  const auto all = loader->load(0, 4);
  ASSERT_TRUE(all.ok());
  file_of({5, 6, 7, 8, 9}, "rushlight_copied.bin");  // the same file
  EXPECT_THAT(std::vector<uint8_t>(all->bytes().begin(), all->bytes().end()), ElementsAre(1, 2, 3, 4));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(loader->load(2, 2).error(), Error::AccessFailed);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("was overwritten since it was loaded"));
  std::remove(path.c_str());
}

template <class Loader>
void expect_nothing_once_moved_from(const char* name) {
  const std::string path = file_of({1, 2, 3, 4}, name);
  auto loader = Loader::open(path.c_str());
  std::remove(path.c_str());
  ASSERT_TRUE(loader.ok());
  Loader taken(std::move(*loader));
  EXPECT_EQ(taken.size(), 4u);
  EXPECT_TRUE(taken.load(0, 4).ok());
  EXPECT_EQ(loader->size(), 0u);
  EXPECT_FALSE(loader->load(0, 4).ok());
}

TEST(DataLoaders, HaveNothingOnceMovedFrom) {
  expect_nothing_once_moved_from<MmapDataLoader>("rushlight_moved_map.bin");
  expect_nothing_once_moved_from<FileDataLoader>("rushlight_moved_file.bin");
}

TEST(MmapDataLoader, RefusesWhatIsNoFile) {
  EXPECT_EQ(MmapDataLoader::open("/does/not/exist").error(), Error::AccessFailed);
  EXPECT_EQ(MmapDataLoader::open("/").error(), Error::AccessFailed);
}

TEST(Module, TakesWeightsFromDataFiles_InPlace) {
  PlanSpec plan = doubling_plan();
  TensorSpec weight;
  weight.external = true;
  plan.values = {tensor({}), tensor({}), tensor(weight)};
  plan.instructions = {call(0, {0, 2, 1})};
  const Bytes file = build(plan);
  DataFileSpec data;
  data.entries = {{"layer.weight", floats({10, 20}), LayoutSpec{}}};
  const std::string path = ::testing::TempDir() + "rushlight_module_test.ptd";
  const Bytes bytes = build(data);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  for (const LoadMode mode : {LoadMode::Mmap, LoadMode::File}) {
    ModuleOptions options;
    options.load_mode = mode;
    options.data_files = {path};
    const auto module = Module::load_bytes({file.data(), file.size()}, kernels, options);
    ASSERT_TRUE(module.ok());
    FloatTensor input({2}, {1, 2});
    const auto outputs = (*module)->forward({input.value()});
    ASSERT_TRUE(outputs.ok());
    EXPECT_THAT(elements((*outputs)[0]), ElementsAre(11, 22));
  }
  ModuleOptions twice;
  twice.data_files = {path, path};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Module::load_bytes({file.data(), file.size()}, kernels, twice).error(), Error::InvalidArgument);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("weight"));
  std::remove(path.c_str());
}

// Two floats, each time in the same memory, which goes with whoever asked for it.
class ReusedMemory final : public NamedDataMap {
 public:
  explicit ReusedMemory(std::vector<float>* values) : values_(values) {}
  [[nodiscard]] Result<TensorLayout> tensor_layout(std::string_view) const override {
    static constexpr int32_t kSizes[] = {2};
    static constexpr uint8_t kOrder[] = {0};
    return TensorLayout{ScalarType::Float, {kSizes, 1}, {kOrder, 1}, 8};
  }
  [[nodiscard]] Result<FreeableBuffer> data(std::string_view) const override {
    return FreeableBuffer(values_->data(), 8, [](void*, void*, size_t) {});
  }
  Error load_into(std::string_view, void*, size_t) const override { return Error::NotImplemented; }
  [[nodiscard]] Result<uint32_t> num_keys() const override { return uint32_t{1}; }
  [[nodiscard]] Result<const char*> key(uint32_t) const override { return "layer.weight"; }

 private:
  std::vector<float>* values_;
};

Error add_packed(KernelContext& context, const Tensor& a, const Tensor&, Tensor& out) {
  const auto* packed = static_cast<const float*>(context.prepared());
  for (size_t i = 0; i < 2; ++i) {
    out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + (packed == nullptr ? -1000 : packed[i]);
  }
  return Error::Ok;
}

Error add_packed_prepare(KernelContext& context, const Tensor&, const Tensor& b, Tensor&) {
  if (void* made = context.prepare(b.const_data_ptr(), layout_id(1), 8)) {
    std::memcpy(made, b.const_data_ptr(), 8);
  }
  return Error::Ok;
}

TEST(Module, WhatIsPreparedOfAMethodsOwnData_GoesWithIt) {
  static const KernelEntry kEntries[] = {{"test::add", &call_unpacked<decltype(&add_packed)>,
                                          signature_of<&add_packed>(), RL_ERASED(add_packed),
                                          RL_ERASED(add_packed_prepare)}};
  static const OperatorTable kPacking = {kEntries, 1, nullptr, kPrepareSupport};
  PlanSpec plan = doubling_plan();
  TensorSpec weight;
  weight.external = true;
  plan.values = {tensor({}), tensor({}), tensor(weight)};
  plan.instructions = {call(0, {0, 2, 1})};
  const Bytes file = build(plan);
  std::vector<float> values = {10, 20};
  const ReusedMemory map(&values);
  ModuleOptions options;
  options.method.external_data = &map;
  const auto module = Module::load_bytes({file.data(), file.size()}, kPacking, options);
  ASSERT_TRUE(module.ok());
  for (const float first : {10.0F, 30.0F}) {
    values[0] = first;
    const auto method = (*module)->load_method("forward");
    ASSERT_TRUE(method.ok());
    FloatTensor input({2}, {1, 2});
    ASSERT_EQ((*method)->method().set_input(0, input.value()), Error::Ok);
    ASSERT_EQ((*method)->method().execute(), Error::Ok);
    EXPECT_THAT(elements((*method)->method().output(0)), ElementsAre(1 + first, 22));
  }
}

}  // namespace
}  // namespace rushlight
