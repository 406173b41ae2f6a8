// SPDX-License-Identifier: BSD-3-Clause
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

// What a backend sees while a method is loaded.
class BackendInitContext final {
 public:
  explicit BackendInitContext(MemoryAllocator* runtime_allocator, EventTracer* event_tracer = nullptr,
                              const char* method_name = nullptr, const NamedDataMap* named_data_map = nullptr,
                              Span<const BackendOption> runtime_specs = {})
      : runtime_allocator_(runtime_allocator),
        event_tracer_(event_tracer),
        method_name_(method_name),
        named_data_map_(named_data_map),
        runtime_specs_(runtime_specs) {}

  // Memory that lives as long as the method.
  MemoryAllocator* get_runtime_allocator() { return runtime_allocator_; }
  EventTracer* event_tracer() { return event_tracer_; }
  const char* get_method_name() const { return method_name_; }
  // Of the program and of the caller's files; during init() only.
  const NamedDataMap* get_named_data_map() const { return named_data_map_; }
  Span<const BackendOption> runtime_specs() const { return runtime_specs_; }

  // Errors: NotFound, InvalidArgument (of another type).
  template <class T>
  Result<T> get_runtime_spec(const char* key) const {
    static_assert(std::is_same_v<T, bool> || std::is_same_v<T, int> || std::is_same_v<T, const char*>,
                  "an option is a bool, an int or a text");
    T value{};
    const Error error = internal::read_option(runtime_specs_, key, value);
    if (error != Error::Ok) return error;
    return value;
  }

 private:
  MemoryAllocator* runtime_allocator_;
  EventTracer* event_tracer_;
  const char* method_name_;
  const NamedDataMap* named_data_map_;
  Span<const BackendOption> runtime_specs_;
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::BackendInitContext;
}
