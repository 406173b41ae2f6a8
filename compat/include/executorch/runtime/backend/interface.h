// SPDX-License-Identifier: BSD-3-Clause
// Backends registered at run time, for hosts, in addition to the backends that the build selected.
#pragma once

#include <cstring>

#include <executorch/runtime/backend/backend_execution_context.h>
#include <executorch/runtime/backend/backend_init_context.h>
#include <executorch/runtime/backend/backend_option_context.h>
#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

struct SizedBuffer {
  void* buffer;
  size_t nbytes;
};

// A setting from the exporter for the backend. Points into the program.
struct CompileSpec {
  const char* key;
  SizedBuffer value;
};

// The backend's private state of one delegate, created by init().
using DelegateHandle = void;

class BackendInterface {
 public:
  virtual ~BackendInterface() = 0;

  ET_NODISCARD virtual bool is_available() const = 0;

  // `processed` stays valid until destroy() returns, unless the backend frees it.
  ET_NODISCARD virtual Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                                    ArrayRef<CompileSpec> compile_specs) const = 0;
  // Arguments are the inputs, then the outputs, in the exporter's order.
  ET_NODISCARD virtual Error execute(BackendExecutionContext& context, DelegateHandle* handle,
                                     Span<EValue*> args) const = 0;
  ET_NODISCARD virtual Error set_option(ET_UNUSED BackendOptionContext& context,
                                        ET_UNUSED const Span<BackendOption>& backend_options) {
    return Error::Ok;
  }
  ET_NODISCARD virtual Error get_option(ET_UNUSED BackendOptionContext& context,
                                        ET_UNUSED Span<BackendOption>& backend_options) {
    return Error::Ok;
  }
  virtual void destroy(ET_UNUSED DelegateHandle* handle) const {}
};

// Inline in each source, so that derived classes may be compiled with or without RTTI.
inline BackendInterface::~BackendInterface() = default;

struct Backend {
  const char* name;  // name in programs; must stay valid
  BackendInterface* backend;
};

// Errors: InvalidArgument (the name is taken), Internal (more than 16).
ET_NODISCARD Error register_backend(const Backend& backend);

// Returns a registered backend, or null.
BackendInterface* get_backend_class(const char* name);

// Counts registered backends, followed by the backends that the build selected.
size_t get_num_registered_backends();
Result<const char*> get_backend_name(size_t index);

// Error: NotFound (no such backend is registered), or the backend's.
Error set_option(const char* backend_name, const Span<BackendOption> backend_options);
Error get_option(const char* backend_name, Span<BackendOption> backend_options);

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::Backend;
using ::executorch::ET_RUNTIME_NAMESPACE::CompileSpec;
using ::executorch::ET_RUNTIME_NAMESPACE::DelegateHandle;
using ::executorch::ET_RUNTIME_NAMESPACE::get_backend_class;
using ::executorch::ET_RUNTIME_NAMESPACE::register_backend;
using ::executorch::ET_RUNTIME_NAMESPACE::SizedBuffer;
using PyTorchBackendInterface = ::executorch::ET_RUNTIME_NAMESPACE::BackendInterface;
}  // namespace torch::executor
