// SPDX-License-Identifier: BSD-3-Clause
// The parts of official runners beside programs: loaders, allocators, threads, bundles, inputs.
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <executorch/devtools/bundled_program/bundled_program.h>
#include <executorch/devtools/etdump/etdump_filter.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/file_descriptor_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/memory_allocator/cpu_caching_malloc_allocator.h>
#include <executorch/extension/module/bundled_module.h>
#include <executorch/extension/runner_util/inputs.h>
#include <executorch/extension/threadpool/cpuinfo_utils.h>
#include <executorch/extension/threadpool/threadpool.h>
#include <executorch/extension/threadpool/threadpool_guard.h>
#include <executorch/runtime/core/version.h>
#include <executorch/schema/extended_header.h>
#include <fcntl.h>
#include <gtest/gtest.h>

namespace executorch::runtime::testing {
// A friend of TensorInfo's, for tests.
class TensorInfoTestFriend {
 public:
  static Result<TensorInfo> create(Span<const int32_t> sizes, Span<const uint8_t> order,
                                   executorch::aten::ScalarType type) {
    return TensorInfo::create(sizes, order, type, true, "name");
  }
};
}  // namespace executorch::runtime::testing

namespace {

using executorch::aten::ScalarType;
using executorch::extension::BundledModule;
using executorch::extension::CPUCachingAllocator;
using executorch::extension::FileDataLoader;
using executorch::extension::FileDescriptorDataLoader;
using executorch::extension::MmapDataLoader;
using executorch::runtime::DataLoader;
using executorch::runtime::Error;
using executorch::runtime::ExtendedHeader;

std::string file(const char* name) { return std::string(RUSHLIGHT_TEST_PROGRAMS "/") + name; }

std::vector<uint8_t> bytes_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

const DataLoader::SegmentInfo kInfo(DataLoader::SegmentInfo::Type::Program);

// Moves a loader away and asks both what they have.
template <class Loader>
void expect_moved(Loader loader) {
  const size_t size = loader.size().get();
  EXPECT_GT(size, 0u);
  Loader moved(std::move(loader));
  EXPECT_EQ(loader.size().error(), Error::InvalidState);
  EXPECT_EQ(loader.load(0, 0, kInfo).error(), Error::InvalidState);
  EXPECT_EQ(loader.load(0, 4, kInfo).error(), Error::InvalidState);
  uint8_t buffer[4];
  EXPECT_EQ(loader.load_into(0, 4, kInfo, buffer), Error::InvalidState);
  EXPECT_EQ(moved.size().get(), size);
  EXPECT_EQ(moved.load(0, 4, kInfo)->size(), 4u);
  EXPECT_EQ(moved.load_into(0, 4, kInfo, buffer), Error::Ok);
}

TEST(DataLoader, MovedFrom_FailsClearly) {
  const std::string path = file("multi_method/model.pte");
  auto from_file = FileDataLoader::from(path.c_str());
  ASSERT_TRUE(from_file.ok());
  expect_moved(std::move(*from_file));
  auto mapped = MmapDataLoader::from(path.c_str(), MmapDataLoader::MlockConfig::NoMlock);
  ASSERT_TRUE(mapped.ok());
  expect_moved(std::move(*mapped));
  EXPECT_EQ(mapped->check(), Error::InvalidState);
  const std::string uri = "fd:///" + std::to_string(::open(path.c_str(), O_RDONLY));
  auto from_descriptor = FileDescriptorDataLoader::fromFileDescriptorUri(uri.c_str());
  ASSERT_TRUE(from_descriptor.ok());
  expect_moved(std::move(*from_descriptor));
}

TEST(FileDescriptorDataLoader, OfBadText_IsRefused) {
  for (const char* text : {"7", "fd:/7", "fd:///", "fd:///x", "fd:///7x", "fd:///-1", "fd:///99999999999"}) {
    EXPECT_EQ(FileDescriptorDataLoader::fromFileDescriptorUri(text).error(), Error::InvalidArgument) << text;
  }
  EXPECT_EQ(FileDescriptorDataLoader::fromFileDescriptorUri("fd:///0", 3).error(), Error::InvalidArgument);
  EXPECT_EQ(FileDescriptorDataLoader::fromFileDescriptorUri("fd:///9999").error(), Error::AccessFailed);
}

// Inside of a bundle a program begins at a multiple of 4. At an odd address it is refused, as officially.
TEST(Program, InMemory_LoadsAtAMultipleOfFour) {
  const auto bytes = bytes_of(file("multi_method/model.pte"));
  for (const size_t shift : {0, 4, 8, 1, 2}) {
    std::vector<uint8_t> shifted(bytes.size() + shift);
    std::copy(bytes.begin(), bytes.end(), shifted.data() + shift);
    executorch::extension::BufferDataLoader loader(shifted.data() + shift, bytes.size());
    EXPECT_EQ(executorch::runtime::Program::load(&loader).ok(), shift % 4 == 0) << shift;
  }
}

TEST(TensorInfo, OfSizes_CountsItsBytes) {
  using Friend = executorch::runtime::testing::TensorInfoTestFriend;
  const int32_t sizes[] = {2, 3};
  const uint8_t order[] = {0, 1};
  auto info = Friend::create(sizes, order, ScalarType::Float);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->nbytes(), 24u);
  EXPECT_EQ(info->name(), "name");
  EXPECT_TRUE(info->is_memory_planned());
  const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX};
  const uint8_t huge_order[] = {0, 1, 2};
  EXPECT_EQ(Friend::create(huge, huge_order, ScalarType::Float).error(), Error::InvalidArgument);
  const int32_t negative[] = {2, -1};
  EXPECT_EQ(Friend::create(negative, order, ScalarType::Float).error(), Error::InvalidArgument);
  EXPECT_EQ(Friend::create(sizes, order, ScalarType::Undefined).error(), Error::InvalidArgument);
}

TEST(BundledModule, OfABundle_RunsAndVerifiesItsCases) {
  auto module = BundledModule::from_file(file("bundled/model.bpte"));
  ASSERT_TRUE(module.ok());
  auto outputs = (*module)->execute("forward", 0);
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ((*module)->verify_method_outputs("forward", 0, 1e-3, 1e-5), Error::Ok);
  EXPECT_EQ((*module)->execute("forward", 1000).error(), Error::InvalidArgument);
  EXPECT_EQ((*module)->execute("absent", 0).error(), Error::InvalidArgument);
  EXPECT_EQ((*module)->verify_method_outputs("absent", 0), Error::InvalidArgument);
  EXPECT_EQ((*module)->verify_method_outputs("forward", 1000), Error::InvalidArgument);
  // An output that is another one is found.
  auto tensor = outputs->at(0).toTensor();
  *tensor.mutable_data_ptr<float>() += 1;
  EXPECT_EQ((*module)->verify_method_outputs("forward", 0, 1e-3, 1e-5), Error::InvalidArgument);
}

TEST(BundledModule, OfNoBundle_SaysSo) {
  EXPECT_EQ(BundledModule::from_file("/nowhere/model.bpte").error(), Error::AccessFailed);
  auto module = BundledModule::from_file(file("multi_method/model.pte"));
  ASSERT_TRUE(module.ok());
  EXPECT_EQ((*module)->execute("encode", 0).error(), Error::InvalidArgument);
  EXPECT_FALSE((*module)->is_loaded());
}

TEST(BundledProgram, InMemory_IsTakenApart) {
  auto bytes = bytes_of(file("bundled/model.bpte"));
  EXPECT_TRUE(executorch::bundled_program::is_bundled_program(bytes.data(), bytes.size()));
  const void* program = nullptr;
  size_t size = 0;
  ASSERT_EQ(executorch::bundled_program::get_program_data(bytes.data(), bytes.size(), &program, &size),
            Error::Ok);
  EXPECT_EQ(executorch::runtime::Program::check_header(program, size),
            executorch::runtime::Program::CompatibleVersion);
  auto plain = bytes_of(file("multi_method/model.pte"));
  EXPECT_FALSE(executorch::bundled_program::is_bundled_program(plain.data(), plain.size()));
  ASSERT_EQ(executorch::bundled_program::get_program_data(plain.data(), plain.size(), &program, &size),
            Error::Ok);
  EXPECT_EQ(program, plain.data());
  std::vector<uint8_t> zeros(64);
  EXPECT_NE(executorch::bundled_program::get_program_data(zeros.data(), zeros.size(), &program, &size),
            Error::Ok);
}

// The method itself, which the official class gives out by a deprecated function.
auto loaded(executorch::extension::Module& module, const char* name) {
  EXPECT_EQ(module.load_method(name), Error::Ok);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return module.method(name);
#pragma GCC diagnostic pop
}

TEST(PrepareInputTensors, OfAMethod_SetsOnes) {
  executorch::extension::Module module(file("multi_method/model.pte"));
  auto method = loaded(module, "encode");
  ASSERT_TRUE(method.ok());
  executorch::extension::PrepareInputTensorsOptions options;
  options.max_inputs = 0;
  EXPECT_NE(executorch::extension::prepare_input_tensors(**method, options).error(), Error::Ok);
  options = {};
  options.max_total_allocation_size = 1;
  EXPECT_NE(executorch::extension::prepare_input_tensors(**method, options).error(), Error::Ok);
  auto buffers = executorch::extension::prepare_input_tensors(**method);
  ASSERT_TRUE(buffers.ok());
  ASSERT_EQ((*method)->execute(), Error::Ok);
  const auto output = [&] {
    const auto& tensor = (*method)->get_output(0).toTensor();
    const auto* data = tensor.const_data_ptr<float>();
    return std::vector<float>(data, data + tensor.numel());
  };
  const std::vector<float> from_ones = output();
  std::vector<float> zeros(8);
  auto given = executorch::extension::prepare_input_tensors(
      **method, {}, {{reinterpret_cast<char*>(zeros.data()), zeros.size() * sizeof(float)}});
  ASSERT_TRUE(given.ok());
  ASSERT_EQ((*method)->execute(), Error::Ok);
  EXPECT_NE(output(), from_ones);
  EXPECT_EQ(executorch::extension::prepare_input_tensors(**method, {}, {{nullptr, 3}}).error(),
            Error::InvalidArgument);
}

TEST(Method, MovedFrom_IsRefusedByFunctionsThatTakeIt) {
  executorch::extension::Module module(file("multi_method/model.pte"));
  auto method = loaded(module, "encode");
  ASSERT_TRUE(method.ok());
  const executorch::runtime::Method moved(std::move(**method));
  EXPECT_EQ(executorch::extension::prepare_input_tensors(**method).error(), Error::InvalidState);
  namespace bundled = executorch::bundled_program;
  auto bytes = bytes_of(file("multi_method/model.pte"));
  EXPECT_EQ(bundled::load_bundled_input(**method, bytes.data(), 0), Error::InvalidState);
  EXPECT_EQ(bundled::verify_method_outputs(**method, bytes.data(), 0), Error::InvalidState);
  EXPECT_EQ(bundled::compute_method_output_error_stats(**method, bytes.data(), 0).status,
            Error::InvalidState);
}

TEST(CPUCachingAllocator, AfterAReset_HandsTheSameMemoryOut) {
  CPUCachingAllocator allocator(1 << 20);
  void* first = allocator.allocate(100);
  void* second = allocator.allocate(100);
  EXPECT_NE(first, second);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(allocator.allocate(16, 3), nullptr);
  allocator.reset();
  void* third = allocator.allocate(100);
  EXPECT_TRUE(third == first || third == second);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(allocator.allocate(100, 512)) % 512, 0u);
}

TEST(CPUCachingAllocator, BeyondItsLimit_GivesMemoryBack) {
  CPUCachingAllocator allocator(1024);
  for (int i = 0; i < 4; ++i) std::memset(allocator.allocate(1000), i, 1000);
  allocator.reset();
  std::thread other([&] { std::memset(allocator.allocate(1000), 1, 1000); });
  std::memset(allocator.allocate(1000), 2, 1000);
  other.join();
}

TEST(ThreadPool, OverARange_CallsEachOnce) {
  namespace threadpool = executorch::extension::threadpool;
  threadpool::ThreadPool pool(3);
  EXPECT_EQ(pool.get_thread_count(), 3u);
  std::vector<int> visits(100);
  pool.run([&](size_t i) { ++visits[i]; }, visits.size());
  EXPECT_EQ(visits, std::vector<int>(100, 1));
  {
    const threadpool::NoThreadPoolGuard guard;
    const auto here = std::this_thread::get_id();
    pool.run([&](size_t) { EXPECT_EQ(std::this_thread::get_id(), here); }, 10);
  }
  EXPECT_GE(threadpool::get_threadpool()->get_thread_count(), 1u);
  EXPECT_EQ(threadpool::get_pthreadpool(), nullptr);
  EXPECT_GE(executorch::extension::cpuinfo::get_num_performant_cores(), 1u);
}

TEST(ExtendedHeader, OfAProgram_NamesItsParts) {
  auto bytes = bytes_of(file("multi_method/model.pte"));
  auto header = ExtendedHeader::Parse(bytes.data(), bytes.size());
  ASSERT_TRUE(header.ok());
  EXPECT_GT(header->program_size, 64u);
  EXPECT_LE(header->program_size, bytes.size());
  EXPECT_EQ(ExtendedHeader::Parse(bytes.data(), 63).error(), Error::InvalidArgument);
  // Any address will do, as for the official parser.
  std::vector<uint8_t> shifted(bytes.size() + 1);
  std::copy(bytes.begin(), bytes.end(), shifted.begin() + 1);
  auto same = ExtendedHeader::Parse(shifted.data() + 1, bytes.size());
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->program_size, header->program_size);
  EXPECT_EQ(same->segment_base_offset, header->segment_base_offset);
  bytes[12] = 8;  // its length
  EXPECT_EQ(ExtendedHeader::Parse(bytes.data(), bytes.size()).error(), Error::InvalidProgram);
  bytes[8] = 'x';
  EXPECT_EQ(ExtendedHeader::Parse(bytes.data(), bytes.size()).error(), Error::NotFound);
}

TEST(Version, OfTheApi_IsNamed) {
  EXPECT_STREQ(ET_VERSION, "1.5.1");
  static_assert(ET_VERSION_CODE == ET_VERSION_CHECK(1, 5, 1));
  static_assert(ET_VERSION_CODE > ET_VERSION_CHECK(1, 4, 255));
}

TEST(ETDumpFilter, ByNameAndNumber_Chooses) {
  constexpr auto kNone = executorch::runtime::kUnsetDelegateDebugIntId;
  executorch::etdump::ETDumpFilter filter;
  EXPECT_TRUE(filter.filter("anything", kNone).get());
  EXPECT_TRUE(filter.filter(nullptr, 7).get());
  EXPECT_TRUE(filter.add_regex("event.*").ok());
  EXPECT_TRUE(filter.add_regex("a|b").ok());
  EXPECT_EQ(filter.get_n_regex(), 2u);
  EXPECT_TRUE(filter.filter("event_1", kNone).get());
  EXPECT_FALSE(filter.filter("an event_1", kNone).get());
  EXPECT_TRUE(filter.filter("b", kNone).get());
  EXPECT_FALSE(filter.filter("ab", kNone).get());
  EXPECT_EQ(filter.add_regex("(").error(), Error::InvalidArgument);
  EXPECT_EQ(filter.set_debug_handle_range(20, 10).error(), Error::InvalidArgument);
  EXPECT_TRUE(filter.set_debug_handle_range(10, 20).ok());
  EXPECT_TRUE(filter.filter(nullptr, 10).get());
  EXPECT_FALSE(filter.filter(nullptr, 20).get());
  EXPECT_EQ(filter.filter("a", 10).error(), Error::InvalidArgument);
  while (filter.get_n_regex() < filter.MAX_REGEX_PATTERNS) ASSERT_TRUE(filter.add_regex("x").ok());
  EXPECT_EQ(filter.add_regex("x").error(), Error::OutOfResources);
}

}  // namespace
