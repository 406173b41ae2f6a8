// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/dispatch.h"

namespace rushlight {

Error unsupported_type(ScalarType type) {
#if RUSHLIGHT_LOG_LEVEL < 3 && RUSHLIGHT_FAILURE_TRACE
  // Recorded in builds with logs too: its position distinguishes a dtype that the build lacks from a wrong
  // input.
  record_failure(failure_position(__FILE__, __LINE__) | static_cast<uint32_t>(Error::InvalidType));
#endif
  RL_CHECK(false, Error::InvalidType, "dtype %s is not supported here, or not selected in this build",
           to_string(type));
  return Error::InvalidType;
}

}  // namespace rushlight
