// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>

namespace rushlight {

// Defines the functions that describe how this module was built.
void bind_info(pybind11::module_& m);

}  // namespace rushlight
