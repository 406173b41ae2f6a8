// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/tensor/tensor.h"

// The permitted changes of a tensor's shape: STATIC, DYNAMIC_BOUND (up to the elements at construction) and
// DYNAMIC_UNBOUND, which is treated as DYNAMIC_BOUND. A using declaration instead of an alias, so that `enum
// torch::executor::TensorShapeDynamism` names it too.
namespace executorch::runtime {
using rushlight::TensorShapeDynamism;
}

namespace torch::executor {
using ::executorch::runtime::TensorShapeDynamism;
}
