// SPDX-License-Identifier: BSD-3-Clause
// For each position of the broadcast indices computes the offset into `self`, then moves the kept dimensions
// in merged spans. A mask is searched for its next true element, so no list of indices is stored.
#include "kernels/index/indexing.h"

#include "kernels/index/index.h"

namespace rushlight::kernels {

namespace {

#ifdef __OPTIMIZE_SIZE__
constexpr bool kBuildsForSpeed = false;
#else
constexpr bool kBuildsForSpeed = true;
#endif

// Byte offset of element `position`, numbered in row-major order of `shape`, in a tensor that has this shape
// from dimension `first` on. One division for each dimension.
ptrdiff_t offset_at(size_t position, Span<const SizesType> shape, const Tensor& tensor, size_t first) {
  ptrdiff_t offset = 0;
  for (size_t d = shape.size(); d-- > 0;) {
    const auto size = static_cast<size_t>(shape[d]);
    offset += static_cast<ptrdiff_t>(position % size) * byte_stride(tensor, first + d);
    position /= size;
  }
  return offset;
}

// The first true element from `position` on; the number of elements if there is none.
size_t find_true(const Tensor& mask, size_t position) {
  while (position < mask.numel() &&
         mask.const_data_ptr<uint8_t>()[offset_at(position, mask.sizes(), mask, 0)] == 0) {
    ++position;
  }
  return position;
}

SizesType count_true(const Tensor& mask) {
  SizesType count = 0;
  for (size_t i = 0; i < mask.numel(); ++i) count += mask.const_data_ptr<uint8_t>()[i] != 0 ? 1 : 0;
  return count;
}

}  // namespace

Error Indexing::plan(const Tensor& self, Span<const std::optional<Tensor>> indices) {
  size_t dim = 0;
  for (const std::optional<Tensor>& index : indices) {
    if (index.has_value()) RL_TRY(add(self, *index, dim));
    // A mask covers as many dimensions as it has; an integer index and an absent one cover one.
    dim += index.has_value() && items_[count_ - 1].is_mask ? static_cast<size_t>(index->dim()) : 1;
  }
  RL_CHECK(dim <= static_cast<size_t>(self.dim()), Error::InvalidArgument,
           "indices: expected at most %lu, one a dimension of self, got %lu",
           log_number(static_cast<size_t>(self.dim())), log_number(dim));
  return plan_result(self);
}

Error Indexing::add(const Tensor& self, const Tensor& index, size_t dim) {
  const ScalarType type = index.scalar_type();
  const bool is_mask = type == ScalarType::Bool || type == ScalarType::Byte;
  RL_CHECK(is_mask || type == ScalarType::Int || type == ScalarType::Long, Error::InvalidType,
           "indices: expected dtypes int64, int32, bool or uint8, got %s", to_string(type));
  const size_t covers = is_mask ? static_cast<size_t>(index.dim()) : 1;
  RL_CHECK(covers > 0 && dim + covers <= static_cast<size_t>(self.dim()), Error::InvalidArgument,
           "indices: expected one for each dimension of self at most, %lu, got one of %lu for dimension %lu",
           log_number(static_cast<size_t>(self.dim())), log_number(covers), log_number(dim));
  Item item{&index, 1, static_cast<uint8_t>(dim), is_mask, 0, nullptr, 0};
  Shape shape;
  for (size_t d = 0; d < static_cast<size_t>(index.dim()); ++d) {
    RL_CHECK(!is_mask || index.sizes()[d] == self.sizes()[dim + d], Error::InvalidArgument,
             "indices: expected a mask of size %ld for dimension %lu, got %ld",
             static_cast<long>(self.sizes()[dim + d]), log_number(dim + d),
             static_cast<long>(index.sizes()[d]));
    shape.push(index.sizes()[d]);
  }
  if (is_mask) {
    shape.dim = 0;
    // A mask broadcasts like the list of its true positions, which has one dimension.
    shape.push(count_true(index));
  }
  if (shape.dim > 0) item.size = shape.sizes[shape.dim - 1];
  const Shape before = broadcast_;
  RL_TRY(broadcast_shape(before.span(), shape.span(), &broadcast_));
  items_[count_++] = item;
  indexed_ |= ((uint32_t{1} << covers) - 1) << dim;
  return Error::Ok;
}

// PyTorch's rule: the broadcast dimensions replace the indexed ones if these are adjacent, and come first
// otherwise.
//
//   self[:, i, j]   [size 0, broadcast...]
//   self[i, :, j]   [broadcast..., size 1]
Error Indexing::plan_result(const Tensor& self) {
  const auto rank = static_cast<size_t>(self.dim());
  size_t kept = 0;
  for (size_t d = 0; d < rank; ++d) kept += (indexed_ >> d & 1u) == 0 ? 1 : 0;
  RL_CHECK(kept + broadcast_.dim <= kTensorDimensionLimit, Error::InvalidArgument,
           "indices: expected a result of at most %lu dimensions, got %lu", log_number(kTensorDimensionLimit),
           log_number(kept + broadcast_.dim));
  const size_t first = count_ == 0 ? 0 : items_[0].dim;
  // A run of adjacent bits plus 1 has no bit in common with the run.
  const uint32_t run = indexed_ >> first;
  front_ = (run & (run + 1)) == 0 ? first : 0;
  // The extra round at d == rank places the broadcast dimensions behind all kept ones.
  for (size_t d = 0, placed = 0; d < rank || placed == 0; ++d) {
    if (placed == 0 && result_.dim == front_) {
      for (const SizesType size : broadcast_.span()) result_.push(size);
      placed = 1;
    }
    if (d < rank && (indexed_ >> d & 1u) == 0) result_.push(self.sizes()[d]);
  }
  return Error::Ok;
}

// Adds the byte offset in `self` that the item selects at broadcast position `at`.
Error Indexing::offset_of(Item& item, const Tensor& self, const SizesType* at, ptrdiff_t* offset) const {
  const Tensor& index = *item.index;
  if (item.is_mask) {
    // True elements are visited in order along the last broadcast dimension: the search goes on where it
    // stopped, and starts again for the next row.
    const SizesType step = at[broadcast_.dim - 1];
    if (step == 0 || item.size != 1) item.position = find_true(index, step == 0 ? 0 : item.position + 1);
    RL_CHECK(item.position < index.numel(), Error::InvalidArgument,
             "indices: a mask changed during use; it overlaps the written tensor");
    *offset += offset_at(item.position, index.sizes(), self, item.dim);
    return Error::Ok;
  }
  const auto rank = static_cast<size_t>(index.dim());
  // The address is computed once for a row in builds for speed.
  if (!kBuildsForSpeed || rank == 0 || at[broadcast_.dim - 1] == 0) {
    item.at = index.const_data_ptr<char>();
    for (size_t d = 0; d < rank; ++d) {
      item.stride = index.sizes()[d] == 1 ? 0 : byte_stride(index, d);
      item.at += item.stride * at[broadcast_.dim - rank + d];
    }
  }
  int64_t value = read_index(item.at, index.scalar_type());
  if (kBuildsForSpeed) item.at += item.stride;
  RL_TRY(wrap_index(&value, self.sizes()[item.dim]));
  *offset += static_cast<ptrdiff_t>(value) * byte_stride(self, item.dim);
  return Error::Ok;
}

Error Indexing::run(const Tensor& self, const View& selected, Direction direction, Move move) {
  PairedAxes kept;  // from self to selected for kRead
  const auto rank = static_cast<size_t>(self.dim());
  for (size_t i = rank; i-- > 0;) {
    const size_t d = self.dim_order()[i];
    if ((indexed_ >> d & 1u) != 0) continue;
    size_t dim = 0;
    for (size_t before = 0; before < d; ++before) dim += (indexed_ >> before & 1u) == 0 ? 1 : 0;
    if (dim >= front_) dim += broadcast_.dim;
    const ptrdiff_t ours = byte_stride(self, d);
    const ptrdiff_t theirs = selected.strides[dim];
    const auto size = static_cast<size_t>(self.sizes()[d]);
    kept.add(direction == kRead ? Axis{size, ours, theirs} : Axis{size, theirs, ours});
  }
  for (const SizesType size : result_.span()) {
    if (size == 0) return Error::Ok;
  }
  // The innermost kept axis moves as a span; the others are walked for each selected position.
  const Axis run = kept.inner();
  const size_t element = self.element_size();
  const bool is_one_run = kBuildsForSpeed && kept.count(1) == 1;
  const auto move_run = [&](const char* source, char* target) {
    move(target, run.output, source, run.input, run.size, element);
  };
  SizesType at[kTensorDimensionLimit] = {};
  char* theirs = selected.data;
  while (true) {
    ptrdiff_t offset = 0;
    for (size_t i = 0; i < count_; ++i) RL_TRY(offset_of(items_[i], self, at, &offset));
    char* const ours = self.mutable_data_ptr<char>() + offset;
    if (is_one_run) {
      direction == kRead ? move_run(ours, theirs) : move_run(theirs, ours);
    } else if (direction == kRead) {
      kept.walk(ours, theirs, 1, move_run);
    } else {
      kept.walk(theirs, ours, 1, move_run);
    }
    size_t d = broadcast_.dim;
    while (d-- > 0) {
      const ptrdiff_t stride = selected.strides[front_ + d];
      theirs += stride;
      if (++at[d] < broadcast_.sizes[d]) break;
      theirs -= stride * at[d];
      at[d] = 0;
    }
    if (d > broadcast_.dim) return Error::Ok;
  }
}

}  // namespace rushlight::kernels
