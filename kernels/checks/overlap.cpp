// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/overlap.h"

#include <cstdint>

#include "runtime/base/log.h"

namespace rushlight::kernels {

// Memory plans may place tensors over each other, so values that are proven before a call could change while
// results are written.
Error check_no_overlap(const Tensor& tensor, const Tensor& written, const char* name) {
  const auto first = reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
  const auto second = reinterpret_cast<uintptr_t>(written.const_data_ptr());
  RL_CHECK(first + tensor.nbytes() <= second || second + written.nbytes() <= first, Error::InvalidArgument,
           "%s: expected memory that the call does not write; plan it without overlap", name);
  return Error::Ok;
}

}  // namespace rushlight::kernels
