// SPDX-License-Identifier: BSD-3-Clause
// The implementation of Method::measure() and prepare(). The executor calls it through the operator table, so
// that a program whose kernels prepare nothing does not link it. A table enables it like this:
//
//   const OperatorTable table = {entries, 1, nullptr, kPrepareSupport};
#pragma once

#include "runtime/base/error.h"
#include "runtime/kernel/operator_table.h"

namespace rushlight {

class Method;
class PreparedWeights;
struct Preparation;

// See Method::measure() and Method::prepare().
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
