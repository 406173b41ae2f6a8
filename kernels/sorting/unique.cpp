// SPDX-License-Identifier: BSD-3-Clause
// Sorts positions of parts, then compares adjacent ones; the parts themselves are not moved. O(n log n)
// comparisons, each of a whole part, and 4 bytes of scratch memory for each part. With `consecutive` the
// order stays as it is, and only adjacent parts are compared. For example, of [3 1 3 2]:
//
//   order [1 3 0 2]   values [1 2 3]   inverse [2 0 2 1]   counts [1 1 2]
#include "kernels/sorting/unique.h"

#include "kernels/checks/checks.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/flat_index.h"
#include "kernels/sorting/order.h"
#include "kernels/sorting/order_statistic.h"
#include "kernels/walk/row_major.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// The numbered parts of a tensor: slices along a dimension, or elements in row-major order.
class Parts {
 public:
  Parts(const Tensor& self, bool by_element, size_t dim) : self_(self), by_element_(by_element), dim_(dim) {}

  [[nodiscard]] size_t count() const {
    return by_element_ ? self_.numel() : static_cast<size_t>(self_.sizes()[dim_]);
  }

  [[nodiscard]] View at(const View& whole, uint32_t part) const {
    View view = whole;
    return view.select(dim_, static_cast<ptrdiff_t>(part));
  }

  [[nodiscard]] int order(uint32_t a, uint32_t b) const {
    const ScalarType type = self_.scalar_type();
    if (by_element_) return compare_elements(element_at(self_, a), element_at(self_, b), type);
    // Lexicographic in row-major order of the slice.
    const View whole = View::of(self_);
    View x = at(whole, a);
    View y = at(whole, b);
    for (View* each : {&x, &y}) {
      if (each->dim == 0) each->insert(0, 1, 0);
    }
    const View views[] = {x, y};
    int result = 0;
    static_cast<void>(for_each_fiber(views, x.dim - 1, [&](const Fiber* fibers) {
      for (ptrdiff_t i = 0; i < fibers[0].size && result == 0; ++i) {
        result = compare_elements(fibers[0].data + i * fibers[0].stride,
                                  fibers[1].data + i * fibers[1].stride, type);
      }
      return Error::Ok;
    }));
    return result;
  }

  // NaN compares equal in the order, which sorting needs, but is distinct in the result.
  [[nodiscard]] bool differ(uint32_t a, uint32_t b) const { return order(a, b) != 0 || has_nan(a); }

  [[nodiscard]] bool has_nan(uint32_t part) const {
    const ScalarType type = self_.scalar_type();
    if (by_element_) return is_nan_element(element_at(self_, part), type);
    View view = at(View::of(self_), part);
    if (view.dim == 0) view.insert(0, 1, 0);
    bool found = false;
    static_cast<void>(for_each_fiber({&view, 1}, view.dim - 1, [&](const Fiber* fibers) {
      found |= count_not_nan(fibers[0], type) < fibers[0].size;
      return Error::Ok;
    }));
    return found;
  }

  // Copies part `from` of self to part `to` of `out`.
  Error copy(uint32_t from, const Tensor& out, uint32_t to) const {
    if (!by_element_) return copy_view(at(View::of(out), to), at(View::of(self_), from));
    copy_elements(out.mutable_data_ptr<char>() + to * out.element_size(), 0, element_at(self_, from), 0, 1,
                  self_.element_size());
    return Error::Ok;
  }

 private:
  const Tensor& self_;
  bool by_element_;
  size_t dim_;
};

Error resize_indices(const Tensor& out, bool wanted, Span<const SizesType> sizes) {
  RL_TRY(check_indices_dtype(out));
  // A result that is not requested becomes empty.
  const SizesType none = 0;
  return resize_out(out, wanted ? sizes : Span<const SizesType>(&none, 1));
}

}  // namespace

Error find_unique(KernelContext& context, TypeSet types, const Tensor& self, const UniqueRequest& request,
                  const UniqueOuts& outs) {
  if (!contains(types & types::kAll, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(self, outs.values, "self and the values"));
  size_t dim = 0;
  if (request.dim) RL_TRY(normalize_dim(*request.dim, self.dim(), &dim));
  // A scalar has one element and no dimension to slice.
  const bool by_element = !request.dim || self.dim() == 0;
  const Parts parts(self, by_element, dim);
  const size_t count = parts.count();
  // The sorted positions of the parts; positions are 32 bits, as sizes are.
  auto* const order =
      static_cast<uint32_t*>(context.allocate_temp(count * sizeof(uint32_t), alignof(uint32_t)));
  RL_CHECK(order != nullptr || count == 0, Error::MemoryAllocationFailed,
           "out of scratch memory: need %lu bytes for the order of parts",
           log_number(count * sizeof(uint32_t)));
  for (size_t i = 0; i < count; ++i) order[i] = static_cast<uint32_t>(i);
  if (!request.consecutive) {
    const PositionOrder by_value = [](const void* of, uint32_t a, uint32_t b) {
      return static_cast<const Parts*>(of)->order(a, b);
    };
    sort_positions({order, count}, by_value, &parts);
  }

  // Equal parts are adjacent now. Two passes: the first counts, to size the results, the second writes.
  const auto begins = [&](size_t i) { return i == 0 || parts.differ(order[i - 1], order[i]); };
  SizesType found = 0;
  for (size_t i = 0; i < count; ++i) found += begins(i) ? 1 : 0;
  Shape shape;
  for (ptrdiff_t d = 0; !by_element && d < self.dim(); ++d) {
    shape.push(static_cast<size_t>(d) == dim ? found : self.sizes()[d]);
  }
  if (by_element) shape.push(found);
  const SizesType along = static_cast<SizesType>(count);
  RL_TRY(resize_out(outs.values, shape.span()));
  RL_TRY(resize_indices(outs.inverse, request.inverse,
                        request.dim ? Span<const SizesType>(&along, 1) : self.sizes()));
  if (outs.counts != nullptr) RL_TRY(resize_indices(*outs.counts, request.counts, {&found, 1}));

  SizesType last = -1;
  for (size_t i = 0; i < count; ++i) {
    // The bound holds even if a program changes the elements between the passes.
    if (begins(i) && last + 1 < found) {
      RL_TRY(parts.copy(order[i], outs.values, static_cast<uint32_t>(++last)));
      if (request.counts) outs.counts->mutable_data_ptr<int64_t>()[last] = 0;
    }
    if (request.inverse) *reinterpret_cast<int64_t*>(element_at(outs.inverse, order[i])) = last;
    if (request.counts) ++outs.counts->mutable_data_ptr<int64_t>()[last];
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
