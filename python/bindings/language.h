// SPDX-License-Identifier: BSD-3-Clause
// Python classes of the tokenizer, sampler and chat template of language models.
#pragma once

#include <pybind11/pybind11.h>

namespace rushlight {

void bind_language(pybind11::module_& m);

}  // namespace rushlight
