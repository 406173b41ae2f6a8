// SPDX-License-Identifier: BSD-3-Clause
// The services for the initialisation of a delegate: memory, weights by name, and the caller's options.
//
//   Result<int> threads = context.get_runtime_spec<int>("num_threads");
//   const int num_threads = threads.ok() ? *threads : 1;
//   auto* state = context.get_runtime_allocator()->allocateInstance<State>();
//   if (state == nullptr) return Error::MemoryAllocationFailed;
//   return new (state) State(num_threads);
#pragma once

#include <type_traits>

#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

// Passed to a backend's init(), and valid during that call only.
class BackendInitContext final {
 public:
  // For backends' tests. Nothing is owned; `runtime_specs` must outlive the object.
  explicit BackendInitContext(MemoryAllocator* runtime_allocator, EventTracer* event_tracer = nullptr,
                              const char* method_name = nullptr, const NamedDataMap* named_data_map = nullptr,
                              Span<const BackendOption> runtime_specs = {})
      : method_{method_name, event_tracer, runtime_allocator},
        data_(named_data_map),
        options_(runtime_specs) {}

  // Memory that lives as long as the method: the method allocator of its MemoryManager, never null in a
  // method. Nobody runs destructors there; destroy() must.
  MemoryAllocator* get_runtime_allocator() { return method_.memory; }
  // The application's tracer, or null.
  EventTracer* event_tracer() { return method_.tracer; }
  // The method that is loaded; valid as long as the program.
  const char* get_method_name() const { return method_.name; }
  // Data of the program and of the caller's files, as one map; may be null in tests. The map is valid during
  // init() only. A buffer from get_data() may be kept while the program and the loaders of the data files
  // live, and is released by its own destructor.
  const NamedDataMap* get_named_data_map() const { return data_; }
  // Options that the caller of load_method() gave for this backend; empty if there are none.
  Span<const BackendOption> runtime_specs() const { return options_; }

  // The option `key` as a T: bool, int or const char*. A text points into the caller's options and must be
  // copied if it is used after init(). Errors: NotFound, InvalidArgument (the option has another type).
  template <class T>
  Result<T> get_runtime_spec(const char* key) const {
    static_assert(
        std::disjunction_v<std::is_same<T, const char*>, std::is_same<T, int>, std::is_same<T, bool>>,
        "expected a bool, an int or a string");
    T value{};
    ET_CHECK_OK_OR_RETURN_ERROR(runtime::internal::read_option(options_, key, value));
    return value;
  }

 private:
  struct {
    const char* name;
    EventTracer* tracer;
    MemoryAllocator* memory;
  } method_;
  const NamedDataMap* data_;
  Span<const BackendOption> options_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::BackendInitContext;
}
