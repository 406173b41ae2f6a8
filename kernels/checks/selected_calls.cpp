// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selected_calls.h"

#include "runtime/base/log.h"

namespace rushlight::kernels {

Error not_selected(const char* kernel) {
  RL_CHECK(
      false, Error::NotSupported,
      "%s: this build has no code for a call with these shapes; build for this program too, or for all calls",
      kernel);
  return Error::NotSupported;
}

}  // namespace rushlight::kernels
