// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/elements/element.h"
#include "kernels/index/combine.h"
#include "kernels/index/scatter.h"
#include "kernels/math/arithmetic.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// out = self, with src[..., i, ...] added to out[..., index[i], ...] along `dim`. Integers wrap.
Error scatter_add_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                      const Tensor& src, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::scatter_add.out");
  Scatter scatter;
  RL_TRY(scatter.plan(self, dim, index, &src, out));
  if (index.numel() == 0) return Error::Ok;
  // 16-bit floats add in float for a whole fiber, and complex elements part by part. In builds for size the
  // others have direct loops below, as most programs need few of them.
#ifdef __OPTIMIZE_SIZE__
  constexpr TypeSet kShared = kTypes & (types::kReducedFloat | types::kComplex);
#else
  constexpr TypeSet kShared = kTypes;
#endif
  if (contains(kShared, self.scalar_type())) {
    return combine_indexed(context,
                           {scatter.index, scatter.target, scatter.source, scatter.dim, Combine::kSum, true});
  }
  const View views[] = {scatter.index, scatter.target, scatter.source};
  return dispatch<(kTypes & ~kShared)>(self.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    return for_each_fiber(views, scatter.dim, [&](const Fiber* fibers) {
      return for_each_indexed(
          fibers[0], index.scalar_type(), fibers[1], fibers[2], [](char* sum, const char* other) {
            *reinterpret_cast<T*>(sum) =
                wrapping_add(load(reinterpret_cast<const T*>(sum)), load(reinterpret_cast<const T*>(other)));
          });
    });
  });
}

}  // namespace rushlight::kernels
