// SPDX-License-Identifier: BSD-3-Clause
// Sums are blocked: the microkernels add spans with several accumulators, and the partial sums of 64 spans
// are added before they join the total. This bounds the rounding error of long float32 sums without Kahan
// steps.
#include "kernels/host/float_reduction.h"

#include <algorithm>
#include <type_traits>

#include "kernels/host/elements.h"
#include "kernels/ukernel/doubles.h"
#include "kernels/ukernel/reduce.h"

namespace rushlight::kernels {

namespace {

constexpr size_t kConverted = 8192;  // 16-bit floats that are converted at a time
constexpr size_t kChain = 64;        // partial sums that are added to one block

template <class T>
const T* elements_at(const char* address) {
  return reinterpret_cast<const T*>(address);
}

// NaN wins and stays, as no comparison with it is true.
template <class T>
T better(FoldKind kind, T a, T b) {
  const bool wins = kind == FoldKind::kLargest ? b > a : b < a;
  return wins || b != b ? b : a;
}

// Combines the partial results of several spans, for n outputs. At most kFoldTile outputs: their blocks are
// on the stack.
template <class T>
class Groups {
 public:
  Groups(FoldKind kind, size_t n, T* results) : kind_(kind), n_(n), results_(results) {}

  // Adds the partial results of one more span.
  void add(const T* values) {
    const bool first = seen_ == 0;
    for (size_t i = 0; i < n_; ++i) {
      if (kind_ == FoldKind::kSum) {
        block_[i] = seen_ % kChain == 0 ? values[i] : block_[i] + values[i];
      } else {
        results_[i] = first ? values[i] : better(kind_, results_[i], values[i]);
      }
    }
    if (++seen_ % kChain == 0) close();
  }
  void finish() {
    if (seen_ % kChain != 0 || seen_ == 0) close();
  }

 private:
  // Adds the block of at most kChain partial sums to the total.
  void close() {
    if (kind_ != FoldKind::kSum) return;
    for (size_t i = 0; i < n_; ++i) {
      const T block = seen_ == 0 ? T(0) : block_[i];
      // The first block starts the total, which is not initialized before.
      results_[i] = seen_ <= kChain ? block : results_[i] + block;
    }
  }

  FoldKind kind_;
  size_t n_;
  T* results_;
  size_t seen_ = 0;
  T block_[kFoldTile];
};

}  // namespace

template <>
const FloatFold<float> Folds<float>::kSum = {
    FoldKind::kSum, [](size_t n, const float* x, float) { return ukernel::sum_span(n, x); },
    [](size_t rows, ptrdiff_t stride, size_t n, const float* x, const float*, float* y) {
      ukernel::sum_rows(rows, stride, n, x, y);
    }};
template <>
const FloatFold<float> Folds<float>::kSquares = {FoldKind::kSum, ukernel::squares_span,
                                                 ukernel::squares_rows};
template <>
const FloatFold<float> Folds<float>::kLargest = {
    FoldKind::kLargest, [](size_t n, const float* x, float) { return ukernel::max_span(n, x); },
    [](size_t rows, ptrdiff_t stride, size_t n, const float* x, const float*, float* y) {
      ukernel::max_rows(rows, stride, n, x, y);
    }};
template <>
const FloatFold<float> Folds<float>::kSmallest = {
    FoldKind::kSmallest, [](size_t n, const float* x, float) { return ukernel::min_span(n, x); },
    [](size_t rows, ptrdiff_t stride, size_t n, const float* x, const float*, float* y) {
      ukernel::min_rows(rows, stride, n, x, y);
    }};
template <>
const FloatFold<double> Folds<double>::kSum = {
    FoldKind::kSum, [](size_t n, const double* x, double) { return ukernel::sum_span_f64(n, x); },
    [](size_t rows, ptrdiff_t stride, size_t n, const double* x, const double*, double* y) {
      ukernel::sum_rows_f64(rows, stride, n, x, y);
    }};
template <>
const FloatFold<double> Folds<double>::kSquares = {FoldKind::kSum, ukernel::squares_span_f64,
                                                   ukernel::squares_rows_f64};
template <>
const FloatFold<double> Folds<double>::kLargest = {
    FoldKind::kLargest, [](size_t n, const double* x, double) { return ukernel::max_span_f64(n, x); },
    [](size_t rows, ptrdiff_t stride, size_t n, const double* x, const double*, double* y) {
      ukernel::max_rows_f64(rows, stride, n, x, y);
    }};
template <>
const FloatFold<double> Folds<double>::kSmallest = {
    FoldKind::kSmallest, [](size_t n, const double* x, double) { return ukernel::min_span_f64(n, x); },
    [](size_t rows, ptrdiff_t stride, size_t n, const double* x, const double*, double* y) {
      ukernel::min_rows_f64(rows, stride, n, x, y);
    }};

template <class T>
FloatReduction<T>::FloatReduction(const Reduction& reduction, ScalarType type)
    : reduction_(reduction), type_(type), element_(static_cast<ptrdiff_t>(element_size(type))) {
  constexpr size_t kElements = 4096;  // elements of spans in a tile
  const Axis& inner = reduction.kept().inner();
  apart_ = inner.input;
  columns_ = inner.size;
  tile_ = kFoldTile;
  if (apart_ != element_) {
    // Outputs that are not adjacent are reduced one by one, so a tile has few of them if each has many
    // elements.
    const size_t elements = kElements / (reduction.count() + 1);
    tile_ = elements == 0 ? 1 : elements < kFoldTile ? elements : kFoldTile;
  }
  per_row_ = (columns_ + tile_ - 1) / tile_;
}

template <class T>
size_t FloatReduction<T>::tiles() const {
  return reduction_.kept().count() == 0 ? 0 : reduction_.kept().count(1) * per_row_;
}

template <class T>
size_t FloatReduction<T>::grain() const {
  constexpr size_t kElements = 32768;  // worth another thread
  // Elements that a tile reads.
  const size_t each = reduction_.count() * (columns_ < tile_ ? columns_ : tile_);
  return each >= kElements ? 1 : kElements / (each + 1) + 1;
}

template <class T>
typename FloatReduction<T>::TilePosition FloatReduction<T>::position_of(size_t tile) const {
  const size_t j = tile % per_row_ * tile_;
  const Axis& inner = reduction_.kept().inner();
  TilePosition position{nullptr, nullptr, columns_ - j < tile_ ? columns_ - j : tile_};
  const size_t step = tile / per_row_;
  reduction_.kept().walk_part(reduction_.input(), reduction_.output(), 1, step, step + 1,
                              [&](const char* input, char* output) {
                                position.input = input + static_cast<ptrdiff_t>(j) * inner.input;
                                position.output = output + static_cast<ptrdiff_t>(j) * inner.output;
                              });
  return position;
}

namespace {

// Folds n outputs of `size` adjacent 16-bit floats each, which begin `apart` bytes after one another. If
// outputs are adjacent, too, many are converted together: conversions of a few elements take most of the time
// of short rows.
void fold_widened(const FloatFold<float>& fold, ScalarType type, size_t size, const char* first,
                  ptrdiff_t apart, size_t n, const float* center, float* results) {
  alignas(64) float floats[kConverted];
  const bool adjacent = apart == static_cast<ptrdiff_t>(size * element_size(type));
  const size_t most = adjacent ? kConverted / size : 1;
  for (size_t i = 0; i < n; i += most, first += static_cast<ptrdiff_t>(most) * apart) {
    const size_t outputs = std::min(n - i, most);
    host::load_floats(floats, type, first, 1, outputs * size);
    for (size_t k = 0; k < outputs; ++k) {
      results[i + k] = fold.run(size, floats + k * size, center == nullptr ? 0 : center[i + k]);
    }
  }
}

}  // namespace

template <class T>
void FloatReduction<T>::fold(const FloatFold<T>& fold, const char* first, size_t n, const T* center,
                             T* results) const {
  const PairedAxes& reduced = reduction_.reduced();
  if (apart_ == element_) return fold_floats(fold, type_, reduced, first, n, center, results);
  const Axis& inner = reduced.inner();
  // The reduced elements of an output are one contiguous span: no partial results to combine.
  bool one_run = inner.input == element_ && inner.size != 0 && reduced.count(1) == 1;
  if constexpr (std::is_same_v<T, float>) {
    if (one_run && host::widens(type_) && inner.size <= kConverted)
      return fold_widened(fold, type_, inner.size, first, apart_, n, center, results);
    one_run = one_run && !host::widens(type_);
  }
  for (size_t i = 0; i < n; ++i, first += apart_) {
    if (one_run) {
      results[i] = fold.run(inner.size, elements_at<T>(first), center == nullptr ? T(0) : center[i]);
    } else {
      fold_floats(fold, type_, reduced, first, 1, center == nullptr ? nullptr : center + i, results + i);
    }
  }
}

template <class T>
void FloatReduction<T>::write(const TilePosition& position, const T* results) const {
  const ptrdiff_t stride = position.count == 1 ? 1 : reduction_.kept().inner().output / element_;
  if constexpr (std::is_same_v<T, float>) {
    host::store_floats(position.output, stride, type_, results, position.count);
  } else {
    auto* to = reinterpret_cast<T*>(position.output);
    for (size_t i = 0; i < position.count; ++i, to += stride) *to = results[i];
  }
}

namespace {

// Folds the groups of fold_floats(), each of `inner` elements for each output, which begin at an address.
template <class T>
class GroupFold {
 public:
  GroupFold(const FloatFold<T>& fold, ScalarType type, const Axis& inner, size_t n, const T* center)
      : fold_(fold),
        type_(type),
        inner_(inner),
        stride_(inner.input / static_cast<ptrdiff_t>(element_size(type))),
        n_(n),
        center_(center) {}

  // A group of float32.
  void whole(const char* at, T* to) const {
    if (n_ == 1 && stride_ == 1) {
      *to = fold_.run(inner_.size, elements_at<T>(at), first_center());
    } else {
      fold_.rows(inner_.size, stride_, n_, elements_at<T>(at), center_, to);
    }
  }
  // A group of 16-bit floats, as several groups that fit in a buffer.
  void in_pieces(const char* at, Groups<T>* groups) const {
    alignas(64) T floats[kConverted];
    T values[kFoldTile];
    const size_t most = kConverted / n_;  // rows
    for (size_t row = 0; row < inner_.size; row += most) {
      const size_t rows = std::min(most, inner_.size - row);
      const char* from = at + static_cast<ptrdiff_t>(row) * inner_.input;
      if (n_ == 1) {
        host::load_floats(floats, type_, from, stride_, rows);
        *values = fold_.run(rows, floats, first_center());
      } else {
        // Rows without gaps are one span.
        const bool one_span = stride_ == static_cast<ptrdiff_t>(n_);
        const size_t length = one_span ? rows * n_ : n_;
        for (size_t i = 0; i < rows * n_; i += length, from += inner_.input) {
          host::load_floats(floats + i, type_, from, 1, length);
        }
        fold_.rows(rows, static_cast<ptrdiff_t>(n_), n_, floats, center_, values);
      }
      groups->add(values);
    }
  }

 private:
  [[nodiscard]] T first_center() const { return center_ == nullptr ? T(0) : *center_; }

  const FloatFold<T>& fold_;
  ScalarType type_;
  const Axis& inner_;
  ptrdiff_t stride_;  // in elements
  size_t n_;
  const T* center_;
};

}  // namespace

template <class T>
void fold_floats(const FloatFold<T>& fold, ScalarType type, const PairedAxes& reduced, const char* first,
                 size_t n, const T* center, T* results) {
  const Axis& inner = reduced.inner();
  const GroupFold<T> group(fold, type, inner, n, center);
  const bool converts = std::is_same_v<T, float> && host::widens(type);
  if (!converts && reduced.count(1) == 1 && inner.size != 0) return group.whole(first, results);
  Groups<T> groups(fold.kind, n, results);
  // The walk writes nothing: the axes may hold output strides for another walk.
  reduced.walk(first, const_cast<char*>(first), 1, [&](const char* at, char*) {
    if constexpr (std::is_same_v<T, float>) {
      if (converts) return group.in_pieces(at, &groups);
    }
    T values[kFoldTile];
    group.whole(at, values);
    groups.add(values);
  });
  groups.finish();
}

template class FloatReduction<float>;
template class FloatReduction<double>;
template void fold_floats(const FloatFold<float>&, ScalarType, const PairedAxes&, const char*, size_t,
                          const float*, float*);
template void fold_floats(const FloatFold<double>&, ScalarType, const PairedAxes&, const char*, size_t,
                          const double*, double*);

}  // namespace rushlight::kernels
