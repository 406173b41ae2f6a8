// SPDX-License-Identifier: BSD-3-Clause
// Programs, methods, modules and backends through the official classes.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/data_loader/shared_ptr_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/named_data_map/merged_data_map.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/kernel/kernel_includes.h>
#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>

#include "tests/runtime/support/program_builder.h"

namespace {

namespace t = rushlight::testing;

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::BufferDataLoader;
using executorch::extension::from_blob;
using executorch::extension::make_tensor_ptr;
using executorch::extension::MallocMemoryAllocator;
using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Method;
using executorch::runtime::Program;
using executorch::runtime::Result;
using executorch::runtime::Span;

std::string file(const char* name) { return std::string(RUSHLIGHT_TEST_PROGRAMS "/") + name; }

std::vector<float> values_of(const EValue& value) {
  const Tensor tensor = value.toTensor();
  const auto* data = tensor.const_data_ptr<float>();
  return {data, data + tensor.numel()};
}

// Triples its input; a kernel that an application defines.
Tensor& tripled_out(executorch::runtime::KernelRuntimeContext& context, const Tensor& in, Tensor& out) {
  auto scratch = context.allocate_temp(in.nbytes());
  ET_KERNEL_CHECK(context, scratch.ok(), MemoryAllocationFailed, out);
  auto* held = static_cast<float*>(*scratch);
  for (ssize_t i = 0; i < in.numel(); ++i) held[i] = in.const_data_ptr<float>()[i] * 3;
  for (ssize_t i = 0; i < in.numel(); ++i) out.mutable_data_ptr<float>()[i] = held[i];
  return out;
}

EXECUTORCH_LIBRARY(rl_program_test, "tripled.out", tripled_out);

// A call of an operator from an input to an output. Memory 1 has `bytes` bytes: the output is in it, and the
// input in front of it if `plans_input`.
t::Bytes program_with(const char* name, bool plans_input = false, int64_t bytes = 16) {
  t::PlanSpec plan;
  plan.values = {plans_input ? t::tensor({.memory_id = 1}) : t::tensor({}),
                 t::tensor({.memory_id = 1, .offset = plans_input ? 16u : 0u})};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.operators = {{name, "out"}};
  plan.instructions = {t::call(0, {0, 1, 1})};
  plan.buffer_sizes = {0, bytes};
  return t::build(plan);
}

// The set-up that an application's main() does.
class Application {
 public:
  explicit Application(const t::Bytes& bytes)
      : file_(bytes.size()),
        loader_((std::copy(bytes.begin(), bytes.end(), file_.span().data()), file_.span().data()),
                bytes.size()),
        method_allocator_(sizeof method_memory_, method_memory_),
        temp_allocator_(sizeof temp_memory_, temp_memory_) {}

  Result<Method> load(Span<const executorch::runtime::Kernel> kernels = {},
                      const executorch::runtime::LoadBackendOptionsMap* options = nullptr) {
    auto program = Program::load(&loader_);
    if (!program.ok()) return program.error();
    program_.emplace(std::move(*program));
    auto meta = program_->method_meta("forward");
    if (!meta.ok()) return meta.error();
    for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
      const auto size = static_cast<size_t>(meta->memory_planned_buffer_size(i).get());
      spans_.push_back({planned_.emplace_back(size).span().data(), size});
    }
    planned_memory_.emplace(Span<Span<uint8_t>>(spans_.data(), spans_.size()));
    manager_.emplace(&method_allocator_, &*planned_memory_, &temp_allocator_);
    return program_->load_method("forward", &*manager_, nullptr, nullptr, options, kernels);
  }

  const Program& program() { return *program_; }

 private:
  t::Block file_;
  BufferDataLoader loader_;
  alignas(16) uint8_t method_memory_[4096];
  alignas(16) uint8_t temp_memory_[1024];
  MemoryAllocator method_allocator_;
  MemoryAllocator temp_allocator_;
  std::optional<Program> program_;
  std::vector<t::Block> planned_;
  std::vector<Span<uint8_t>> spans_;
  std::optional<HierarchicalAllocator> planned_memory_;
  std::optional<MemoryManager> manager_;
};

TEST(Method, WithAKernelOfOnesOwn_Runs) {
  executorch::runtime::runtime_init();
  Application application(program_with("rl_program_test::tripled"));
  auto method = application.load();
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->inputs_size(), 1u);
  const auto input = make_tensor_ptr({2}, {1.0f, 2.0f});
  ASSERT_EQ(method->set_input(input, 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(values_of(method->get_output(0)), (std::vector<float>{3, 6}));
  EValue outputs[2];
  ASSERT_EQ(method->get_outputs(outputs, 2), Error::Ok);
  EXPECT_TRUE(outputs[1].isNone());
  EXPECT_EQ(method->get_outputs(outputs, 0), Error::InvalidArgument);
  EXPECT_EQ(method->set_input(make_tensor_ptr({3}, {1.0f, 2.0f, 3.0f}), 0), Error::InvalidArgument);
  EXPECT_EQ(method->set_inputs({}), Error::InvalidArgument);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(Method, ThatWasMovedFrom_Fails) {
  Application application(program_with("rl_program_test::tripled"));
  auto method = application.load();
  ASSERT_TRUE(method.ok());
  const auto input = make_tensor_ptr({2}, {1.0f, 2.0f});
  ASSERT_EQ(method->set_input(input, 0), Error::Ok);
  Method moved(std::move(*method));
  EXPECT_EQ(method->execute(), Error::InvalidState);
  EXPECT_EQ(method->set_input(input, 0), Error::InvalidState);
  EXPECT_EQ(method->step(), Error::InvalidState);
  EXPECT_EQ(method->reset_execution(), Error::InvalidState);
  EXPECT_EQ(moved.execute(), Error::Ok);
}

// As in ExecuTorch: the deprecated accessors give the input away, and with it the duty to set it.
TEST(Method, WithAnInputThatWasAccessed_CountsItAsSet) {
  const t::Bytes planned = program_with("rl_program_test::tripled", true, 32);
  const auto run = [&](auto access) {
    Application application(planned);
    auto method = application.load();
    EXPECT_TRUE(method.ok());
    EXPECT_EQ(method->execute(), Error::InvalidArgument);
    access(*method);
    EXPECT_EQ(method->execute(), Error::Ok);
  };
  run([](Method& method) { method.mutable_input(0).toTensor().mutable_data_ptr<float>()[0] = 1; });
  run([](Method& method) { static_cast<void>(method.get_input(0)); });
  run([](Method& method) {
    EValue input;
    EXPECT_EQ(method.get_inputs(&input, 1), Error::Ok);
  });
}

TEST(Method, SteppedWithoutInputs_IsRefused) {
  Application application(program_with("rl_program_test::tripled"));
  auto method = application.load();
  ASSERT_TRUE(method.ok());
  EXPECT_EQ(method->step(), Error::InvalidArgument);
}

TEST(Method, AfterAFailedStep_CanRepeatIt) {
  Application application(program_with("rl_program_test::tripled"));
  auto method = application.load();
  ASSERT_TRUE(method.ok());
  ASSERT_NE(method->step(), Error::Ok);
  EXPECT_EQ(method->reset_execution(), Error::InvalidState);
  const auto input = make_tensor_ptr({2}, {1.0f, 2.0f});
  ASSERT_EQ(method->set_input(input, 0), Error::Ok);
  EXPECT_EQ(method->step(), Error::Ok);
  EXPECT_EQ(values_of(method->get_output(0)), (std::vector<float>{3, 6}));
  EXPECT_EQ(method->step(), Error::EndOfMethod);
  EXPECT_EQ(method->reset_execution(), Error::Ok);
}

TEST(Method, ExecutedAfterAStep_IsReset) {
  Application application(program_with("rl_program_test::tripled"));
  auto method = application.load();
  ASSERT_TRUE(method.ok());
  const auto input = make_tensor_ptr({2}, {1.0f, 2.0f});
  ASSERT_EQ(method->set_input(input, 0), Error::Ok);
  ASSERT_EQ(method->step(), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->reset_execution(), Error::InvalidState);
  EXPECT_EQ(method->step(), Error::Ok);
}

#pragma GCC diagnostic pop

TEST(Method, OfAMissingOperator_IsRefused) {
  Application application(program_with("rl_program_test::absent"));
  EXPECT_EQ(application.load().error(), Error::OperatorMissing);
}

TEST(Method, WithKernelsOfItsOwnLoad_PrefersThem) {
  const auto set_nine = [](executorch::runtime::KernelRuntimeContext&, Span<EValue*> stack) {
    for (ssize_t i = 0; i < 2; ++i) stack[1]->toTensor().mutable_data_ptr<float>()[i] = 9;
  };
  const executorch::runtime::Kernel kernels[] = {
      executorch::runtime::Kernel("rl_program_test::tripled.out", set_nine)};
  Application application(program_with("rl_program_test::tripled"));
  auto method = application.load(kernels);
  ASSERT_TRUE(method.ok());
  const auto input = make_tensor_ptr({2}, {1.0f, 2.0f});
  ASSERT_EQ(method->set_input(input, 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(values_of(method->get_output(0)), (std::vector<float>{9, 9}));
}

TEST(Program, HeadOfAFile_IsRecognised) {
  const t::Bytes bytes = program_with("rl_program_test::tripled");
  EXPECT_EQ(Program::check_header(bytes.data(), bytes.size()), Program::CompatibleVersion);
  EXPECT_EQ(Program::check_header(bytes.data(), 10), Program::ShortData);
  const t::Bytes zeros(64);
  EXPECT_EQ(Program::check_header(zeros.data(), zeros.size()), Program::NotPresent);
  BufferDataLoader loader(zeros.data(), zeros.size());
  EXPECT_EQ(Program::load(&loader).error(), Error::InvalidProgram);
}

TEST(MethodMeta, OfAProgram_DescribesIt) {
  auto loader = executorch::extension::FileDataLoader::from(file("mutable_counter/model.pte").c_str());
  ASSERT_TRUE(loader.ok());
  auto program = Program::load(&*loader);
  ASSERT_TRUE(program.ok());
  EXPECT_STREQ(program->get_method_name(0).get(), "forward");
  EXPECT_EQ(program->get_method_name(1).error(), Error::InvalidArgument);
  auto meta = program->method_meta("forward");
  ASSERT_TRUE(meta.ok());
  EXPECT_EQ(meta->input_tag(0).get(), executorch::runtime::Tag::Tensor);
  auto input = meta->input_tensor_meta(0);
  ASSERT_TRUE(input.ok());
  EXPECT_EQ(input->sizes().size(), 1u);
  EXPECT_EQ(input->nbytes(), 12u);
  EXPECT_EQ(input->scalar_type(), ScalarType::Float);
  EXPECT_EQ(meta->num_backends(), 0u);
  EXPECT_EQ(meta->output_tensor_meta(7).error(), Error::InvalidArgument);
  EXPECT_EQ(program->method_meta("backward").error(), Error::InvalidArgument);
  // The exporter names mutable buffers only when asked to.
  EXPECT_EQ(meta->num_attributes(), 0u);
  EXPECT_EQ(meta->attribute_tensor_meta(0).error(), Error::InvalidArgument);
}

const std::vector<float> kCounterInput = {1.5f, 2.5f, -3.0f};

TEST(Module, WithState_KeepsItBetweenCalls) {
  for (const auto mode : {Module::LoadMode::File, Module::LoadMode::Mmap,
                          Module::LoadMode::MmapUseMlockIgnoreErrors, Module::LoadMode::MmapUseMadvise}) {
    Module module(file("mutable_counter/model.pte"), mode);
    EXPECT_FALSE(module.is_loaded());
    auto input = make_tensor_ptr(kCounterInput);
    auto first = module.forward(input);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(values_of(first->at(0)), (std::vector<float>{2.5f, 3.5f, -2.0f}));
    auto second = module.get("forward", input);
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(values_of(*second), (std::vector<float>{3.5f, 4.5f, -1.0f}));
    EXPECT_TRUE(module.unload_forward());
    EXPECT_EQ(values_of(module.forward(input)->at(0)), (std::vector<float>{2.5f, 3.5f, -2.0f}));
  }
}

TEST(Module, OfAMappedFileThatIsOverwritten_IsNotRun) {
  const std::string path = ::testing::TempDir() + "overwritten.pte";
  std::filesystem::copy_file(file("mutable_counter/model.pte"), path,
                             std::filesystem::copy_options::overwrite_existing);
  Module module(path, Module::LoadMode::Mmap);
  auto input = make_tensor_ptr(kCounterInput);
  ASSERT_TRUE(module.forward(input).ok());
  std::ofstream(path, std::ios::app) << "more";
  EXPECT_EQ(module.forward(input).error(), Error::AccessFailed);
  std::filesystem::remove(path);
}

TEST(Module, WithSeveralMethods_NamesAndRunsThem) {
  for (const bool shared : {false, true}) {
    Module module(file("multi_method/model.pte"), Module::LoadMode::File, nullptr, nullptr, nullptr, shared);
    auto names = module.method_names();
    ASSERT_TRUE(names.ok());
    EXPECT_EQ(names->count("encode"), 1u);
    EXPECT_EQ(names->count("decode"), 1u);
    auto input = executorch::extension::ones({2, 4});
    auto encoded = module.execute("encode", input);
    ASSERT_TRUE(encoded.ok());
    EXPECT_EQ(encoded->at(0).toTensor().numel(), 8);
    ASSERT_EQ(module.set_inputs("decode", {input, input}), Error::Ok);
    EXPECT_TRUE(module.execute("decode").ok());
    EXPECT_EQ(module.execute("absent").error(), Error::InvalidArgument);
  }
}

TEST(Module, OfAProgramThatDeclaresTooMuchMemory_FailsToLoad) {
  for (const int64_t size : {int64_t{1} << 60, INT64_MAX, INT64_MAX - 15}) {
    const t::Bytes bytes = program_with("rl_program_test::tripled", false, size);
    for (const bool shares : {false, true}) {
      Module module(std::make_unique<BufferDataLoader>(bytes.data(), bytes.size()), nullptr, nullptr, nullptr,
                    nullptr, shares);
      EXPECT_EQ(module.load_forward(), Error::MemoryAllocationFailed) << size;
      EXPECT_EQ(module.load_forward(), Error::MemoryAllocationFailed) << size;  // nor on the next attempt
    }
  }
}

TEST(Module, OfAMissingFile_SaysSo) {
  Module module("/nowhere/model.pte");
  EXPECT_EQ(module.load(), Error::AccessFailed);
  EXPECT_EQ(module.forward().error(), Error::AccessFailed);
}

TEST(Module, WithADataFile_FindsItsWeights) {
  Module module(file("external_ptd/model.pte"), file("external_ptd/weights.ptd"));
  auto outputs = module.forward(executorch::extension::ones({4, 16}));
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(outputs->at(0).toTensor().numel(), 32);
  Module without(file("external_ptd/model.pte"));
  EXPECT_FALSE(without.forward(executorch::extension::ones({4, 16})).ok());
}

TEST(Module, OverALoader_Runs) {
  const t::Bytes bytes = program_with("rl_program_test::tripled");
  std::shared_ptr<void> data(new (std::align_val_t{16}) uint8_t[bytes.size()],
                             [](void* memory) { ::operator delete[](memory, std::align_val_t{16}); });
  std::copy(bytes.begin(), bytes.end(), static_cast<uint8_t*>(data.get()));
  Module module(std::make_unique<executorch::extension::SharedPtrDataLoader>(data, bytes.size()),
                std::make_unique<MallocMemoryAllocator>());
  data.reset();
  float pixels[] = {4, 5};
  ASSERT_EQ(module.set_input(from_blob(pixels, {2}), 0), Error::Ok);
  auto outputs = module.forward();
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(values_of(outputs->at(0)), (std::vector<float>{12, 15}));
  EXPECT_EQ(values_of(module.get_output().get()), (std::vector<float>{12, 15}));
}

TEST(FlatTensorDataMap, OfAFile_HasItsTensors) {
  auto loader = executorch::extension::MmapDataLoader::from(
      file("external_ptd/weights.ptd").c_str(), executorch::extension::MmapDataLoader::MlockConfig::NoMlock);
  ASSERT_TRUE(loader.ok());
  auto map = executorch::extension::FlatTensorDataMap::load(&*loader);
  ASSERT_TRUE(map.ok());
  const auto count = map->get_num_keys().get();
  ASSERT_GT(count, 0u);
  const char* key = map->get_key(0).get();
  auto layout = map->get_tensor_layout(key);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(map->get_data(key)->size(), layout->nbytes());
  EXPECT_EQ(map->get_data("nothing").error(), Error::NotFound);
  using executorch::extension::merged_data_map::MergedDataMap;
  const executorch::runtime::NamedDataMap* maps[] = {&*map};
  auto merged = MergedDataMap::load(maps);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->get_num_keys().get(), count);
  EXPECT_TRUE(merged->get_tensor_layout(key).ok());
  const executorch::runtime::NamedDataMap* twice[] = {&*map, &*map};
  EXPECT_EQ(MergedDataMap::load(twice).error(), Error::InvalidArgument);
  const executorch::runtime::DataLoader::SegmentInfo info(
      executorch::runtime::DataLoader::SegmentInfo::Type::External);
  auto head = loader->load(0, 64, info);
  ASSERT_TRUE(head.ok());
  auto header = executorch::extension::FlatTensorHeader::Parse(head->data(), head->size());
  ASSERT_TRUE(header.ok());
  // Any address will do, as for the official parser.
  std::vector<uint8_t> shifted(head->size() + 1);
  std::memcpy(shifted.data() + 1, head->data(), head->size());
  auto same = executorch::extension::FlatTensorHeader::Parse(shifted.data() + 1, head->size());
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->segment_data_size, header->segment_data_size);
}

// Adds a number that the program gives, or an option of the load.
class AddBackend final : public executorch::runtime::BackendInterface {
 public:
  bool is_available() const override { return true; }

  Result<executorch::runtime::DelegateHandle*> init(
      executorch::runtime::BackendInitContext& context, executorch::runtime::FreeableBuffer* processed,
      executorch::runtime::ArrayRef<executorch::runtime::CompileSpec> specs) const override {
    ET_CHECK_OR_RETURN_ERROR(processed->size() == 4 && specs.size() == 1, DelegateInvalidCompatibility,
                             "%zu bytes", processed->size());
    EXPECT_STREQ(specs[0].key, "sign");
    EXPECT_STREQ(context.get_method_name(), "forward");
    auto* number = context.get_runtime_allocator()->allocateInstance<float>();
    if (number == nullptr) return Error::MemoryAllocationFailed;
    std::memcpy(number, processed->data(), 4);
    if (*static_cast<const uint8_t*>(specs[0].value.buffer) == '-') *number = -*number;
    auto option = context.get_runtime_spec<int>("number");
    if (option.ok()) *number = static_cast<float>(*option);
    processed->Free();
    return number;
  }
  Error execute(executorch::runtime::BackendExecutionContext& context,
                executorch::runtime::DelegateHandle* handle, Span<EValue*> args) const override {
    if (context.allocate(16) == nullptr) return Error::MemoryAllocationFailed;
    const Tensor& in = args[0]->toTensor();
    for (ssize_t i = 0; i < in.numel(); ++i) {
      args[1]->toTensor().mutable_data_ptr<float>()[i] =
          in.const_data_ptr<float>()[i] + *static_cast<float*>(handle);
    }
    return Error::Ok;
  }
  Error set_option(executorch::runtime::BackendOptionContext&,
                   const Span<executorch::runtime::BackendOption>& options) override {
    options_set += options.size();
    return Error::Ok;
  }
  void destroy(executorch::runtime::DelegateHandle*) const override { ++destroyed; }

  size_t options_set = 0;
  mutable int destroyed = 0;
};

AddBackend add_backend;
const Error backend_registered = executorch::runtime::register_backend({"AddBackend", &add_backend});

t::Bytes delegated_program(const char* backend) {
  t::PlanSpec plan;
  plan.values = {t::tensor({}), t::tensor({.memory_id = 1})};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.instructions = {t::delegate_call(0, {0, 1})};
  plan.buffer_sizes = {0, 16};
  plan.delegates = {{.id = backend, .specs = {{"sign", t::Bytes{'-'}}}}};
  t::ProgramSpec program;
  program.plans = {plan};
  program.inline_delegates = {t::floats({10})};
  return t::build(program);
}

TEST(Backend, Registered_RunsItsPart) {
  EXPECT_EQ(backend_registered, Error::Ok);
  EXPECT_EQ(executorch::runtime::get_backend_class("AddBackend"), &add_backend);
  EXPECT_EQ(executorch::runtime::register_backend({"AddBackend", &add_backend}), Error::InvalidArgument);
  const int destroyed_before = add_backend.destroyed;
  {
    Application application(delegated_program("AddBackend"));
    auto method = application.load();
    ASSERT_TRUE(method.ok());
    EXPECT_TRUE(method->method_meta().uses_backend("AddBackend"));
    const auto input = make_tensor_ptr({2}, {1.0f, 2.0f});
    ASSERT_EQ(method->set_input(input, 0), Error::Ok);
    ASSERT_EQ(method->execute(), Error::Ok);
    EXPECT_EQ(values_of(method->get_output(0)), (std::vector<float>{-9, -8}));
  }
  EXPECT_EQ(add_backend.destroyed, destroyed_before + 1);
}

TEST(Backend, WithOptions_SeesThemAtLoad) {
  executorch::runtime::BackendOptions<2> options;
  ASSERT_EQ(options.set_option("number", 5), Error::Ok);
  ASSERT_EQ(options.set_option("name", "text"), Error::Ok);
  EXPECT_EQ(options.set_option("one more", true), Error::InvalidArgument);
  const char* name = nullptr;
  EXPECT_EQ(options.get_option("name", name), Error::Ok);
  EXPECT_STREQ(name, "text");
  executorch::runtime::LoadBackendOptionsMap map;
  ASSERT_EQ(map.set_options("AddBackend", options.view()), Error::Ok);
  Application application(delegated_program("AddBackend"));
  auto method = application.load({}, &map);
  ASSERT_TRUE(method.ok());
  const auto input = make_tensor_ptr({2}, {1.0f, 2.0f});
  ASSERT_EQ(method->set_input(input, 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(values_of(method->get_output(0)), (std::vector<float>{6, 7}));
  EXPECT_EQ(executorch::runtime::set_option("AddBackend", options.view()), Error::Ok);
  EXPECT_EQ(add_backend.options_set, 2u);
}

// A loader that notes what it is told of each load.
class NotingLoader final : public executorch::runtime::DataLoader {
 public:
  explicit NotingLoader(const t::Bytes& file)
      : file_(file.size()), loader_(file_.span().data(), file.size()) {
    std::copy(file.begin(), file.end(), file_.span().data());
  }
  Result<executorch::runtime::FreeableBuffer> load(size_t offset, size_t size,
                                                   const SegmentInfo& info) const override {
    noted.emplace_back(info.segment_type, info.descriptor == nullptr ? "" : info.descriptor);
    return loader_.load(offset, size, info);
  }
  Result<size_t> size() const override { return loader_.size(); }

  mutable std::vector<std::pair<SegmentInfo::Type, std::string>> noted;

 private:
  t::Block file_;
  BufferDataLoader loader_;
};

TEST(DataLoader, OfAProgram_IsToldWhatItLoads) {
  using Type = executorch::runtime::DataLoader::SegmentInfo::Type;
  const auto noted = [](const t::ProgramSpec& spec) {
    NotingLoader loader(t::build(spec));
    auto program = Program::load(&loader);
    EXPECT_TRUE(program.ok());
    t::Block planned(64);
    Span<uint8_t> span(planned.span().data(), size_t{64});
    HierarchicalAllocator planner(Span<Span<uint8_t>>(&span, size_t{1}));
    MallocMemoryAllocator allocator;
    MemoryManager memory(&allocator, &planner);
    EXPECT_TRUE(program->load_method("forward", &memory).ok());
    auto names = program->get_named_data_map();
    if (names.ok()) {
      EXPECT_TRUE((*names)->get_data("key").ok());
    }
    EXPECT_EQ(loader.noted.front().first, Type::Program);
    return loader.noted.back();
  };
  t::PlanSpec plan;
  plan.values = {t::tensor({}), t::tensor({.memory_id = 1})};
  plan.inputs = {0};
  plan.outputs = {1};
  plan.buffer_sizes = {0, 16};

  t::ProgramSpec delegated;
  delegated.plans = {plan};
  delegated.plans[0].instructions = {t::delegate_call(0, {0, 1})};
  delegated.plans[0].delegates = {
      {.id = "AddBackend", .in_segment = true, .specs = {{"sign", t::Bytes{'+'}}}}};
  delegated.segment = t::floats({10});
  EXPECT_EQ(noted(delegated), std::make_pair(Type::Backend, std::string("AddBackend")));

  t::ProgramSpec constants;
  constants.plans = {plan};
  constants.constant_offsets = {0, 0};
  constants.segment = t::floats({1, 2});
  EXPECT_EQ(noted(constants), std::make_pair(Type::Constant, std::string()));

  t::ProgramSpec state;
  state.plans = {plan};
  state.plans[0].values = {t::tensor({}), t::tensor({.constant = 1, .memory_id = 1, .mutable_segment = 0})};
  state.mutable_offsets = {0, 0};
  state.segment = t::floats({1, 2});
  EXPECT_EQ(noted(state), std::make_pair(Type::Mutable, std::string()));

  t::ProgramSpec named;
  named.plans = {plan};
  named.segment = t::floats({1, 2});
  named.named_data = {{"key", 0}};
  EXPECT_EQ(noted(named), std::make_pair(Type::Constant, std::string()));
}

TEST(Method, WithAnInputWithoutData_KeepsWhatItHad) {
  Application application(program_with("rl_program_test::tripled", true, 32));
  auto method = application.load();
  ASSERT_TRUE(method.ok());
  ASSERT_EQ(method->set_input(make_tensor_ptr({2}, {1.0f, 2.0f}), 0), Error::Ok);
  int32_t sizes[] = {2};
  executorch::aten::TensorImpl impl(ScalarType::Float, 1, sizes);
  ASSERT_EQ(method->set_input(Tensor(&impl), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(values_of(method->get_output(0)), (std::vector<float>{3, 6}));
}

TEST(Backend, Unknown_IsRefusedByName) {
  Application application(delegated_program("AbsentBackend"));
  EXPECT_EQ(application.load().error(), Error::NotFound);
}

TEST(TensorPtr, FromElements_HasShapeAndType) {
  auto cast = make_tensor_ptr({2, 2}, std::vector<int32_t>{1, 2, 3, 4}, {}, {}, ScalarType::Double);
  EXPECT_EQ(cast->const_data_ptr<double>()[3], 4.0);
  auto scalar = make_tensor_ptr(3.5f);
  EXPECT_EQ(scalar->dim(), 0);
  EXPECT_EQ(scalar->const_data_ptr<float>()[0], 3.5f);
  auto flags = make_tensor_ptr(std::vector<bool>{true, false});
  EXPECT_EQ(flags->scalar_type(), ScalarType::Bool);
  auto columns = make_tensor_ptr({2, 3}, std::vector<float>(6), {1, 0});
  EXPECT_EQ(columns->strides()[1], 2);
  auto view = make_tensor_ptr(cast, {4});
  cast.reset();
  EXPECT_EQ(view->const_data_ptr<double>()[3], 4.0);
  EXPECT_DEATH(make_tensor_ptr({3}, std::vector<float>{1, 2}), "");
  EXPECT_DEATH(make_tensor_ptr({2, 3}, std::vector<float>(6), {}, {1, 7}), "");
}

TEST(TensorPtr, Blob_IsDeletedWithTheLast) {
  int deleted = 0;
  float data[] = {1, 2};
  {
    auto tensor =
        executorch::extension::for_blob(data, {2}).deleter([&](void*) { ++deleted; }).make_tensor_ptr();
    auto other = make_tensor_ptr(tensor);
    tensor.reset();
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(TensorPtr, Made_HasItsElements) {
  auto full = executorch::extension::full({2}, 7, ScalarType::Half);
  EXPECT_EQ(static_cast<float>(full->const_data_ptr<executorch::aten::Half>()[1]), 7.0f);
  auto clone = executorch::extension::clone_tensor_ptr(full, ScalarType::Float);
  EXPECT_EQ(clone->const_data_ptr<float>()[0], 7.0f);
  auto random = executorch::extension::randint(3, 5, {100});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(random->const_data_ptr<int32_t>()[i] / 5 == 0);
  auto resized = executorch::extension::zeros({4});
  EXPECT_EQ(executorch::extension::resize_tensor_ptr(resized, {3}), Error::Ok);
  EXPECT_EQ(resized->numel(), 3);
}

TEST(TensorAccessor, ByIndex_ReadsElements) {
  auto tensor = make_tensor_ptr({2, 3}, {0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f});
  auto accessor = executorch::extension::make_tensor_accessor<const float, 2>(*tensor);
  ASSERT_TRUE(accessor.ok());
  EXPECT_EQ((*accessor)[1][2], 5.0f);
  EXPECT_EQ(accessor->size(1), 3);
  EXPECT_EQ((executorch::extension::make_tensor_accessor<float, 1>(*tensor).error()), Error::InvalidArgument);
}

}  // namespace
