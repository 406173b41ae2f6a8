// SPDX-License-Identifier: BSD-3-Clause
// Rewrites methods of plain calls when they are loaded: programs of the official exporter then execute the
// calls that rushlight's exporter would have written. Link it by naming make_rewriter:
//
//   ModuleOptions options;
//   options.rewriter = make_rewriter;
//   auto module = Module::load_file("model.pte", selected_operators, options);
#pragma once

#include <memory>

#include "runtime/module/method_rewriter.h"

namespace rushlight {

// A rewriter for one module. It uses the operators that the build has. Null in a build for selected calls
// (RUSHLIGHT_SELECT_CALLS), which has code for the stated calls only.
[[nodiscard]] std::unique_ptr<MethodRewriter> make_rewriter();

}  // namespace rushlight
