// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>

namespace rushlight {

void bind_delegates(pybind11::module_& m);

}  // namespace rushlight
