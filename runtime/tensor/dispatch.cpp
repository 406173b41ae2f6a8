// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/dispatch.h"

namespace rushlight {

Error unsupported_type(ScalarType type) {
#if RUSHLIGHT_LOG_LEVEL < 3 && RUSHLIGHT_FAILURE_TRACE
  // With logs, too: by its place a build without the dtype is told from an input that is wrong.
  record_failure(failure_place(__FILE__, __LINE__) | static_cast<uint32_t>(Error::InvalidType));
#endif
  RL_CHECK(false, Error::InvalidType, "dtype %s is not supported here, or not selected in this build",
           to_string(type));
  return Error::InvalidType;
}

}  // namespace rushlight
