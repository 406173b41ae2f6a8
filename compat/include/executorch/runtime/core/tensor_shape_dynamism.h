// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/tensor/tensor.h"

// A using declaration instead of an alias, so that `enum torch::executor::TensorShapeDynamism` names it too.
namespace executorch::runtime {
using rushlight::TensorShapeDynamism;
}

namespace torch::executor {
using ::executorch::runtime::TensorShapeDynamism;
}
