// SPDX-License-Identifier: BSD-3-Clause
// What backends keep for all methods of a program.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/backend/backend.h"

namespace rushlight {

class SharedObjects {
 public:
  SharedObjects() = default;
  SharedObjects(const SharedObjects&) = delete;
  SharedObjects& operator=(const SharedObjects&) = delete;
  ~SharedObjects();

  // See BackendHost::shared().
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
