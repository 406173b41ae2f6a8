// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/module/shared_objects.h"

namespace rushlight {

SharedObjects::~SharedObjects() {
  for (size_t i = objects_.size(); i-- > 0;) objects_[i].kind->destroy(objects_[i].object);
}

void* SharedObjects::get(const BackendHost::SharedKind& kind) {
  const std::unique_lock<std::mutex> locked(mutex_);
  for (const Object& each : objects_) {
    if (each.kind == &kind) return each.object;
  }
  void* made = kind.make();
  if (made != nullptr) objects_.push_back({&kind, made});
  return made;
}

}  // namespace rushlight
