// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/tensor/tensor.h"

namespace executorch::runtime {
using TensorShapeDynamism = rushlight::TensorShapeDynamism;
}

namespace torch::executor {
using ::executorch::runtime::TensorShapeDynamism;
}
