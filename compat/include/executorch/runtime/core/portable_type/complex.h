// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/util/complex.h>

namespace executorch::runtime::etensor {
using c10::complex;
}

namespace torch::executor {
using ::executorch::runtime::etensor::complex;
}
