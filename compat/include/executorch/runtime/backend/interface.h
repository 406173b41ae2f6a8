// SPDX-License-Identifier: BSD-3-Clause
// Backends registered at run time, for hosts, in addition to the backends that the build selected. A
// registered backend takes precedence over a selected one of the same name. rushlight's own interface, which
// boards have as well, is runtime/backend/backend.h.
//
//   class MyBackend final : public BackendInterface { ... };
//   static MyBackend my_backend;
//   static const Error registered = register_backend({"MyBackend", &my_backend});
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

// Bytes that a program owns; read-only, although the pointer is not const.
struct SizedBuffer {
  void* buffer;
  size_t nbytes;
};

// A setting from the exporter for the backend: a key that ends with a zero byte, and bytes that have no
// terminator. Both are in the program and valid as long as it.
struct CompileSpec {
  const char* key;
  SizedBuffer value;
};

// The backend's private state of one delegate, created by init(). Null is permitted; the runtime only passes
// it back.
using DelegateHandle = void;

// The interface that a backend implements. One object serves all methods, so per-delegate state belongs in
// the handle. Methods call it on the thread that loads, executes or destroys them; a process that uses
// methods on several threads needs a backend that permits this.
class BackendInterface {
 public:
  virtual ~BackendInterface() = 0;

  // Returns false if the backend cannot work on this machine. Asked for each delegate of a method that is
  // loaded; false fails the load with NotFound.
  ET_NODISCARD virtual bool is_available() const = 0;

  // Prepares one delegate while its method is loaded, once for each delegate. Returns its handle; an error
  // fails the load with that error, after destroy() for delegates that are already initialised.
  //
  // `processed` has the delegate's payload. It stays valid until destroy() returns, unless the backend calls
  // Free(), which gives the memory back early. The array `compile_specs` is valid during the call only; its
  // keys and values are as long-lived as the program.
  ET_NODISCARD virtual Result<DelegateHandle*> init(BackendInitContext& context, FreeableBuffer* processed,
                                                    ArrayRef<CompileSpec> compile_specs) const = 0;
  // Executes the delegate. Arguments are the inputs, then the outputs, in the exporter's order. Outputs are
  // written in place; a dynamic one is first resized by resize_tensor(). An error ends the method's execute()
  // with that error. `args` and `context` are valid during the call only.
  ET_NODISCARD virtual Error execute(BackendExecutionContext& context, DelegateHandle* handle,
                                     Span<EValue*> args) const = 0;
  // Sets options of the whole backend at run time, by the function set_option() below. The default accepts
  // and ignores all.
  ET_NODISCARD virtual Error set_option(ET_UNUSED BackendOptionContext& context,
                                        ET_UNUSED const Span<BackendOption>& backend_options) {
    return Error::Ok;
  }
  // Fills in the values of the given keys. The default changes nothing.
  ET_NODISCARD virtual Error get_option(ET_UNUSED BackendOptionContext& context,
                                        ET_UNUSED Span<BackendOption>& backend_options) {
    return Error::Ok;
  }
  // Releases a delegate's state when its method is destroyed, in reverse order of init(). The payload is
  // released after it returns. Memory from the runtime allocator must not be freed here.
  virtual void destroy(ET_UNUSED DelegateHandle* handle) const {}
};

// Inline in each source, so that derived classes may be compiled with or without RTTI: an out-of-line one
// would place the class's type information in the library only.
inline BackendInterface::~BackendInterface() = default;

// A backend under its name. The object is not owned and must outlive every method that uses it.
struct Backend {
  const char* name;  // name in programs; must stay valid
  BackendInterface* backend;
};

// Registers a backend for methods that are loaded from now on; it cannot be removed. Not thread-safe; static
// initialisers may call it. Errors: InvalidArgument (a null member, the name is taken), Internal (more than
// 16).
ET_NODISCARD Error register_backend(const Backend& backend);

// Returns a registered backend, or null. Backends of the build are not found, as they have rushlight's
// interface. `name` is not null.
BackendInterface* get_backend_class(const char* name);

// Counts registered backends, followed by the backends that the build selected. Names live as long as the
// process; the order is that of registration. Error of get_backend_name(): InvalidArgument (index).
size_t get_num_registered_backends();
Result<const char*> get_backend_name(size_t index);

// Call the backend's set_option() and get_option(). Values are read back into `backend_options`. Error:
// NotFound (no such backend is registered; backends of the build do not count), or the backend's.
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
