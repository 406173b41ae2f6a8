// SPDX-License-Identifier: BSD-3-Clause
// A tensor is a typed view of memory that it does not own. TensorImpl holds the description (dtype, sizes,
// strides, memory); Tensor is a copyable handle to one. The layout is dense and follows a dim order: a
// permutation of the dimensions from outermost to innermost.
//
//   int32_t sizes[] = {1, 3}, strides[2];
//   uint8_t dim_order[] = {0, 1};
//   float data[3] = {};
//   TensorImpl impl(ScalarType::Float, 2, sizes, data, dim_order, strides);
//   Tensor tensor(&impl);
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/scalar_type.h"

namespace rushlight {

using SizesType = int32_t;
using StridesType = int32_t;
using DimOrderType = uint8_t;

// The largest rank.
inline constexpr size_t kTensorDimensionLimit = 16;

// The permitted changes of a tensor's shape. The enumerators are ExecuTorch's.
enum class TensorShapeDynamism : uint8_t {
  STATIC = 0,         // the shape never changes; its sizes may be in read-only memory
  DYNAMIC_BOUND = 1,  // may change up to the number of elements at construction
  // The runtime treats it like DYNAMIC_BOUND.
  DYNAMIC_UNBOUND = 2,
};

// The owner of a tensor's memory, which determines who may write to it and how many bytes.
enum class Storage : uint8_t {
  None,          // no memory yet
  Constant,      // a constant of the program; never written
  Planned,       // planned memory for numel_bound() elements, as long as the method lives
  Given,         // set by the caller for an output; numel_bound() elements
  Lent,          // an input used in place: memory for its current elements
  View,          // alias of another tensor until the next execution; as large as its current elements
  ConstantView,  // alias of a constant; never written
};

// Description of one tensor. It owns neither its memory nor its arrays of sizes, dim order and strides.
class TensorImpl {
 public:
  // `sizes`, `dim_order` and `strides` have `dim` entries each and must outlive the tensor; the constructor
  // fills `strides`. Preconditions: sizes are non-negative and their product passes checked_numel(). A static
  // tensor only reads `sizes` and `dim_order`. `strides` may be null if dim is 0.
  TensorImpl(ScalarType type, ptrdiff_t dim, SizesType* sizes, void* data, DimOrderType* dim_order,
             StridesType* strides, TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC);

  // For tensors known at compile time; computes nothing. `strides` must match `sizes` and `dim_order`, and
  // `numel` the product of `sizes`.
  constexpr TensorImpl(ScalarType type, size_t dim, SizesType* sizes, DimOrderType* dim_order,
                       StridesType* strides, size_t numel, void* data, Storage storage,
                       TensorShapeDynamism dynamism)
      : sizes_(sizes),
        dim_order_(dim_order),
        strides_(strides),
        data_(data),
        numel_(numel),
        numel_bound_(numel),
        dim_(static_cast<uint8_t>(dim)),
        type_(type),
        dynamism_(dynamism),
        device_(kHost),
        storage_(storage),
        marked_(false) {}

  [[nodiscard]] ScalarType scalar_type() const { return type_; }
  [[nodiscard]] ptrdiff_t dim() const { return dim_; }
  [[nodiscard]] Span<const SizesType> sizes() const { return {sizes_, dim_}; }
  [[nodiscard]] Span<const DimOrderType> dim_order() const { return {dim_order_, dim_}; }
  [[nodiscard]] Span<const StridesType> strides() const { return {strides_, dim_}; }  // in elements
  [[nodiscard]] size_t numel() const { return numel_; }
  // Capacity: the number of elements at construction.
  [[nodiscard]] size_t numel_bound() const { return numel_bound_; }
  // Bytes of the current elements.
  [[nodiscard]] size_t nbytes() const { return numel_ * element_size(type_); }
  [[nodiscard]] TensorShapeDynamism shape_dynamism() const { return dynamism_; }
  [[nodiscard]] const void* data() const { return data_; }
  [[nodiscard]] void* mutable_data() const { return data_; }
  [[nodiscard]] Storage storage() const { return storage_; }
  // Replaces the memory. It must hold the elements that `storage` requires.
  void set_data(void* data, Storage storage = Storage::Planned) {
    data_ = data;
    storage_ = storage;
  }
  // Device index of the memory, below 64. Kernels only compute on kHost.
  static constexpr uint8_t kHost = 0;
  [[nodiscard]] uint8_t device() const { return device_; }
  void set_device(uint8_t device) { device_ = device & 63; }
  // Returns true if a kernel may write to the memory in every shape that the tensor can take.
  [[nodiscard]] bool is_writable() const;

  // Sets new sizes of the same rank and recomputes the strides; the memory is unchanged. A static tensor
  // accepts only its own sizes, another one any whose product is at most numel_bound(). Errors:
  // InvalidArgument (rank, negative size), NotSupported (static), OutOfResources (capacity).
  Error resize(Span<const SizesType> sizes);

  // Sets new sizes and makes the tensor an alias of `base`, which must have the same dtype and number of
  // elements. A tensor with planned or constant memory keeps it; the memory of `base` must then be the same.
  // Errors: as resize(), and InvalidArgument.
  Error make_view(const TensorImpl& base, Span<const SizesType> sizes);

  // A mark for algorithms that visit tensors which may be listed twice. Must be clear when none is active.
  [[nodiscard]] bool is_marked() const { return marked_; }
  void set_marked(bool marked) { marked_ = marked; }

 private:
  void compute_strides();

  SizesType* sizes_;
  DimOrderType* dim_order_;
  StridesType* strides_;
  void* data_;
  size_t numel_;
  size_t numel_bound_;
  uint8_t dim_;
  ScalarType type_;
  TensorShapeDynamism dynamism_ : 2;
  uint8_t device_ : 6;
  Storage storage_ : 7;
  bool marked_ : 1;
};

// A copyable handle to a TensorImpl, which must outlive it. Two handles are equal if they refer to the same
// TensorImpl.
class Tensor {
 public:
  explicit constexpr Tensor(TensorImpl* impl) : impl_(impl) {}

  [[nodiscard]] ScalarType scalar_type() const { return impl_->scalar_type(); }
  [[nodiscard]] ptrdiff_t dim() const { return impl_->dim(); }
  // Size of dimension `d`. Precondition: 0 <= d < dim().
  [[nodiscard]] ptrdiff_t size(ptrdiff_t d) const { return impl_->sizes()[static_cast<size_t>(d)]; }
  [[nodiscard]] Span<const SizesType> sizes() const { return impl_->sizes(); }
  [[nodiscard]] Span<const DimOrderType> dim_order() const { return impl_->dim_order(); }
  [[nodiscard]] Span<const StridesType> strides() const { return impl_->strides(); }
  [[nodiscard]] size_t numel() const { return impl_->numel(); }
  [[nodiscard]] size_t nbytes() const { return impl_->nbytes(); }
  [[nodiscard]] size_t element_size() const { return rushlight::element_size(impl_->scalar_type()); }

  // The elements as T. The caller checks the dtype.
  template <class T = void>
  [[nodiscard]] const T* const_data_ptr() const {
    return static_cast<const T*>(impl_->data());
  }
  template <class T = void>
  [[nodiscard]] T* mutable_data_ptr() const {
    return static_cast<T*>(impl_->mutable_data());
  }

  [[nodiscard]] TensorImpl* impl() const { return impl_; }
  bool operator==(const Tensor& other) const { return impl_ == other.impl_; }

 private:
  TensorImpl* impl_;
};

// Returns true if the dim order is 0, 1, 2, … (row-major).
bool is_contiguous_dim_order(Span<const DimOrderType> order);
// Returns true if the dim order is 0, 2, …, n-1, 1 (channels-last; rank 4 or 5).
bool is_channels_last_dim_order(Span<const DimOrderType> order);

// Writes the product of `sizes` to `*numel`. Returns false if a size is negative or the product of the
// nonzero sizes exceeds INT32_MAX, so that strides fit.
[[nodiscard]] bool checked_numel(Span<const SizesType> sizes, size_t* numel);

}  // namespace rushlight
