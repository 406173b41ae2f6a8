// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>

namespace rushlight {

// The functions that tell what this module was built with.
void bind_info(pybind11::module_& m);

}  // namespace rushlight
