// SPDX-License-Identifier: BSD-3-Clause
// Binary search. Values of other dtypes than the sequence are compared as double. A NaN goes to the end of
// the sequence.
#include "kernels/sorting/sorted_search.h"

#include "kernels/checks/checks.h"
#include "kernels/elements/element_access.h"
#include "kernels/walk/fibers.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

struct Sequence {
  const Fiber& elements;
  const Fiber* order;  // of the sorter, or null
  ScalarType type;

  // With a sorter, position i of the sorted order is element order[i]. The sorter is data: each entry is
  // checked.
  Error at(ptrdiff_t i, const char** element) const {
    int64_t position = i;
    if (order != nullptr) {
      position = order->at<int64_t>(i);
      RL_CHECK(position >= 0 && position < elements.size, Error::InvalidArgument,
               "sorter: expected positions in [0, %ld), got %ld", static_cast<long>(elements.size),
               static_cast<long>(position));
    }
    *element = elements.data + static_cast<ptrdiff_t>(position) * elements.stride;
    return Error::Ok;
  }

  // The first position whose element is not below the value (or is above it, with `right`). NaN never is.
  Error find(const char* value, ScalarType value_type, bool right, ptrdiff_t* found) const {
    ptrdiff_t first = 0;
    for (ptrdiff_t last = elements.size; first < last;) {
      const ptrdiff_t middle = first + (last - first) / 2;
      const char* element = nullptr;
      RL_TRY(at(middle, &element));
      const int order = compare(element, value, value_type);
      // NaN counts as not below anything, so a search that meets one goes right.
      if (order == kUnordered || (right ? order <= 0 : order < 0)) {
        first = middle + 1;
      } else {
        last = middle;
      }
    }
    *found = first;
    return Error::Ok;
  }

 private:
  static constexpr int kUnordered = 2;

  [[nodiscard]] int compare(const char* element, const char* value, ScalarType value_type) const {
    if (is_nan_element(element, type) || is_nan_element(value, value_type)) return kUnordered;
    if (type == value_type) return compare_elements(element, value, type);
    const double a = load_number(element, type);
    const double b = load_number(value, value_type);
    return static_cast<int>(a > b) - static_cast<int>(a < b);
  }
};

Error check_shapes(const Tensor& sequences, const Tensor& values, const Tensor* sorter) {
  RL_CHECK(sequences.dim() > 0, Error::InvalidArgument, "sorted_sequence: expected at least one dimension");
  if (sequences.dim() > 1) {
    // One sequence serves all values; several pair with values of the same outer indices.
    RL_CHECK(sequences.dim() == values.dim(), Error::InvalidArgument,
             "self: expected %ld dimensions, as the sequences have, got %ld",
             static_cast<long>(sequences.dim()), static_cast<long>(values.dim()));
    for (ptrdiff_t d = 0; d + 1 < sequences.dim(); ++d) {
      RL_CHECK(sequences.size(d) == values.size(d), Error::InvalidArgument,
               "self: expected size %ld in dimension %ld, as the sequences have, got %ld",
               static_cast<long>(sequences.size(d)), static_cast<long>(d), static_cast<long>(values.size(d)));
    }
  }
  if (sorter == nullptr) return Error::Ok;
  RL_CHECK(sorter->scalar_type() == ScalarType::Long, Error::InvalidType,
           "sorter: expected dtype int64, got %s", to_string(sorter->scalar_type()));
  bool fits = sorter->dim() == sequences.dim();
  for (ptrdiff_t d = 0; fits && d < sequences.dim(); ++d) fits = sorter->size(d) == sequences.size(d);
  RL_CHECK(fits, Error::InvalidArgument, "sorter: expected the shape of sorted_sequence");
  return Error::Ok;
}

}  // namespace

ScalarType searched_type(const Scalar& value, ScalarType type) {
  return is_floating(type) || !value.is_floating() ? type : ScalarType::Float;
}

Error search_sorted(TypeSet types, const Tensor& sequences, const Tensor& values, const Search& search,
                    const Tensor& out) {
  const ScalarType type = sequences.scalar_type();
  const ScalarType value_type = values.scalar_type();
  if (!contains(types, type)) return unsupported_type(type);
  RL_TRY(check_shapes(sequences, values, search.sorter));
  // int32 positions suffice, as sizes are int32; int64 is PyTorch's default.
  const ScalarType wanted = search.as_int32 ? ScalarType::Int : ScalarType::Long;
  RL_CHECK(out.scalar_type() == wanted, Error::InvalidType, "out: expected dtype %s, got %s",
           to_string(wanted), to_string(out.scalar_type()));
  RL_TRY(resize_out(out, values.sizes()));

  // Values, results, sequences and sorters are walked together, fiber by fiber along the last dimension; the
  // fibers of values and sequences may differ in length.
  const View targets = at_least_1d(out);
  const View sources = at_least_1d(values);
  const size_t last = sources.dim - 1;
  // Fibers of the values, paired with the start of their sequence and of its sorter.
  const auto beside = [&](const Tensor& tensor) {
    // The only sequence serves all values: stride 0 in their outer dimensions.
    View view = View::of(tensor);
    if (view.dim != sources.dim) {
      const ptrdiff_t stride = view.strides[0];
      const SizesType size = view.sizes[0];
      view = sources;
      for (size_t d = 0; d < view.dim; ++d) view.strides[d] = 0;
      view.data = tensor.mutable_data_ptr<char>();
      view.strides[last] = stride;
      view.sizes[last] = size;
    }
    return view;
  };
  const View views[] = {sources, targets, beside(sequences),
                        beside(search.sorter != nullptr ? *search.sorter : sequences)};
  return for_each_fiber(views, last, [&](const Fiber* fibers) {
    const Sequence sequence{fibers[2], search.sorter != nullptr ? &fibers[3] : nullptr, type};
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i) {
      ptrdiff_t found = 0;
      RL_TRY(sequence.find(fibers[0].data + i * fibers[0].stride, value_type, search.right, &found));
      store_integer(fibers[1].data + i * fibers[1].stride, wanted, found);
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
