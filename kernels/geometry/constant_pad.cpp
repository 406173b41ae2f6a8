// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/geometry/constant_pad.h"

#include "kernels/checks/checks.h"
#include "kernels/checks/scalar_range.h"
#include "kernels/walk/fill.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

Error plan_constant_pad(const Tensor& self, Span<const int64_t> pad, const Scalar& value, const Tensor& out,
                        ConstantPad* plan) {
  const auto rank = static_cast<size_t>(self.dim());
  RL_CHECK(pad.size() % 2 == 0 && pad.size() <= 2 * rank, Error::InvalidArgument,
           "pad: expected pairs for at most %lu dimensions, got %lu values", log_number(rank),
           log_number(pad.size()));
  RL_CHECK(self.scalar_type() == out.scalar_type(), Error::InvalidType, "out: expected dtype %s, got %s",
           to_string(self.scalar_type()), to_string(out.scalar_type()));
  RL_TRY(check_scalar_range(value, self.scalar_type(), "value"));
  plan->source = View::of(self);
  Shape shape;
  for (size_t d = 0; d < rank; ++d) {
    // Pairs begin with the last dimension; dimensions without a pair are not padded.
    const size_t pair = 2 * (rank - 1 - d);
    const int64_t before = pair < pad.size() ? pad[pair] : 0;
    const int64_t after = pair < pad.size() ? pad[pair + 1] : 0;
    const int64_t size = self.sizes()[d];
    for (const int64_t amount : {before, after}) {
      RL_CHECK(amount >= -size && amount <= INT32_MAX, Error::InvalidArgument,
               "pad: expected at least %ld, the size of dimension %lu, got %ld", -static_cast<long>(size),
               log_number(d), static_cast<long>(amount));
    }
    // Negative amounts crop the input, positive ones move it inside the result.
    const int64_t cut_before = before < 0 ? -before : 0;
    const int64_t kept = size - cut_before - (after < 0 ? -after : 0);
    const int64_t total = size + before + after;
    RL_CHECK(kept >= 0 && total <= INT32_MAX, Error::InvalidArgument,
             "pad: got size %ld from size %ld in dimension %lu", static_cast<long>(total),
             static_cast<long>(size), log_number(d));
    // Selects the part of the input that remains, and its position in the result.
    plan->source.slice(d, static_cast<ptrdiff_t>(cut_before), static_cast<ptrdiff_t>(kept));
    plan->start[d] = static_cast<ptrdiff_t>(before > 0 ? before : 0);
    shape.push(static_cast<ptrdiff_t>(total));
  }
  return resize_out(out, shape.span());
}

Error pad_constant(const ConstantPad& plan, const Scalar& value, const Tensor& out) {
  // Also fills the part that is overwritten, which costs one pass more but no arithmetic on borders.
  RL_TRY(fill(out, value));
  View target = View::of(out);
  for (size_t d = 0; d < target.dim; ++d) target.slice(d, plan.start[d], plan.source.sizes[d]);
  return copy_view(target, plan.source);
}

}  // namespace rushlight::kernels
