// SPDX-License-Identifier: BSD-3-Clause
// A tensor is a typed view over memory that somebody else owns. TensorImpl holds the description,
// Tensor is a copyable handle to one. Layout is strided through a dim order: a permutation of the
// dimensions from outermost to innermost, always dense.
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

inline constexpr size_t kTensorDimensionLimit = 16;

enum class TensorShapeDynamism : uint8_t {
  STATIC = 0,         // the shape never changes; its sizes may lie in read-only memory
  DYNAMIC_BOUND = 1,  // may shrink and grow again up to the number of elements at construction
  DYNAMIC_UNBOUND = 2,
};

// Where a tensor's memory comes from: that decides who may write to it, and how much.
enum class Storage : uint8_t {
  None,          // none yet
  Constant,      // the program's; never written
  Planned,       // memory for numel_bound() elements, for good
  Given,         // likewise, by the caller for an output
  Lent,          // an input used in place: memory for the elements it has now
  View,          // another tensor's memory, until the next execution: as large as its elements now
  ConstantView,  // a constant's; never written
};

class TensorImpl {
 public:
  // `sizes`, `dim_order` and `strides` hold `dim` entries each and outlive the tensor. Sizes are
  // non-negative and their product, in bytes, fits size_t: whoever builds a tensor has proven it.
  // A static tensor only reads `sizes` and `dim_order`. `strides` may be null when dim is 0.
  TensorImpl(ScalarType type, ptrdiff_t dim, SizesType* sizes, void* data, DimOrderType* dim_order,
             StridesType* strides, TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC);

  // One that is known while compiling, where nothing is left to compute: `strides` are those of `sizes` in
  // `dim_order`, `numel` is the product of `sizes`.
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
  [[nodiscard]] size_t numel_bound() const { return numel_bound_; }
  [[nodiscard]] size_t nbytes() const { return numel_ * element_size(type_); }
  [[nodiscard]] TensorShapeDynamism shape_dynamism() const { return dynamism_; }
  [[nodiscard]] const void* data() const { return data_; }
  [[nodiscard]] void* mutable_data() const { return data_; }
  [[nodiscard]] Storage storage() const { return storage_; }
  void set_data(void* data, Storage storage = Storage::Planned) {
    data_ = data;
    storage_ = storage;
  }
  // A number for where the memory lies, below 64. Kernels compute on the host's alone.
  static constexpr uint8_t kHost = 0;
  [[nodiscard]] uint8_t device() const { return device_; }
  void set_device(uint8_t device) { device_ = device & 63; }
  // Whether a kernel may write to the memory in every shape the tensor can take.
  [[nodiscard]] bool is_writable() const;

  // Takes new sizes of the same rank. A static tensor takes only its own sizes; a bounded one any
  // whose product is within numel_bound(). Data stays where it is.
  // Errors: InvalidArgument (rank, negative size), NotSupported (static), OutOfResources (bound).
  Error resize(Span<const SizesType> sizes);

  // Takes new sizes, over the memory of `base`, which has the same dtype and number of elements. A
  // tensor that the program gave memory to stays there: its base has to lie at the same place.
  // Errors: as resize(), and InvalidArgument.
  Error make_view(const TensorImpl& base, Span<const SizesType> sizes);

  // A mark for whoever walks over tensors that may be named twice; clear between walks.
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

class Tensor {
 public:
  explicit constexpr Tensor(TensorImpl* impl) : impl_(impl) {}

  [[nodiscard]] ScalarType scalar_type() const { return impl_->scalar_type(); }
  [[nodiscard]] ptrdiff_t dim() const { return impl_->dim(); }
  [[nodiscard]] ptrdiff_t size(ptrdiff_t d) const { return impl_->sizes()[static_cast<size_t>(d)]; }
  [[nodiscard]] Span<const SizesType> sizes() const { return impl_->sizes(); }
  [[nodiscard]] Span<const DimOrderType> dim_order() const { return impl_->dim_order(); }
  [[nodiscard]] Span<const StridesType> strides() const { return impl_->strides(); }
  [[nodiscard]] size_t numel() const { return impl_->numel(); }
  [[nodiscard]] size_t nbytes() const { return impl_->nbytes(); }
  [[nodiscard]] size_t element_size() const { return rushlight::element_size(impl_->scalar_type()); }

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

// Whether the dim order is 0, 1, 2, … (row major).
bool is_contiguous_dim_order(Span<const DimOrderType> order);
// Whether it is 0, 2, …, n-1, 1 (channels last; rank 4 or 5).
bool is_channels_last_dim_order(Span<const DimOrderType> order);

// Product of `sizes`, or false when one is negative or the product exceeds size_t.
[[nodiscard]] bool checked_numel(Span<const SizesType> sizes, size_t* numel);

}  // namespace rushlight
