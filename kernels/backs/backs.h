// SPDX-License-Identifier: BSD-3-Clause
// How an operator's front reaches the backs that compute for it.
//
// A front is the function of an operator: it checks the arguments, gives `out` its shape and describes the
// problem in a struct of this folder. A back computes such problems: host/ for processors with wide vectors,
// board/ for small ones. Code of the front's own file, "portable", computes what no back takes:
//
//   Error mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
//     ...checks, resize...
//     return backs::mm_out(context, problem, [&] { return multiply(problem.product); });
//   }
//
// backs::mm_out is generated for each build from the row of kernels/ops.yaml: it calls the back if the build
// has one, and if problem.is_in() the dtypes of that back; code that no call can reach is not compiled.
//
// A problem has
//   bool is_in(TypeSet types) const   true if its tensors have one dtype, which is in the set
//   ScalarType type() const           the dtype that an error names
//   kDtypeIsSelected (optional)       true if the front refuses mixtures and dtypes that are not selected:
//                                     is_in() is not asked then where the back has all selected ones
// A back returns its Error. One whose row says `declines` returns std::optional<Error>: nothing hands the
// problem on. Where a row says `prepares`, host::<function>_prepare packs constants at load, see context.h;
// the front defines <kernel>_prepare, which plans as a call does and ends with backs::<kernel>_prepare. In
// builds that prepare nothing that function is static, and so not in the object.
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

// True if the problem says kDtypeIsSelected.
template <class Problem, class = void>
inline constexpr bool kHasSelectedDtype = false;
template <class Problem>
inline constexpr bool kHasSelectedDtype<Problem, std::enable_if_t<Problem::kDtypeIsSelected>> = true;

}  // namespace rushlight::kernels

// Generated: the namespace backs, for the fronts of the source that includes this.
#include "rushlight/selected_backs.h"
