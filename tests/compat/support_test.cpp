// SPDX-License-Identifier: BSD-3-Clause
// Boxed functions, data maps, layouts, tracing and profiling through the official headers.
#define PROFILING_ENABLED  // before any header that includes the profiler's
#include <map>
#include <string>

#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/named_data_map/merged_data_map.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/tensor_layout.h>
#include <executorch/runtime/executor/merged_data_map.h>
#include <executorch/runtime/platform/profiler.h>
#include <gtest/gtest.h>

namespace {

using executorch::aten::ArrayRef;
using executorch::aten::Device;
using executorch::aten::Layout;
using executorch::aten::MemoryFormat;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::make_boxed_kernel;
using executorch::extension::make_tensor_ptr;
using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::NamedDataMap;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::TensorLayout;

// --- types of functions

namespace meta = executorch::extension::kernel_util_internal;
using Three = meta::typelist<int, const Tensor&, bool>;
static_assert(meta::size<Three>::value == 3 && meta::size<meta::typelist<>>::value == 0);
static_assert(std::is_same_v<meta::element_t<1, Three>, const Tensor&>);
static_assert(std::is_same_v<meta::head_with_default_t<void, Three>, int>);
static_assert(std::is_same_v<meta::head_with_default_t<void, meta::typelist<>>, void>);
static_assert(std::is_same_v<meta::drop_if_nonempty_t<Three, 2>, meta::typelist<bool>>);
static_assert(std::is_same_v<meta::drop_if_nonempty_t<Three, 4>, meta::typelist<>>);
static_assert(meta::is_instantiation_of<meta::typelist, Three>::value);
static_assert(!meta::is_instantiation_of<meta::typelist, int>::value);
struct Callable {
  double operator()(int, bool) const { return 0; }
};
static_assert(
    std::is_same_v<meta::infer_function_traits_t<Callable>::parameter_types, meta::typelist<int, bool>>);
static_assert(std::is_same_v<meta::infer_function_traits_t<double (*)(int)>::return_type, double>);
static_assert(std::is_same_v<meta::infer_function_traits_t<double(int)>::func_type, double(int)>);
static_assert(meta::function_traits<void(int, int)>::number_of_parameters == 2);

// --- boxed functions

std::string seen;

Tensor& everything(KernelRuntimeContext&, const Tensor& in, int64_t i, double d, bool b, Scalar s,
                   std::string_view text, ScalarType type, std::optional<int64_t> none,
                   std::optional<double> some, std::optional<Tensor> tensor, ArrayRef<int64_t> list,
                   Tensor& out) {
  seen = std::to_string(i) + (b ? " true " : " false ") + std::string(text) + " " +
         std::to_string(static_cast<int>(type)) + (none.has_value() ? " some" : " none") +
         (tensor.has_value() ? " tensor " : " no tensor ") + std::to_string(list.size());
  out.mutable_data_ptr<float>()[0] =
      in.const_data_ptr<float>()[0] + static_cast<float>(d + *some) + static_cast<float>(s.to<int64_t>());
  return out;
}
void without_context(const Tensor& in, Tensor& out) {
  out.mutable_data_ptr<float>()[0] = -in.const_data_ptr<float>()[0];
}

constexpr char kEverything[] = "rl::everything.out";
constexpr char kWithoutContext[] = "rl::without_context.out";

TEST(BoxedKernel, OfEveryKindOfArgument_ReadsThemFromTheStack) {
  const auto kernel = make_boxed_kernel(kEverything, EXECUTORCH_FN(everything, kEverything));
  EXPECT_STREQ(kernel.name_, kEverything);
  EXPECT_STREQ(kernel.signature_, "tidbsziIDTnw");
  auto in = make_tensor_ptr({1.0f});
  auto out = make_tensor_ptr({0.0f});
  ArrayRef<char> text("abc", 3);
  EValue one(int64_t{1}), two(int64_t{2});
  EValue* wrapped[] = {&one, &two};
  int64_t unwrapped[2];
  executorch::runtime::BoxedEvalueList<int64_t> list(wrapped, unwrapped, 2);
  EValue values[] = {*in,        int64_t{7}, 0.5,  true,     Scalar(2), EValue(&text),
                     int64_t{6}, EValue(),   0.25, EValue(), &list,     *out};
  EValue* stack[12];
  for (int i = 0; i < 12; ++i) stack[i] = &values[i];
  KernelRuntimeContext context;
  kernel.op_(context, Span<EValue*>(stack, 12));
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(seen, "7 true abc 6 none no tensor 2");
  EXPECT_EQ(out->const_data_ptr<float>()[0], 3.75f);
}

Tensor& of_enumerators(const Tensor&, ScalarType type, MemoryFormat format, Layout layout, Device device,
                       std::optional<ScalarType> perhaps, Tensor& out) {
  seen = std::to_string(static_cast<int>(type)) + std::to_string(static_cast<int>(format)) +
         std::to_string(static_cast<int>(layout)) + std::to_string(static_cast<int>(device.type())) +
         std::to_string(static_cast<int>(*perhaps));
  return out;
}
constexpr char kOfEnumerators[] = "rl::of_enumerators.out";

// The loader accepts a bool for each of them, as for an int64_t.
TEST(BoxedKernel, OfABoolForAnEnumerator_ReadsItAsAnInteger) {
  const auto kernel = make_boxed_kernel(kOfEnumerators, EXECUTORCH_FN(of_enumerators, kOfEnumerators));
  EXPECT_STREQ(kernel.signature_, "tiiiiIw");
  auto tensor = make_tensor_ptr({1.0f});
  EValue values[] = {*tensor, true, false, true, true, false, *tensor};
  EValue* stack[7];
  for (int i = 0; i < 7; ++i) stack[i] = &values[i];
  KernelRuntimeContext context;
  kernel.op_(context, Span<EValue*>(stack, 7));
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_EQ(seen, "10110");
}

TEST(BoxedKernel, OfTooFewValues_FailsTheContext) {
  const auto kernel = make_boxed_kernel(kWithoutContext, EXECUTORCH_FN(without_context, kWithoutContext));
  EValue value(*make_tensor_ptr({1.0f}));
  EValue* stack[] = {&value, &value};
  KernelRuntimeContext few, enough;
  kernel.op_(few, Span<EValue*>(stack, 1));
  EXPECT_EQ(few.failure_state(), Error::InvalidArgument);
  auto out = make_tensor_ptr({0.0f});
  EValue result(*out);
  stack[1] = &result;
  kernel.op_(enough, Span<EValue*>(stack, 2));
  EXPECT_EQ(enough.failure_state(), Error::Ok);
}

// --- data maps

class FewKeys final : public NamedDataMap {
 public:
  FewKeys(std::vector<std::string> keys, Error absent = Error::NotFound)
      : keys_(std::move(keys)), absent_(absent) {}
  Result<const TensorLayout> get_tensor_layout(std::string_view key) const override {
    static const int32_t size = 1;
    static const uint8_t order = 0;
    if (!has(key)) return absent_;
    return TensorLayout::create({&size, 1}, {&order, 1}, ScalarType::Byte);
  }
  Result<FreeableBuffer> get_data(std::string_view key) const override {
    if (!has(key)) return Error::NotFound;
    return FreeableBuffer(keys_[0].c_str(), 1, nullptr);
  }
  Error load_data_into(std::string_view key, void* buffer, size_t) const override {
    if (!has(key)) return Error::NotFound;
    return *static_cast<char*>(buffer) = keys_[0][0], Error::Ok;
  }
  Result<uint32_t> get_num_keys() const override { return static_cast<uint32_t>(keys_.size()); }
  Result<const char*> get_key(uint32_t index) const override {
    if (index >= keys_.size()) return Error::InvalidArgument;
    return keys_[index].c_str();
  }

 private:
  bool has(std::string_view key) const {
    for (const auto& each : keys_) {
      if (each == key) return true;
    }
    return false;
  }
  std::vector<std::string> keys_;
  Error absent_;
};

template <class Map>
void expect_all_keys(const Map& merged, Error loading) {
  std::map<std::string, char> found;
  for (uint32_t i = 0; i < merged.get_num_keys().get(); ++i) {
    const char* key = merged.get_key(i).get();
    const char held = *static_cast<const char*>(merged.get_data(key)->data());
    char loaded = 0;
    EXPECT_EQ(merged.load_data_into(key, &loaded, 1), loading);
    EXPECT_EQ(loaded, loading == Error::Ok ? held : 0);
    EXPECT_EQ(merged.get_tensor_layout(key)->nbytes(), 1u);
    found[key] = held;
  }
  EXPECT_EQ(found, (std::map<std::string, char>{{"a", 'a'}, {"b", 'a'}, {"c", 'c'}}));
  EXPECT_EQ(merged.get_data("z").error(), Error::NotFound);
  EXPECT_EQ(merged.get_tensor_layout("z").error(), Error::NotFound);
  EXPECT_NE(merged.get_key(3).error(), Error::Ok);
}

TEST(MergedDataMap, OfMapsWithoutACommonKey_HasAllKeys) {
  const FewKeys first({"a", "b"}), second({"c"}), shared({"b", "d"});
  auto two = executorch::runtime::internal::MergedDataMap::load(&first, &second);
  ASSERT_TRUE(two.ok());
  expect_all_keys(*two, Error::NotImplemented);  // as there
  const NamedDataMap* maps[] = {&first, nullptr, &second};
  using executorch::extension::merged_data_map::MergedDataMap;
  auto many = MergedDataMap::load({maps, 3});
  ASSERT_TRUE(many.ok());
  expect_all_keys(*many, Error::Ok);
}

TEST(MergedDataMap, OfACommonKeyOrNoMap_IsRefused) {
  using Two = executorch::runtime::internal::MergedDataMap;
  using Many = executorch::extension::merged_data_map::MergedDataMap;
  const FewKeys first({"a", "b"}), shared({"b", "d"}), silent({"z"}, Error::NotImplemented),
      broken({"z"}, Error::Internal);
  EXPECT_EQ(Two::load(&first, &shared).error(), Error::InvalidArgument);
  EXPECT_EQ(Two::load(&first, nullptr).error(), Error::InvalidArgument);
  EXPECT_EQ(Two::load(nullptr, &first).error(), Error::InvalidArgument);
  EXPECT_TRUE(Two::load(&first, &silent).ok());
  EXPECT_EQ(Two::load(&first, &broken).error(), Error::InvalidArgument);
  const NamedDataMap* maps[] = {&first, &shared};
  EXPECT_EQ(Many::load({maps, 2}).error(), Error::InvalidArgument);
  EXPECT_EQ(Many::load({maps, size_t{0}}).error(), Error::InvalidArgument);
}

TEST(TensorLayout, OfSizesOrderAndDtype_DescribesThemOrRefuses) {
  const int32_t sizes[] = {2, 3};
  const int32_t negative[] = {2, -3};
  const int32_t huge[] = {INT32_MAX, INT32_MAX, INT32_MAX};
  const uint8_t order[] = {1, 0, 2};
  const auto layout = TensorLayout::create({sizes, 2}, {order, 2}, ScalarType::Short);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->nbytes(), 12u);
  EXPECT_EQ(layout->sizes().data(), sizes);
  EXPECT_EQ(layout->sizes().size(), 2u);
  EXPECT_EQ(layout->dim_order()[0], 1);
  EXPECT_EQ(layout->scalar_type(), ScalarType::Short);
  EXPECT_EQ(TensorLayout::create({sizes, 2}, {order, 3}, ScalarType::Byte).error(), Error::InvalidArgument);
  EXPECT_EQ(TensorLayout::create({negative, 2}, {order, 2}, ScalarType::Byte).error(),
            Error::InvalidArgument);
  EXPECT_EQ(TensorLayout::create({huge, 3}, {order, 3}, ScalarType::Long).error(), Error::InvalidArgument);
  EXPECT_EQ(TensorLayout::create({sizes, 2}, {order, 2}, ScalarType::Undefined).error(),
            Error::InvalidArgument);
}

// --- modules

std::string file(const char* name) { return std::string(RUSHLIGHT_TEST_PROGRAMS "/") + name; }

TEST(Module, WithUnsetInputs_IsRefusedUntilTheyAreSet) {
  Module module(file("dynamic_mlp/model.pte"));
  const auto meta = module.method_meta("forward");
  ASSERT_TRUE(meta.ok());
  ASSERT_GT(meta->num_inputs(), 0u);
  EXPECT_EQ(module.forward().error(), Error::InvalidArgument);
  for (size_t i = 0; i < meta->num_inputs(); ++i) {
    EXPECT_EQ(module.forward().error(), Error::InvalidArgument);
    const auto info = meta->input_tensor_meta(i);
    ASSERT_TRUE(info.ok());
    const std::vector<int32_t> sizes(info->sizes().begin(), info->sizes().end());
    EXPECT_EQ(module.set_input(executorch::extension::ones(sizes, info->scalar_type()), i), Error::Ok);
  }
  EXPECT_TRUE(module.forward().ok());
  // A method that is loaded again has no inputs again.
  EXPECT_TRUE(module.unload_forward());
  EXPECT_EQ(module.forward().error(), Error::InvalidArgument);
}

TEST(Module, LoadedStepByStep_KnowsWhatIsLoaded) {
  Module module(file("dynamic_mlp/model.pte"));
  EXPECT_FALSE(module.is_loaded());
  EXPECT_FALSE(module.is_method_loaded("forward"));
  EXPECT_EQ(module.load(), Error::Ok);
  EXPECT_TRUE(module.is_loaded());
  EXPECT_EQ(module.load_forward(), Error::Ok);
  EXPECT_TRUE(module.is_method_loaded("forward"));
  EXPECT_EQ(module.load_method("nowhere"), Error::InvalidArgument);
  EXPECT_EQ(module.get("nowhere").error(), Error::InvalidArgument);
  EXPECT_EQ(module.method_names()->size(), module.num_methods().get());
  EXPECT_FALSE(module.unload_method("nowhere"));
  Module again(module.program());
  EXPECT_TRUE(again.is_loaded());
  EXPECT_EQ(again.load_forward(), Error::Ok);
}

// --- profiling

TEST(Profiler, Macros_RecordEventsScopesAndAllocations) {
  using namespace executorch::runtime;
  profiler_init();
  EXECUTORCH_RESET_PROFILE_RESULTS()
  EXECUTORCH_PROFILE_CREATE_BLOCK("block")
  const uint32_t token = EXECUTORCH_BEGIN_PROF("outer") {
    EXECUTORCH_PROFILE_INSTRUCTION_SCOPE(2, 5)
    EXECUTORCH_SCOPE_PROF("inner")
    EXPECT_EQ(get_profile_tls_state().chain_idx, 2);
    EXPECT_EQ(get_profile_tls_state().instruction_idx, 5u);
  }
  EXPECT_EQ(get_profile_tls_state().chain_idx, -1);
  EXECUTORCH_END_PROF(token)
  const auto allocator = EXECUTORCH_TRACK_ALLOCATOR("arena");
  EXECUTORCH_TRACK_ALLOCATION(static_cast<int32_t>(allocator), 96);
  prof_result_t result = {};
  EXECUTORCH_DUMP_PROFILE_RESULTS(&result)
  ASSERT_EQ(result.num_blocks, 1u);
  ASSERT_EQ(result.num_bytes, prof_buf_size);
  const auto& header = *reinterpret_cast<const prof_header_t*>(result.prof_data + prof_header_offset);
  EXPECT_STREQ(header.name, "block");
  EXPECT_EQ(header.prof_entries, 2u);
  EXPECT_EQ(header.allocator_entries, 1u);
  EXPECT_EQ(header.mem_prof_entries, 1u);
  const auto* events = reinterpret_cast<const prof_event_t*>(result.prof_data + prof_events_offset);
  EXPECT_EQ(events[1].chain_idx, 2);
  EXPECT_GE(events[0].end_time, events[1].start_time);
  const auto* sizes =
      reinterpret_cast<const mem_prof_event_t*>(result.prof_data + prof_mem_alloc_events_offset);
  EXPECT_EQ(sizes->allocation_size, 96u);
}

TEST(Profiler, BlockWithAllocators_IsNotRenamed) {
  using namespace executorch::runtime;
  profiler_init();
  const uint32_t id = track_allocator("arena");
  profiling_create_block("second");
  track_allocation(static_cast<int32_t>(id), 96);
  prof_result_t result = {};
  dump_profile_stats(&result);
  EXPECT_EQ(result.num_blocks, 2u);
  const auto& first = *reinterpret_cast<const prof_header_t*>(result.prof_data);
  EXPECT_STREQ(first.name, "default");
  EXPECT_EQ(first.allocator_entries, 1u);
  profiler_init();
}

// --- checks of kernels

Tensor& checked_out(KernelRuntimeContext& context, bool good, Tensor& out) {
  if (!good)
    ET_KERNEL_CHECK_MSG(context, out.numel() == 2, InvalidType, out, "%zd elements", out.numel());
  else
    ET_KERNEL_CHECK(context, out.numel() == 1, InvalidArgument, out);
  out.mutable_data_ptr<float>()[0] = 1;
  return out;
}

TEST(KernelCheck, ThatFails_FailsTheContextAndReturns) {
  KernelRuntimeContext good, bad;
  auto out = make_tensor_ptr({0.0f});
  checked_out(bad, false, *out);
  EXPECT_EQ(bad.failure_state(), Error::InvalidType);
  EXPECT_EQ(out->const_data_ptr<float>()[0], 0);
  checked_out(good, true, *out);
  EXPECT_EQ(good.failure_state(), Error::Ok);
  EXPECT_EQ(out->const_data_ptr<float>()[0], 1);
}

}  // namespace
