// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>

#include "kernels/checks/checks.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// Has no result: it fails unless every matrix of a batch was factored, that is unless every info is 0.
Error _linalg_check_errors(KernelContext&, const Tensor& info, std::string_view api_name, bool is_matrix) {
  static_cast<void>(is_matrix);
  RL_CHECK(info.scalar_type() == ScalarType::Int, Error::InvalidType, "info: expected dtype int32, got %s",
           to_string(info.scalar_type()));
  for (size_t i = 0; i < info.numel(); ++i) {
    const int32_t code = info.const_data_ptr<int32_t>()[i];
    RL_CHECK(code == 0, Error::InvalidArgument,
             "%.*s: expected 0 for every matrix, got %ld for number %lu: it cannot be factored",
             static_cast<int>(api_name.size()), api_name.data(), static_cast<long>(code),
             static_cast<unsigned long>(i));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
