// SPDX-License-Identifier: BSD-3-Clause
// Complex numbers under ExecuTorch's names; the type is c10's.
#pragma once

#include <c10/util/complex.h>

namespace executorch::runtime::etensor {
using c10::complex;
}

namespace torch::executor {
using ::executorch::runtime::etensor::complex;
}
