// SPDX-License-Identifier: BSD-3-Clause
// Backend options for one load, by backend: an argument of Program::load_method(), which hands each backend
// its own by BackendInitContext::get_runtime_spec(). Refers to the options, which must outlive it.
//
//   BackendOptions<2> options;
//   options.set_option("num_threads", 4);
//   LoadBackendOptionsMap map;
//   map.set_options("XnnpackBackend", options.view());
//   auto method = program->load_method("forward", &memory, nullptr, nullptr, &map);
#pragma once

#include <cstring>

#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::runtime {

// Fixed storage for 8 backends; allocates no memory. Lookup compares names one by one.
class LoadBackendOptionsMap final {
 public:
  LoadBackendOptionsMap() = default;

  // Sets the options of a backend, or replaces them. The name is copied, the options are not. A backend need
  // not exist: options of unknown ones are ignored. Error: InvalidArgument (null or empty name, a name of 64
  // characters or more, more than 8 backends).
  Error set_options(const char* backend_id, Span<BackendOption> options) {
    if (backend_id == nullptr || backend_id[0] == '\0') return Error::InvalidArgument;
    if (Entry* entry = find(backend_id)) {
      entry->options = options;
      return Error::Ok;
    }
    const size_t length = std::strlen(backend_id);
    if (size_ == kMaxBackends || length >= kMaxBackendIdLength) return Error::InvalidArgument;
    std::memcpy(entries_[size_].backend_id, backend_id, length + 1);
    entries_[size_++].options = options;
    return Error::Ok;
  }
  // The same for a builder of a backend's options, which has backend_id() and view().
  template <class Builder>
  Error set_options(Builder& builder) {
    return set_options(builder.backend_id(), builder.view());
  }

  // The options of a backend; empty if none were set, or if `backend_id` is null.
  Span<const BackendOption> get_options(const char* backend_id) const {
    const Entry* entry = find(backend_id);
    if (entry == nullptr) return {};
    return {entry->options.data(), entry->options.size()};
  }
  // True also for a backend that was given no options.
  bool has_options(const char* backend_id) const { return find(backend_id) != nullptr; }
  // The number of backends.
  size_t size() const { return size_; }

  // One backend with its options, in the order of their first set_options(). Precondition: index < size(),
  // asserted in debug builds.
  struct EntryView {
    const char* backend_id = nullptr;
    Span<const BackendOption> options;
  };
  EntryView entry_at(size_t index) const {
    ET_DCHECK_MSG(index < size_, "entry %zu: expected an index below %zu", index, size_);
    return {entries_[index].backend_id, get_options(entries_[index].backend_id)};
  }

 private:
  // Limits of the fixed storage: backends, and bytes of a name with its zero byte.
  static constexpr size_t kMaxBackends = 8;
  static constexpr size_t kMaxBackendIdLength = 64;

  struct Entry {
    char backend_id[kMaxBackendIdLength] = {};
    Span<BackendOption> options;
  };

  // The entry of a backend; null if there is none, also for a null name.
  const Entry* find(const char* backend_id) const {
    for (size_t i = 0; backend_id != nullptr && i < size_; ++i) {
      if (std::strcmp(entries_[i].backend_id, backend_id) == 0) return &entries_[i];
    }
    return nullptr;
  }
  Entry* find(const char* backend_id) {
    return const_cast<Entry*>(static_cast<const LoadBackendOptionsMap*>(this)->find(backend_id));
  }

  Entry entries_[kMaxBackends];
  size_t size_ = 0;
};

}  // namespace executorch::runtime
