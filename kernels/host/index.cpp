// SPDX-License-Identifier: BSD-3-Clause
// Advanced indexing with integer tensors: computes and checks the source offsets of 256 results at a time,
// then copies elements or contiguous spans. Masks take the general walk of Indexing.
#include <algorithm>
#include <optional>

#include "kernels/backs/indexing.h"
#include "kernels/host/index_offsets.h"
#include "kernels/index/indexing.h"
#include "kernels/walk/paired_axes.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels::host {

namespace {

using Indices = Span<const std::optional<Tensor>>;

constexpr size_t kRun = 32;  // bytes from which a call to copy them pays

// True if all index tensors are integers. Masks take the walk of the plan.
bool are_integers(Indices indices) {
  bool any = false;
  for (const std::optional<Tensor>& index : indices) {
    if (!index.has_value()) continue;
    const ScalarType type = index->scalar_type();
    if (type != ScalarType::Int && type != ScalarType::Long) return false;
    any = true;
  }
  return any;
}

// Integer indices that `indexing` has planned, at most one for a dimension.
class Selection {
 public:
  Selection(const Tensor& self, Indices indices, const Tensor& out)
      : self_(self), indices_(indices), target_(View::of(out)) {
    size_t covered = 0;
    for (size_t d = 0; d < indices.size(); ++d) covered += indices[d].has_value() ? 1 : 0;
    // The result has the kept dimensions and the broadcast ones, so its rank gives the rank of the indices.
    broadcast_ = target_.dim + covered - static_cast<size_t>(self.dim());
    size_t first = 0;
    while (!indices[first].has_value()) ++first;
    size_t end = first;
    while (end < indices.size() && indices[end].has_value()) ++end;
    // Adjacent indexed dimensions are replaced in place, others move to the front, as in PyTorch.
    front_ = end - first == covered ? first : 0;
    plan_kept();
  }

  Error run() const {
    SizesType at[kTensorDimensionLimit] = {};
    char* to = target_.data;
    while (true) {
      RL_TRY(run_row(at, to));
      size_t d = broadcast_ == 0 ? 0 : broadcast_ - 1;
      while (d-- > 0) {
        to += target_.strides[front_ + d];
        if (++at[d] < target_.sizes[front_ + d]) break;
        to -= target_.strides[front_ + d] * at[d];
        at[d] = 0;
      }
      if (d > kTensorDimensionLimit) return Error::Ok;
    }
  }

 private:
  [[nodiscard]] bool is_indexed(size_t d) const { return d < indices_.size() && indices_[d].has_value(); }

  // Axes of the dimensions without an index, from `self` to their dimension in the result.
  void plan_kept() {
    for (size_t i = static_cast<size_t>(self_.dim()); i-- > 0;) {
      const size_t d = self_.dim_order()[i];
      if (is_indexed(d)) continue;
      size_t dim = 0;
      for (size_t before = 0; before < d; ++before) dim += is_indexed(before) ? 0 : 1;
      if (dim >= front_) dim += broadcast_;
      kept_.add({static_cast<size_t>(self_.sizes()[d]), byte_stride(self_, d), target_.strides[dim]});
    }
  }

  // Computes the last broadcast dimension, at position `at` of the other ones.
  Error run_row(const SizesType* at, char* to) const {
    // Scalars as indices have no dimension: one position.
    const size_t last = broadcast_ == 0 ? 0 : broadcast_ - 1;
    const size_t count = broadcast_ == 0 ? 1 : static_cast<size_t>(target_.sizes[front_ + last]);
    const ptrdiff_t stride = broadcast_ == 0 ? 0 : target_.strides[front_ + last];
    for (size_t first = 0; first < count; first += kIndexBlock) {
      // Each index tensor adds its offsets, so the number of index tensors is not limited.
      ptrdiff_t offsets[kIndexBlock] = {};
      const size_t n = std::min(kIndexBlock, count - first);
      for (size_t d = 0; d < indices_.size(); ++d) {
        if (is_indexed(d)) RL_TRY(add_index_offsets(run_of(d, at), first, n, offsets));
      }
      move(offsets, n, to + static_cast<ptrdiff_t>(first) * stride, stride);
    }
    return Error::Ok;
  }

  [[nodiscard]] IndexSpan run_of(size_t d, const SizesType* at) const {
    const Tensor& index = *indices_[d];
    const auto rank = static_cast<size_t>(index.dim());
    IndexSpan run{index.const_data_ptr<char>(), 0,   index.scalar_type(), self_.sizes()[d],
                  byte_stride(self_, d),        true};
    for (size_t i = 0; i < rank; ++i) {
      if (index.sizes()[i] == 1) continue;
      if (i + 1 == rank) {
        run.stride = byte_stride(index, i);
      } else {
        run.data += byte_stride(index, i) * at[broadcast_ - rank + i];
      }
    }
    return run;
  }

  void move(const ptrdiff_t* offsets, size_t n, char* to, ptrdiff_t stride) const {
    const Axis& run = kept_.inner();
    const size_t element = self_.element_size();
    const auto* from = self_.const_data_ptr<char>();
    // Short or strided slices: one element of each of the n results at a time.
    if (run.input != static_cast<ptrdiff_t>(element) || run.output != run.input ||
        run.size * element < kRun) {
      return kept_.walk(from, to, 0, [&](const char* source, char* target) {
        copy_at_offsets(element, n, source, offsets, target, stride);
      });
    }
    for (size_t i = 0; i < n; ++i) {
      kept_.walk(from + offsets[i], to + static_cast<ptrdiff_t>(i) * stride, 1,
                 [&](const char* source, char* target) {
                   copy_elements(target, run.output, source, run.input, run.size, element);
                 });
    }
  }

  const Tensor& self_;
  Indices indices_;
  View target_;
  size_t broadcast_;  // rank of the broadcast indices
  size_t front_;      // their first dimension in the result
  PairedAxes kept_;
};

}  // namespace

Error index(KernelContext&, const IndexProblem& problem) {
  const auto& [plan, self, indices, out] = problem;
  if (!are_integers(indices)) return plan.run(self, View::of(out), Indexing::kRead, copy_elements);
  return out.numel() == 0 ? Error::Ok : Selection(self, indices, out).run();
}

}  // namespace rushlight::kernels::host
