// SPDX-License-Identifier: BSD-3-Clause
// Kernels registered at run time, in static memory. Three tables, searched in this order: kernels that a
// method was given, registered kernels, the operators that the build selected. An operator is one entry of a
// linked list of tables of size one, so a registration moves nothing that a loaded method points to.
//
// A call of a registered operator selects its kernel by a text of dtypes and dim orders (the official kernel
// key), which is only written if a kernel has a key.
#include "compat/detail/registry.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <sys/mman.h>

#include "compat/detail/call.h"
#include "compat/detail/dim_order.h"
#include "compat/detail/stack.h"
#include "runtime/base/log.h"
#include "runtime/executor/arguments.h"

#ifndef MAX_KERNEL_NUM
#define MAX_KERNEL_NUM 2000
#endif

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

namespace et = executorch::ET_RUNTIME_NAMESPACE;

namespace {

// Writes the key of a call's tensors, to be compared with kernels' keys. False for more than 16 tensors,
// which no key describes; a fallback then serves the call.
bool key_of(et::Span<et::EValue*> stack, char* key) {
  et::TensorMeta metas[16];
#ifdef USE_ATEN_LIB
  std::vector<uint8_t> orders[16];
#endif
  size_t count = 0;
  const auto add = [&](const executorch::aten::Tensor& tensor) {
#ifdef USE_ATEN_LIB
    if (count < 16) orders[count] = dim_order_of(tensor);
    const auto& order = orders[std::min<size_t>(count, 15)];
#else
    const auto order = tensor.dim_order();
#endif
    if (count < 16) metas[count] = {tensor.scalar_type(), {const_cast<uint8_t*>(order.data()), order.size()}};
    ++count;
  };
  for (et::EValue* value : stack) {
    if (value->isTensor()) add(value->toTensor());
    if (!value->isTensorList()) continue;
    for (const executorch::aten::Tensor& tensor : value->toTensorList()) add(tensor);
  }
  return count <= 16 && et::internal::make_kernel_key_string(
                            {metas, count}, key, et::internal::kKernelKeyBufSize) == et::Error::Ok;
}

// The kernel with the call's key, otherwise the operator's fallback; null if it has neither.
const et::Kernel* choose(const RegisteredOperator& entry, et::Span<et::EValue*> stack) {
  const bool only_fallback =
      entry.choices->next == nullptr && entry.choices->kernel->kernel_key_.is_fallback();
  if (only_fallback) return entry.choices->kernel;
  char key[et::internal::kKernelKeyBufSize];
  const bool has_key = key_of(stack, key);
  const et::Kernel* fallback = nullptr;
  for (const Choice* choice = entry.choices; choice != nullptr; choice = choice->next) {
    const et::KernelKey& wanted = choice->kernel->kernel_key_;
    if (wanted.is_fallback()) {
      fallback = choice->kernel;
    } else if (has_key && std::strcmp(wanted.data(), key) == 0) {
      return choice->kernel;
    }
  }
  return fallback;
}

// The kernel function of registered operators: dispatches to an official kernel.
Error call_registered(KernelContext& context, EValue* const* arguments, ErasedKernel) {
  const auto& entry = *static_cast<const RegisteredOperator*>(context.kernel());
  OfficialStack values(arguments, context.num_arguments());
  const et::Span<et::EValue*> stack = values.values();
  // A build's operator of the same name serves tensors that no registered kernel accepts.
  const et::Kernel* kernel = choose(entry, stack);
  if (kernel == nullptr) {
    RL_CHECK(entry.fallback != nullptr, Error::OperatorMissing, "operator %s: no kernel for these tensors",
             entry.name);
    return entry.fallback->call(context, arguments);
  }
  TemporaryOf<KernelContext> temporary(context);
  et::KernelRuntimeContext official_context(nullptr, &temporary);
#ifdef USE_ATEN_LIB
  try {
    kernel->op_(official_context, stack);
    RL_TRY(ours(official_context.failure_state()));
    return values.finish();
  } catch (...) {
    return rushlight::aten::caught(entry.name);
  }
#else
  kernel->op_(official_context, stack);
  return ours(official_context.failure_state());
#endif
}

}  // namespace

void init_operator(RegisteredOperator* entry, const char* name, const OperatorTable* next) {
  entry->name = name;
  entry->function = &call_registered;
  entry->signature = "";
  entry->choices = nullptr;
  // `name` includes the overload, so the second part of the lookup is empty.
  entry->fallback = next == nullptr ? nullptr : next->find(name, "");
  // Programs are checked against the signature of the fallback, or of the first kernel that has one.
  if (entry->fallback != nullptr) entry->signature = entry->fallback->signature;
  entry->table = {entry, 1, next, nullptr};
}

void add_choice(RegisteredOperator* entry, Choice* choice, const et::Kernel* kernel) {
  *choice = {kernel, entry->choices};
  entry->choices = choice;
  if (*entry->signature == '\0' && kernel->signature_ != nullptr) entry->signature = kernel->signature_;
}

namespace {

bool value_has_rank_of_kernels(et::EValue& value) {
  if (value.isTensor()) return compat::has_rank_of_kernels(value.toTensor());
  if (value.isTensorList()) return compat::has_rank_of_kernels(value.toTensorList());
  return !value.isListOptionalTensor() || compat::has_rank_of_kernels(value.toListOptionalTensor());
}

}  // namespace

void refuse_rank(et::KernelRuntimeContext& context) {
  ET_LOG(Error, "a kernel's tensor: expected at most %zu dimensions, got more", et::kTensorDimensionLimit);
  context.fail(et::Error::InvalidArgument);
}

namespace {

// Official callers pass unchecked values to a kernel of the build: makes the checks that the loader makes for
// programs.
void call_selected(size_t index, et::KernelRuntimeContext& context, et::Span<et::EValue*> stack) {
  const KernelEntry& entry = selected_operators.entries[index];
#ifdef USE_ATEN_LIB
  OurStack values(stack);
  const auto arguments = values.values();
  Error error = values.error();
  if (error == Error::Ok) error = check_kinds(entry, arguments);
#else
  // Official and rushlight's values are the same objects.
  const Span<EValue* const> arguments(reinterpret_cast<EValue* const*>(stack.data()), stack.size());
  Error error = check_kinds(entry, arguments);
#endif
  for (size_t i = 0; error == Error::Ok && entry.signature[i] != '\0'; ++i) {
    if (!value_has_rank_of_kernels(*stack[i])) return refuse_rank(context);
  }
  if (error == Error::Ok) error = check_tensors(entry, arguments.data(), When::Running);
  if (error != Error::Ok) return context.fail(official(error));
  run(context, [&](KernelContext& ours) { return entry.call(ours, arguments.data()); });
#ifdef USE_ATEN_LIB
  if (context.failure_state() == et::Error::Ok) error = ours(values.finish());
  if (error != Error::Ok) context.fail(official(error));
#endif
}

// An official kernel is a plain function, so only its address can tell which entry it stands for. The number
// of entries is known at link time, so there is one instance per possible entry.
template <size_t kIndex>
void selected(et::KernelRuntimeContext& context, et::Span<et::EValue*> stack) {
  call_selected(kIndex, context, stack);
}
template <size_t... kIndices>
constexpr std::array<et::OpFunction, sizeof...(kIndices)> functions_of(std::index_sequence<kIndices...>) {
  return {&selected<kIndices>...};
}
constexpr auto kSelectedFunctions = functions_of(std::make_index_sequence<MAX_KERNEL_NUM>());

}  // namespace

et::OpFunction selected_function(size_t index) {
  const bool exists = index < selected_operators.size && index < kSelectedFunctions.size();
  return exists ? kSelectedFunctions[index] : nullptr;
}

Span<uint8_t> take_block(et::MemoryAllocator& allocator) {
  // Scratch of up to this alignment then starts at the first byte of the block.
  constexpr size_t kAlignment = 16;
  // An allocator over memory tells how much is left; others are asked for less until they agree.
  if (uint8_t* base = allocator.base_address()) {
    const size_t misaligned = reinterpret_cast<uintptr_t>(base + allocator.used_size()) % kAlignment;
    const size_t lost = misaligned == 0 ? 0 : kAlignment - misaligned;
    if (allocator.free_size() <= lost) return {};
    const size_t size = allocator.free_size() - lost;
    auto* memory = static_cast<uint8_t*>(allocator.allocate(size, kAlignment));
    return {memory, memory == nullptr ? 0 : size};
  }
  for (size_t size = size_t{16} << 20; size >= 1024; size /= 2) {
    if (void* memory = allocator.allocate(size, kAlignment)) return {static_cast<uint8_t*>(memory), size};
  }
  return {};
}

SystemMemory::SystemMemory(bool wanted) {
  // Reserves as much as the system permits, up to a size that no kernel exceeds.
  constexpr uint64_t kMost = uint64_t{1} << (sizeof(size_t) > 4 ? 32 : 28);
  for (auto size = static_cast<size_t>(kMost); wanted && memory_.empty() && size >= 4096; size /= 2) {
    void* address =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address != MAP_FAILED) memory_ = {static_cast<uint8_t*>(address), size};
  }
}

SystemMemory::~SystemMemory() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

namespace {

// All kernels, the kernels of the build first, and the operators of the others.
struct Registry {
  // Returns true if the build selected the kernel and no other has replaced it. registry() stores the build's
  // kernels first and in order, so a kernel's index is its index in selected_operators.
  [[nodiscard]] bool is_built_in(const et::Kernel* kernel) const {
    const auto index = static_cast<size_t>(kernel - kernels);
    return kernel->op_ == selected_function(index);
  }

  et::Kernel kernels[MAX_KERNEL_NUM];
  size_t num_kernels = 0;
  Choice choices[MAX_KERNEL_NUM];
  RegisteredOperator operators[MAX_KERNEL_NUM];
  size_t num_operators = 0;
  const OperatorTable* first = nullptr;  // null: the registry has not been used yet
};

// Constant-initialised: kernels register themselves during static initialisation.
Registry storage{};
std::mutex filling;

void fill(Registry& empty) {
  empty.first = &selected_operators;
  for (size_t i = 0; i < selected_operators.size && i < MAX_KERNEL_NUM; ++i) {
    const KernelEntry& entry = selected_operators.entries[i];
    // Beyond MAX_KERNEL_NUM selected kernels are not listed here; methods find them in selected_operators.
    et::Kernel kernel(entry.name, selected_function(i));
    kernel.signature_ = entry.signature;
    empty.kernels[empty.num_kernels++] = kernel;
  }
}

// The first call fills the registry, under a lock because several threads may load their first method.
Registry& registry() {
  const std::lock_guard<std::mutex> lock(filling);
  if (storage.first == nullptr) fill(storage);
  return storage;
}

// The operator of this name, created in front of the others if it is new. Linear: for registration only.
RegisteredOperator* operator_named(Registry& all, const char* name) {
  for (size_t i = 0; i < all.num_operators; ++i) {
    if (std::strcmp(all.operators[i].name, name) == 0) return &all.operators[i];
  }
  RegisteredOperator* entry = &all.operators[all.num_operators++];
  init_operator(entry, name, all.first);
  all.first = &entry->table;
  return entry;
}

// Returns the kernel with the same name and key, or null.
et::Kernel* same_kernel(Registry& all, const et::Kernel& kernel) {
  for (size_t i = 0; i < all.num_kernels; ++i) {
    et::Kernel& other = all.kernels[i];
    if (std::strcmp(other.name_, kernel.name_) == 0 && other.kernel_key_ == kernel.kernel_key_) return &other;
  }
  return nullptr;
}

// A kernel replaces the build's kernel of the same name. A second registered one is a programming error; it
// aborts, because no caller checks results during static initialisation.
void register_one(Registry& all, const et::Kernel& kernel) {
  ET_CHECK_MSG(kernel.name_ != nullptr && kernel.op_ != nullptr,
               "kernel: expected a name and a function, got null");
  et::Kernel* stored = same_kernel(all, kernel);
  ET_CHECK_MSG(stored == nullptr || all.is_built_in(stored),
               "kernel %s: already registered; link only one library with it (error %d)", kernel.name_,
               static_cast<int>(et::Error::RegistrationAlreadyRegistered));
  if (stored == nullptr) {
    ET_CHECK_MSG(all.num_kernels < MAX_KERNEL_NUM,
                 "kernel %s: expected at most %d kernels, MAX_KERNEL_NUM (error %d)", kernel.name_,
                 MAX_KERNEL_NUM, static_cast<int>(et::Error::RegistrationExceedingMaxKernels));
    stored = &all.kernels[all.num_kernels++];
  }
  *stored = kernel;
  add_choice(operator_named(all, kernel.name_), &all.choices[stored - all.kernels], stored);
}

}  // namespace

const OperatorTable& all_operators() { return *registry().first; }

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE

namespace executorch::ET_RUNTIME_NAMESPACE {

namespace {

using rushlight::compat::registry;

// Finds the kernel of `name` with exactly this key, otherwise the fallback.
Result<OpFunction> find(Span<const Kernel> kernels, const char* name, const char* key) {
  OpFunction fallback = nullptr;
  for (const Kernel& kernel : kernels) {
    if (std::strcmp(kernel.name_, name) != 0) continue;
    if (kernel.kernel_key_.is_fallback()) {
      fallback = kernel.op_;
    } else if (std::strcmp(kernel.kernel_key_.data(), key) == 0) {
      return kernel.op_;
    }
  }
  if (fallback == nullptr) return Error::OperatorMissing;
  return fallback;
}

}  // namespace

namespace internal {

Error make_kernel_key_string(Span<const TensorMeta> key, char* buf, size_t buf_size) {
  ET_CHECK_OR_RETURN_ERROR(buf_size > 0, InvalidArgument,
                           "kernel key: expected a buffer of 1 byte or more, got none");
  buf[0] = '\0';
  size_t used = 0;
  bool fits = true;
  // Appends text and number; `fits` becomes false for the rest once one does not fit.
  const auto append = [&](const char* before, int number) {
    const int length = snprintf(buf + used, buf_size - used, "%s%d", before, number);
    fits = fits && length > 0 && static_cast<size_t>(length) < buf_size - used;
    if (fits) used += static_cast<size_t>(length);
  };
  for (size_t i = 0; i < key.size(); ++i) {
    const auto dtype = static_cast<int>(key[i].dtype_);
    ET_CHECK_OR_RETURN_ERROR(dtype >= 0, InvalidArgument, "kernel key: unknown dtype %d", dtype);
    append(i == 0 ? "v1/" : "|", dtype);
    for (size_t d = 0; d < key[i].dim_order_.size(); ++d) append(d == 0 ? ";" : ",", key[i].dim_order_[d]);
    // A tensor of rank 0 has an empty dim order: "v1/6;".
    if (key[i].dim_order_.empty())
      fits = fits && used + 1 < buf_size && (buf[used++] = ';', buf[used] = '\0', true);
  }
  ET_CHECK_OR_RETURN_ERROR(fits, InvalidArgument, "kernel key: expected at most %zu bytes, got more",
                           buf_size);
  return Error::Ok;
}

}  // namespace internal

Span<const Kernel> get_registered_kernels() { return {registry().kernels, registry().num_kernels}; }

Error register_kernels(const Span<const Kernel> kernels) {
  for (const Kernel& kernel : kernels) rushlight::compat::register_one(registry(), kernel);
  return Error::Ok;
}

Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list,
                                                 Span<const Kernel> kernel_list) {
  char key[internal::kKernelKeyBufSize];
  ET_CHECK_OK_OR_RETURN_ERROR(internal::make_kernel_key_string(meta_list, key, sizeof key));
  auto own = find(kernel_list, name, key);
  if (own.ok()) return *own;
  auto registered = find(get_registered_kernels(), name, key);
  ET_CHECK_OR_RETURN_ERROR(registered.ok(), OperatorMissing, "operator %s: no kernel for tensors '%s'", name,
                           key);
  return *registered;
}

Result<OpFunction> get_op_function_from_registry(const char* name, Span<const TensorMeta> meta_list) {
  return get_op_function_from_registry(name, meta_list, {});
}

bool registry_has_op_function(const char* name, Span<const TensorMeta> meta_list) {
  return get_op_function_from_registry(name, meta_list).ok();
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
