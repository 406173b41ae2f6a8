// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/module/shared_objects.h"

namespace rushlight {

// In reverse order of creation.
SharedObjects::~SharedObjects() {
  for (size_t i = objects_.size(); i-- > 0;) objects_[i].kind->destroy(objects_[i].object);
}

void* SharedObjects::get(const BackendHost::SharedKind& kind) {
  // Held while the object is made, so that two threads do not both make it.
  const std::unique_lock<std::mutex> locked(mutex_);
  for (const Object& each : objects_) {
    if (each.kind == &kind) return each.object;
  }
  void* made = kind.make();
  if (made != nullptr) objects_.push_back({&kind, made});
  return made;
}

}  // namespace rushlight
