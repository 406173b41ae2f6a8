// SPDX-License-Identifier: BSD-3-Clause
// Objects that backends share between all methods of a program, such as caches of packed weights. Backends
// reach them through BackendHost::shared().
#pragma once

#include <mutex>
#include <vector>

#include "runtime/backend/backend.h"

namespace rushlight {

// One object per kind, destroyed in reverse order of creation. Thread-safe.
class SharedObjects {
 public:
  SharedObjects() = default;
  SharedObjects(const SharedObjects&) = delete;
  SharedObjects& operator=(const SharedObjects&) = delete;
  ~SharedObjects();

  // Returns the object of a kind and creates it on the first call; see BackendHost::shared(). The object
  // lives until this SharedObjects is destroyed. Creation happens under a mutex.
  [[nodiscard]] void* get(const BackendHost::SharedKind& kind);

 private:
  struct Object {
    const BackendHost::SharedKind* kind;
    void* object;
  };

  std::mutex mutex_;
  std::vector<Object> objects_;
};

}  // namespace rushlight
