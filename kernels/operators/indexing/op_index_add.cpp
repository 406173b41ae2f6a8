// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/element.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/combine.h"
#include "kernels/index/index.h"
#include "kernels/index/index_update.h"
#include "kernels/math/arithmetic.h"
#include "kernels/math/complex_view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/complex.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// Adds alpha * source. Complex elements are added by real and imaginary parts: in builds for size it is
// called for each, with real views. Integers wrap; sums of 16-bit floats are formed in double and rounded to
// the dtype after each addition. Indices may repeat.
Error add_scaled(const IndexUpdate& update, const Scalar& alpha) {
  const ScalarType type = update.target.type;
  const View views[] = {update.index, update.target, update.source};
  const auto for_each = [&](auto add) {
    return for_each_fiber(views, update.dim, [&](const Fiber* fibers) {
      return for_each_indexed(fibers[0], update.index.type, fibers[1], fibers[2], add);
    });
  };
#ifndef __OPTIMIZE_SIZE__
  constexpr TypeSet kTyped =
      (kAnySelectedType | complex_needs(kAnySelectedType)) & (types::kReal | types::kBool | types::kComplex);
  return dispatch<kTyped>(type, [&](auto of) {
    using T = typename decltype(of)::Element;
    if constexpr (is_complex_number<T>) {
      using Part = decltype(T::real);
      using Wide = std::conditional_t<std::is_same_v<Part, Half>, double, Part>;
      return for_each([factor = alpha.to<Wide>()](char* to, const char* from) {
        auto* const sum = reinterpret_cast<T*>(to);
        const auto* const term = reinterpret_cast<const T*>(from);
        const Part real =
            static_cast<Part>(static_cast<Wide>(sum->real) + static_cast<Wide>(term->real) * factor);
        const Part imag =
            static_cast<Part>(static_cast<Wide>(sum->imag) + static_cast<Wide>(term->imag) * factor);
        *sum = T(real, imag);
      });
    } else {
      using Wide = std::conditional_t<contains(types::kReducedFloat, scalar_type_of<T>), double,
                                      std::conditional_t<std::is_floating_point_v<T>, T, int64_t>>;
      return for_each([factor = alpha.to<Wide>()](char* to, const char* from) {
        const auto sum = convert<Wide>(load(reinterpret_cast<const T*>(to)));
        const auto term = convert<Wide>(load(reinterpret_cast<const T*>(from)));
        *reinterpret_cast<T*>(to) = convert<T>(wrapping_add(sum, wrapping_multiply(term, factor)));
      });
    }
  });
#else
  return for_each([&](char* to, const char* from) {
    if (is_integer_like(type)) {
      const int64_t added = wrapping_multiply(load_integer(from, type), alpha.to<int64_t>());
      store_integer(to, type, wrapping_add(load_integer(to, type), added));
    } else {
      store_number(to, type, load_number(to, type) + load_number(from, type) * alpha.to<double>());
    }
  });
#endif
}

}  // namespace

Error index_add_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                    const Tensor& source, const Scalar& alpha, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::index_add.out");
  const ScalarType type = self.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  RL_TRY(check_alpha<kTypes>(alpha, type));
  IndexUpdate update;
  RL_TRY(update.plan(self, dim, index, source, out));
  // Without a factor the sum has a shared loop, which holds 16-bit floats in float until all are added.
  if (alpha.to<double>() == 1) {
    return combine_indexed(context,
                           {update.index, update.target, update.source, update.dim, Combine::kSum, true});
  }
#ifndef __OPTIMIZE_SIZE__
  return add_scaled(update, alpha);
#else
  if (!kSelectsComplex || !is_complex(type)) return add_scaled(update, alpha);
  // A real factor scales both parts alike.
  for (const size_t which : {0, 1}) {
    IndexUpdate parts = update;
    parts.target = parts_of(update.target, which);
    parts.source = parts_of(update.source, which);
    RL_TRY(add_scaled(parts, alpha));
  }
  return Error::Ok;
#endif
}

}  // namespace rushlight::kernels
