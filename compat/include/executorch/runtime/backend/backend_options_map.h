// SPDX-License-Identifier: BSD-3-Clause
// Backend options for one load, by backend. Refers to the options, which must outlive it.
#pragma once

#include <cstring>

#include <executorch/runtime/backend/options.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::runtime {

class LoadBackendOptionsMap final {
 public:
  LoadBackendOptionsMap() = default;

  // Error: InvalidArgument (empty name, a name of 64 characters or more, more than 8 backends).
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
  template <class Builder>
  Error set_options(Builder& builder) {
    return set_options(builder.backend_id(), builder.view());
  }

  // Empty if none were set.
  Span<const BackendOption> get_options(const char* backend_id) const {
    const Entry* entry = find(backend_id);
    if (entry == nullptr) return {};
    return {entry->options.data(), entry->options.size()};
  }
  bool has_options(const char* backend_id) const { return find(backend_id) != nullptr; }
  size_t size() const { return size_; }

  struct EntryView {
    const char* backend_id = nullptr;
    Span<const BackendOption> options;
  };
  EntryView entry_at(size_t index) const {
    ET_DCHECK_MSG(index < size_, "entry %zu: expected an index below %zu", index, size_);
    return {entries_[index].backend_id, get_options(entries_[index].backend_id)};
  }

 private:
  static constexpr size_t kMaxBackends = 8;
  static constexpr size_t kMaxBackendIdLength = 64;

  struct Entry {
    char backend_id[kMaxBackendIdLength] = {};
    Span<BackendOption> options;
  };

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
