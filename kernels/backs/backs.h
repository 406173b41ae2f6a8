// SPDX-License-Identifier: BSD-3-Clause
// Dispatch from an operator's front to the back that computes it.
//
// A front is the function of an operator: it checks the arguments, gives `out` its shape and describes the
// problem in a struct of this folder. A back computes such problems: host/ for processors with wide vectors,
// board/ for small ones. "Portable" code in the front's file computes every problem that no back takes:
//
//   Error mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
//     ...checks, resize...
//     return backs::mm_out(context, problem, [&] { return multiply(problem.product); });
//   }
//
// backs::mm_out is generated for each build from the row of kernels/ops.yaml. It calls the back if the build
// has one and if problem.is_in() finds the dtypes of that back. Code that no call can reach is not compiled.
//
// A problem has
//   bool is_in(TypeSet types) const   true if all its tensors have the same dtype, and the set contains it
//   ScalarType type() const           the dtype that an error names
//   kDtypeIsSelected (optional)       true if the front refuses mixed and unselected dtypes: is_in()
//                                     is then skipped if the back has every selected dtype
// A back returns its Error. A back whose row says `declines` returns std::optional<Error>: an empty result
// passes the problem on to the portable code. If the row says `declines: scratch`, and the build knows its
// calls, it is Error::MemoryAllocationFailed instead, and the portable code is not compiled. If a row says
// `prepares`, host::<function>_prepare packs constants at load, see context.h; the front defines
// <kernel>_prepare, which plans as a call does and ends with backs::<kernel>_prepare. In builds that prepare
// nothing that function is static, and the linker drops it.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

#include "kernels/backs/portable_entry.h"
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// True if the problem declares kDtypeIsSelected.
template <class Problem, class = void>
inline constexpr bool kHasSelectedDtype = false;
template <class Problem>
inline constexpr bool kHasSelectedDtype<Problem, std::enable_if_t<Problem::kDtypeIsSelected>> = true;

}  // namespace rushlight::kernels

// Generated: namespace backs, with the dispatch of each front in the source file that includes this.
#include "rushlight/selected_backs.h"
