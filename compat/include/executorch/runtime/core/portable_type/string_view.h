// SPDX-License-Identifier: BSD-3-Clause
// The standard library's type under older names, which warn where they are used. Write std::string_view.
#pragma once

#include <string_view>

#include <executorch/runtime/platform/compiler.h>

namespace executorch::runtime::etensor {
using string_view ET_DEPRECATED = std::string_view;
}

namespace torch::executor {
using string_view ET_DEPRECATED = std::string_view;
}
