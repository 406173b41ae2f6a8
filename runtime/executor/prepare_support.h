// SPDX-License-Identifier: BSD-3-Clause
// What Method::measure and prepare do. The executor reaches it through the operator table that it is given,
// so that a program linked with a table whose kernels prepare nothing does not hold it. The table names it:
//
//   const OperatorTable table = {entries, 1, nullptr, kPrepareSupport};
#pragma once

#include "runtime/base/error.h"
#include "runtime/kernel/operator_table.h"

namespace rushlight {

class Method;
class PreparedWeights;
struct Preparation;

struct PrepareSupport {
  Error (*measure)(Method& method, Preparation* needs);
  Error (*prepare)(Method& method, PreparedWeights* weights);
};

#if defined(RUSHLIGHT_PREPARE_KERNELS) && RUSHLIGHT_PREPARE_KERNELS != 0
extern const PrepareSupport prepare_support;
inline constexpr const PrepareSupport* kPrepareSupport = &prepare_support;
#else
inline constexpr const PrepareSupport* kPrepareSupport = nullptr;
#endif

}  // namespace rushlight
