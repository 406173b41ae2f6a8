// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/tensor/dispatch.h"

namespace rushlight {

Error unsupported_type(ScalarType type) {
  RL_LOG(Error, "dtype %s is not supported here, or not selected in this build", to_string(type));
  return Error::InvalidType;
}

}  // namespace rushlight
