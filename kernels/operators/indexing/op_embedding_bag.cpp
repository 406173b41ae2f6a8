// SPDX-License-Identifier: BSD-3-Clause
// Embedding bag: the sum, mean or maximum of the embedding rows of each bag, where a bag is a span of
// `indices` that begins at an offset. Computes column by column, so that one accumulator suffices and no
// scratch is needed, at the price of reading the indices again for each column. Bounds are checked again at
// every read, because index tensors may change. 16-bit floats accumulate in float and are rounded once.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/index.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

enum Mode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

struct Bags {
  const Tensor& weight;
  const Tensor& indices;
  const Tensor& offsets;
  const std::optional<Tensor>& scales;  // one factor for each index, or none
  int64_t mode;
  bool last_offset;  // the last offset is the number of indices
  int64_t padding;   // the row to skip, or -1
  ptrdiff_t count = 0;

  [[nodiscard]] int64_t index(ptrdiff_t i) const { return read(indices, i); }
  // The first index of a bag, which is the end of the bag before. Clamped, because the tensor may have
  // changed.
  [[nodiscard]] ptrdiff_t start(ptrdiff_t bag) const {
    if (bag == count) return last_offset ? within(read(offsets, bag)) : indices.sizes()[0];
    return within(read(offsets, bag));
  }

  // Reads an index of a vector of int32 or int64.
  static int64_t read(const Tensor& tensor, ptrdiff_t i) {
    return read_index(tensor.const_data_ptr<char>() + i * byte_stride(tensor, 0), tensor.scalar_type());
  }
  [[nodiscard]] ptrdiff_t within(int64_t offset) const {
    const int64_t size = indices.sizes()[0];
    return static_cast<ptrdiff_t>(offset < 0 ? 0 : (offset > size ? size : offset));
  }
};

// Proves shapes and dtypes, that the offsets ascend from 0 to at most the number of indices, and that each
// index is a row of `weight`.
Error check_bags(const Bags& bags) {
  RL_CHECK(bags.weight.dim() == 2, Error::InvalidArgument, "weight: expected 2 dimensions, got %d",
           static_cast<int>(bags.weight.dim()));
  RL_TRY(check_index_dtype(bags.indices));
  RL_TRY(check_index_dtype(bags.offsets));
  RL_CHECK(bags.indices.dim() == 1 && bags.offsets.dim() == 1, Error::InvalidArgument,
           "indices and offsets: expected 1 dimension, got %d and %d", static_cast<int>(bags.indices.dim()),
           static_cast<int>(bags.offsets.dim()));
  RL_CHECK(bags.mode >= kSum && bags.mode <= kMax, Error::InvalidArgument, "mode: expected 0 to 2, got %lld",
           static_cast<long long>(bags.mode));
  const ptrdiff_t offsets = bags.offsets.sizes()[0];
  RL_CHECK(!bags.last_offset || offsets >= 1, Error::InvalidArgument,
           "offsets: expected at least the last offset, got none");
  int64_t before = 0;
  for (ptrdiff_t i = 0; i < offsets; ++i) {
    const int64_t offset = Bags::read(bags.offsets, i);
    RL_CHECK((i > 0 || offset == 0) && offset >= before && offset <= bags.indices.sizes()[0],
             Error::InvalidArgument, "offsets: %lld at %ld: expected ascending values from 0 to %ld",
             static_cast<long long>(offset), static_cast<long>(i),
             static_cast<long>(bags.indices.sizes()[0]));
    before = offset;
  }
  for (ptrdiff_t i = 0; i < bags.indices.sizes()[0]; ++i) {
    RL_TRY(check_index(bags.index(i), bags.weight.sizes()[0]));
  }
  if (!bags.scales) return Error::Ok;
  RL_CHECK(bags.mode == kSum, Error::InvalidArgument, "per_sample_weights: expected none for mode %lld",
           static_cast<long long>(bags.mode));
  RL_TRY(check_same_dtype(bags.weight, *bags.scales, "weight and per_sample_weights"));
  RL_CHECK(bags.scales->dim() == 1 && bags.scales->size(0) == bags.indices.size(0), Error::InvalidArgument,
           "per_sample_weights: expected one for each of %ld indices",
           static_cast<long>(bags.indices.size(0)));
  return Error::Ok;
}

// Combines one column of a bag. `members` is the number of rows combined, without the padding row, `largest`
// the row of the maximum. An empty bag gives 0. A NaN is a maximum only if it is the first member. T is float
// or double.
template <class T>
T combine(const Bags& bags, ptrdiff_t bag, ptrdiff_t column, int64_t* members, int64_t* largest) {
  T result = 0;
  *members = 0;
  *largest = 0;
  const char* const data = bags.weight.const_data_ptr<char>() + column * byte_stride(bags.weight, 1);
  for (ptrdiff_t i = bags.start(bag); i < bags.start(bag + 1); ++i) {
    const int64_t index = bags.index(i);
    if (index == bags.padding || index < 0 || index >= bags.weight.sizes()[0]) continue;
    T value = load_as<T>(data + static_cast<ptrdiff_t>(index) * byte_stride(bags.weight, 0),
                         bags.weight.scalar_type());
    if (bags.scales) {
      value *= load_as<T>(bags.scales->const_data_ptr<char>() + i * byte_stride(*bags.scales, 0),
                          bags.scales->scalar_type());
    }
    if (bags.mode != kMax) {
      result += value;
    } else if (*members == 0 || value > result) {
      result = value;
      *largest = index;
    }
    ++*members;
  }
  return bags.mode == kMean && *members > 0 ? result / static_cast<T>(*members) : result;
}

struct Results {
  const Tensor& output;
  const Tensor& offset2bag;
  const Tensor& bag_size;
  const Tensor& max_indices;
};

void store_at(const Tensor& tensor, ptrdiff_t i, int64_t value) {
  store_integer(tensor.mutable_data_ptr<char>() + i * byte_stride(tensor, 0), tensor.scalar_type(), value);
}

// Computes one bag: its row of the output, its size and the bag numbers of its indices.
template <class T>
void fill_bag(const Bags& bags, ptrdiff_t bag, const Results& results) {
  const ptrdiff_t columns = bags.weight.sizes()[1];
  int64_t members = 0;
  int64_t largest = 0;
  for (ptrdiff_t column = 0; column < columns; ++column) {
    const T value = combine<T>(bags, bag, column, &members, &largest);
    store_as<T>(results.output.mutable_data_ptr<char>() + bag * byte_stride(results.output, 0) +
                    column * byte_stride(results.output, 1),
                results.output.scalar_type(), value);
    if (bags.mode != kMax) continue;
    store_integer(results.max_indices.mutable_data_ptr<char>() + bag * byte_stride(results.max_indices, 0) +
                      column * byte_stride(results.max_indices, 1),
                  results.max_indices.scalar_type(), largest);
  }
  if (bags.mode == kSum) members = 0;  // sums need no count; PyTorch stores 0
  store_at(results.bag_size, bag, members);
  if (bags.mode != kMax) store_at(results.max_indices, bag, members);
  if (results.offset2bag.numel() == 0) return;
  for (ptrdiff_t i = bags.start(bag); i < bags.start(bag + 1); ++i) store_at(results.offset2bag, i, bag);
}

// PyTorch leaves offset2bag empty for sums of float32 and 16-bit rows without a padding index; so does this.
bool names_bags(const Bags& bags) {
  return bags.mode != kSum || bags.padding >= 0 || bags.weight.scalar_type() == ScalarType::Double;
}

Error resize_results(const Bags& bags, bool forward_only, const Results& results) {
  RL_TRY(check_same_dtype(bags.weight, results.output, "weight and out0"));
  for (const Tensor* tensor : {&results.offset2bag, &results.bag_size, &results.max_indices}) {
    RL_TRY(check_index_dtype(*tensor));
    RL_TRY(check_loadable(*tensor));
  }
  const auto count = static_cast<SizesType>(bags.count);
  const SizesType rows[] = {count, bags.weight.sizes()[1]};
  const SizesType named = names_bags(bags) ? bags.indices.sizes()[0] : 0;
  // For sums, the forward-only operator has one size for each offset, also for the last.
  const SizesType sizes = forward_only && bags.mode == kSum ? bags.offsets.sizes()[0] : count;
  RL_TRY(resize_out(results.output, {rows, 2}));
  RL_TRY(resize_out(results.offset2bag, {&named, 1}));
  RL_TRY(resize_out(results.bag_size, {&sizes, 1}));
  if (bags.mode == kMax) return resize_out(results.max_indices, {rows, 2});
  return resize_out(results.max_indices, {&sizes, 1});
}

Error embedding_bag(TypeSet types, Bags bags, bool forward_only, const Results& results) {
  constexpr TypeSet kTypes =
      selected_types("aten::_embedding_bag.out") | selected_types("aten::_embedding_bag_forward_only.out");
  const ScalarType type = bags.weight.scalar_type();
  if (!contains(types & types::kFloating, type)) return unsupported_type(type);
  RL_TRY(check_bags(bags));
  bags.count = bags.offsets.sizes()[0] - (bags.last_offset ? 1 : 0);
  RL_TRY(resize_results(bags, forward_only, results));
  // Sizes of bags that do not exist: the last offset begins none.
  for (ptrdiff_t i = bags.count; i < results.bag_size.size(0); ++i) {
    store_at(results.bag_size, i, 0);
    store_at(results.max_indices, i, 0);
  }
  return dispatch<computed_in(kTypes & types::kFloating)>(computed_type(type), [&](auto held) {
    using T = typename decltype(held)::Element;
    for (ptrdiff_t bag = 0; bag < bags.count; ++bag) fill_bag<T>(bags, bag, results);
    return Error::Ok;
  });
}

}  // namespace

// out0: the combined rows. out1: the bag of each index. out2: the size of each bag. out3: for maxima, the row
// that each maximum came from.
Error _embedding_bag_out(KernelContext&, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                         bool, int64_t mode, bool, const std::optional<Tensor>& per_sample_weights,
                         bool include_last_offset, int64_t padding_idx, Tensor& out0, Tensor& out1,
                         Tensor& out2, Tensor& out3) {
  constexpr TypeSet kOwnTypes = selected_types("aten::_embedding_bag.out");
  return embedding_bag(kOwnTypes,
                       {weight, indices, offsets, per_sample_weights, mode, include_last_offset, padding_idx},
                       false, {out0, out1, out2, out3});
}

Error _embedding_bag_forward_only_out(KernelContext&, const Tensor& weight, const Tensor& indices,
                                      const Tensor& offsets, bool, int64_t mode, bool,
                                      const std::optional<Tensor>& per_sample_weights,
                                      bool include_last_offset, int64_t padding_idx, Tensor& out0,
                                      Tensor& out1, Tensor& out2, Tensor& out3) {
  constexpr TypeSet kOwnTypes = selected_types("aten::_embedding_bag_forward_only.out");
  return embedding_bag(kOwnTypes,
                       {weight, indices, offsets, per_sample_weights, mode, include_last_offset, padding_idx},
                       true, {out0, out1, out2, out3});
}

}  // namespace rushlight::kernels
