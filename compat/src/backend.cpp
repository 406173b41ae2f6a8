// SPDX-License-Identifier: BSD-3-Clause
// Official backends: their registry, and the adapter by which rushlight's methods call them.
#include <cstring>
#include <new>

#include "compat/detail/method_state.h"
#include "compat/detail/stack.h"
#include "compat/detail/temporary.h"

namespace rushlight::compat RUSHLIGHT_TENSOR_MODE {

namespace {

constexpr size_t kMaxBackends = 16;

et::Backend backends[kMaxBackends];
size_t num_backends = 0;

// A delegate of one method: the backend's handle, and the payload as an official buffer.
struct Delegate {
  explicit Delegate(FreeableBuffer* processed)
      : processed(
            processed->data(), processed->size(),
            [](void* context, void*, size_t) { static_cast<FreeableBuffer*>(context)->free(); }, processed) {}

  et::FreeableBuffer processed;
  et::DelegateHandle* handle = nullptr;
};

// Linear: at most kMaxBackends.
const et::Backend* find(const char* name) {
  for (size_t i = 0; i < num_backends; ++i) {
    if (std::strcmp(backends[i].name, name) == 0) return &backends[i];
  }
  return nullptr;
}

// Not locked: backends register before threads load methods, usually during static initialisation.
et::Error add(const et::Backend& backend) {
  ET_CHECK_OR_RETURN_ERROR(backend.name != nullptr && backend.backend != nullptr, InvalidArgument,
                           "backend: expected a name and an object, got null");
  ET_CHECK_OR_RETURN_ERROR(find(backend.name) == nullptr, InvalidArgument, "backend %s: already registered",
                           backend.name);
  ET_CHECK_OR_RETURN_ERROR(num_backends < kMaxBackends, Internal, "backend %s: expected at most %zu backends",
                           backend.name, kMaxBackends);
  backends[num_backends++] = backend;
  return et::Error::Ok;
}

}  // namespace

et::Span<const et::Backend> registered_backends() { return {backends, num_backends}; }

Result<DelegateHandle*> OurBackend::init(BackendInitContext& context, FreeableBuffer* processed,
                                         Span<const CompileSpec> specs) const {
  // Keys and values stay in the program; only the array is new, and it lives until init() returns.
  std::vector<et::CompileSpec> official_specs;
  for (const CompileSpec& spec : specs) {
    official_specs.push_back({spec.key, {const_cast<uint8_t*>(spec.value.data()), spec.value.size()}});
  }
  const OfficialDataMap<const NamedDataMap*> named_data(context.named_data());
  et::BackendInitContext official_context(
      method_->method_allocator(), method_->tracer(), context.method_name(),
      context.named_data() == nullptr ? nullptr : &named_data, method_->options_of(backend_->name));
  // `processed` lives as long as rushlight's delegate, so the official buffer may refer to it.
  auto delegate = std::make_unique<Delegate>(processed);
  auto handle = backend_->backend->init(official_context, &delegate->processed,
                                        {official_specs.data(), official_specs.size()});
  // The official buffer's destructor frees the payload.
  if (!handle.ok()) return ours(handle.error());
  delegate->handle = *handle;
  return static_cast<DelegateHandle*>(delegate.release());
}

Error OurBackend::execute(BackendExecuteContext& context, DelegateHandle* handle,
                          Span<EValue* const> arguments) const {
  TemporaryOf<BackendExecuteContext> temporary(context);
  et::BackendExecutionContext official_context(method_->tracer(), &temporary, context.method_name());
#ifdef USE_ATEN_LIB
  try {
    OfficialStack stack(arguments.data(), arguments.size());
    RL_TRY(ours(backend_->backend->execute(official_context, static_cast<Delegate*>(handle)->handle,
                                           stack.values())));
    return stack.finish();
  } catch (...) {
    return rushlight::aten::caught(backend_->name);
  }
#else
  OfficialStack stack(arguments.data(), arguments.size());
  return ours(
      backend_->backend->execute(official_context, static_cast<Delegate*>(handle)->handle, stack.values()));
#endif
}

void OurBackend::destroy(DelegateHandle* handle) const {
  auto* delegate = static_cast<Delegate*>(handle);
  backend_->backend->destroy(delegate->handle);
  delete delegate;
}

}  // namespace rushlight::compatRUSHLIGHT_TENSOR_MODE

namespace executorch::ET_RUNTIME_NAMESPACE {

using rushlight::compat::registered_backends;

Error register_backend(const Backend& backend) { return rushlight::compat::add(backend); }

BackendInterface* get_backend_class(const char* name) {
  const Backend* backend = rushlight::compat::find(name);
  return backend == nullptr ? nullptr : backend->backend;
}

// Backends registered at run time come first, then the backends that the build selected.
size_t get_num_registered_backends() {
  return registered_backends().size() + rushlight::selected_backends.size;
}

Result<const char*> get_backend_name(size_t index) {
  const size_t registered = registered_backends().size();
  if (index < registered) return registered_backends()[index].name;
  ET_CHECK_OR_RETURN_ERROR(index < get_num_registered_backends(), InvalidArgument,
                           "backend %zu: expected an index below %zu", index, get_num_registered_backends());
  return rushlight::selected_backends.entries[index - registered].id;
}

Error set_option(const char* backend_name, const Span<BackendOption> backend_options) {
  BackendInterface* backend = get_backend_class(backend_name);
  ET_CHECK_OR_RETURN_ERROR(backend != nullptr, NotFound, "backend %s: not registered", backend_name);
  BackendOptionContext context;
  return backend->set_option(context, backend_options);
}

Error get_option(const char* backend_name, Span<BackendOption> backend_options) {
  BackendInterface* backend = get_backend_class(backend_name);
  ET_CHECK_OR_RETURN_ERROR(backend != nullptr, NotFound, "backend %s: not registered", backend_name);
  BackendOptionContext context;
  return backend->get_option(context, backend_options);
}

}  // namespace executorch::ET_RUNTIME_NAMESPACE
