// SPDX-License-Identifier: BSD-3-Clause
// Tensors of PyTorch are built from a c10::Storage that does not own its memory. at::from_blob() would derive
// the capacity from the present sizes, and a tensor that shrank could not grow again.
#include "aten/convert.h"

#include <algorithm>
#include <numeric>

#include <ATen/ops/from_blob.h>
#include <ATen/quantized/Quantizer.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include "runtime/base/log.h"

namespace rushlight::aten {

namespace {

using Dimensions = c10::SmallVector<int64_t, 6>;

template <class T>
Dimensions widened(Span<const T> numbers) {
  return Dimensions(numbers.begin(), numbers.end());
}

// Bytes that kernels may write: the largest shape of a planned or given tensor, otherwise the present one.
size_t capacity(const TensorImpl& tensor) {
  const size_t elements = tensor.is_writable() ? tensor.numel_bound() : tensor.numel();
  return elements * element_size(tensor.scalar_type());
}

at::Tensor quantized_alias(const TensorImpl& tensor) {
  return at::from_blob_quantized_per_tensor_affine(
      tensor.mutable_data(), widened(tensor.sizes()), widened(tensor.strides()), [](void*) {},
      /*scale=*/1.0f, /*zeroPoint=*/0, at::TensorOptions().dtype(to_aten(tensor.scalar_type())));
}

template <class Item>
EValue list_value(Tag tag, size_t length, Item fill) {
  EValue list;
  list.tag = tag;
  list.length = static_cast<uint32_t>(length);
  fill(list.payload);
  return list;
}

template <class Item, class From>
c10::List<Item> list_of(const From& items) {
  c10::List<Item> list;
  list.reserve(items.size());
  for (const auto& item : items) list.push_back(item);
  return list;
}

c10::List<at::Tensor> tensors_of(Span<Tensor> tensors) {
  c10::List<at::Tensor> list;
  list.reserve(tensors.size());
  for (const Tensor& tensor : tensors) list.push_back(alias(tensor));
  return list;
}

c10::List<std::optional<at::Tensor>> tensors_of(Span<const std::optional<Tensor>> tensors) {
  c10::List<std::optional<at::Tensor>> list;
  list.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    list.push_back(tensor.has_value() ? std::make_optional(alias(*tensor)) : std::nullopt);
  }
  return list;
}

// Equal layouts: dimensions of size 1 may have any stride.
bool has_strides_of(const at::Tensor& result, const TensorImpl& target) {
  for (int64_t d = 0; d < result.dim(); ++d) {
    const auto stride = target.strides()[static_cast<size_t>(d)];
    if (result.size(d) != 1 && result.stride(d) != stride) return false;
  }
  return true;
}

Error logged(const char* name, Error error, const char* message) {
  RL_LOG(Error, "operator %s: %s", name, message);
  return error;
}

}  // namespace

Result<ScalarType> from_aten(c10::ScalarType type) {
  const auto same = static_cast<ScalarType>(static_cast<int8_t>(type));
  RL_CHECK(element_size(same) != 0, Error::InvalidType, "dtype: %s has no kernels here; convert the tensor",
           c10::toString(type));
  return same;
}

at::Tensor alias(const TensorImpl& tensor) {
  const auto type = to_aten(tensor.scalar_type());
  if (c10::isQIntType(type)) return quantized_alias(tensor);
  c10::Storage storage(c10::Storage::use_byte_size_t(), capacity(tensor),
                       c10::DataPtr(tensor.mutable_data(), c10::Device(c10::DeviceType::CPU)),
                       c10::GetCPUAllocator(), /*resizable=*/true);
  at::Tensor result = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), c10::scalarTypeToTypeMeta(type));
  result.unsafeGetTensorImpl()->set_sizes_and_strides(widened(tensor.sizes()), widened(tensor.strides()));
  return result;
}

Error store(const at::Tensor& result, const Tensor& target, size_t index) {
  if (!result.defined()) return Error::Ok;
  TensorImpl& impl = *target.impl();
  RL_CHECK(result.scalar_type() == to_aten(impl.scalar_type()), Error::InvalidType,
           "result %lu: expected dtype %s, got %s", log_number(index), to_string(impl.scalar_type()),
           c10::toString(result.scalar_type()));
  std::vector<SizesType> sizes;
  for (const int64_t size : result.sizes()) {
    RL_CHECK(size <= INT32_MAX, Error::InvalidArgument, "result %lu: expected sizes below 2^31, got %ld",
             log_number(index), static_cast<long>(size));
    sizes.push_back(static_cast<SizesType>(size));
  }
  RL_CHECK(impl.resize({sizes.data(), sizes.size()}) == Error::Ok, Error::InvalidArgument,
           "result %lu: its shape does not fit the program's tensor", log_number(index));
  if (impl.numel() == 0) return Error::Ok;
  const bool in_place = result.data_ptr() == impl.data();
  if (in_place && has_strides_of(result, impl) && !result.is_conj() && !result.is_neg()) return Error::Ok;
  alias(impl).copy_(in_place ? result.clone() : result);
  return Error::Ok;
}

Error caught(const char* name) noexcept {
  try {
    throw;
  } catch (const c10::NotImplementedError& error) {
    return logged(name, Error::NotSupported, error.what_without_backtrace());
  } catch (const c10::TypeError& error) {
    return logged(name, Error::InvalidType, error.what_without_backtrace());
  } catch (const c10::OutOfMemoryError& error) {
    return logged(name, Error::MemoryAllocationFailed, error.what_without_backtrace());
  } catch (const c10::Error& error) {
    return logged(name, Error::InvalidArgument, error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    return logged(name, Error::MemoryAllocationFailed, "out of memory");
  } catch (const std::exception& error) {
    return logged(name, Error::Internal, error.what());
  } catch (...) {
    return logged(name, Error::Internal, "an unknown exception");
  }
}

Result<std::vector<DimOrderType>> dim_order_of(const at::Tensor& tensor) {
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  RL_CHECK(sizes.size() <= kTensorDimensionLimit, Error::InvalidArgument,
           "tensor: expected at most %lu dimensions, got %lu", log_number(kTensorDimensionLimit),
           log_number(sizes.size()));
  std::vector<DimOrderType> order(sizes.size());
  std::iota(order.begin(), order.end(), DimOrderType{0});
  if (tensor.is_contiguous()) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](DimOrderType a, DimOrderType b) { return strides[a] > strides[b]; });
  int64_t dense = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    if (sizes[d] == 1) continue;  // its stride is never used
    RL_CHECK(strides[d] == dense, Error::InvalidArgument,
             "tensor: dimension %lu has stride %ld, expected %ld; call contiguous()", log_number(d),
             static_cast<long>(strides[d]), static_cast<long>(dense));
    dense *= sizes[d];
  }
  return order;
}

Result<TensorAlias> TensorAlias::make(at::Tensor tensor) {
  RL_CHECK(tensor.defined() && tensor.layout() == c10::Layout::Strided && tensor.device().is_cpu(),
           Error::NotSupported, "tensor: expected a strided one on the CPU; call to_dense() and cpu()");
  RL_CHECK(!tensor.is_conj() && !tensor.is_neg(), Error::NotSupported,
           "tensor: is a lazy conjugate or negation; call resolve_conj() and resolve_neg()");
  RL_TRY_ASSIGN(const ScalarType type, from_aten(tensor.scalar_type()));
  RL_TRY_ASSIGN(std::vector<DimOrderType> order, dim_order_of(tensor));
  std::vector<SizesType> sizes;
  for (const int64_t size : tensor.sizes()) {
    RL_CHECK(size <= INT32_MAX, Error::InvalidArgument, "tensor: expected sizes below 2^31, got %ld",
             static_cast<long>(size));
    sizes.push_back(static_cast<SizesType>(size));
  }
  size_t numel = 0;
  RL_CHECK(checked_numel({sizes.data(), sizes.size()}, &numel), Error::InvalidArgument,
           "tensor: expected fewer than 2^31 elements");
  HostTensor alias(std::move(sizes), type, tensor.data_ptr(), std::move(order));
  return TensorAlias(std::move(tensor), std::move(alias));
}

c10::IValue to_ivalue(const EValue& value) {
  switch (value.tag) {
    case Tag::None:
      return {};
    case Tag::Tensor:
      return alias(value.to_tensor());
    case Tag::String:
      return std::string(value.to_string_view());
    case Tag::Double:
      return value.to_double();
    case Tag::Int:
      return value.to_int();
    case Tag::Bool:
      return value.to_bool();
    case Tag::ListBool:
      return list_of<bool>(value.to_bool_list());
    case Tag::ListDouble:
      return list_of<double>(value.to_double_list());
    case Tag::ListInt:
      return list_of<int64_t>(value.to_int_list());
    case Tag::ListTensor:
      return tensors_of(value.to_tensor_list());
    case Tag::ListOptionalTensor:
      return tensors_of(value.to_optional_tensor_list());
    case Tag::ListScalar:
      break;
  }
  TORCH_CHECK_TYPE(false, "a ", to_string(value.tag), " has no form in PyTorch");
}

c10::IValue to_ivalue(const EValue& value, char code) {
  if (!value.is_number()) return to_ivalue(value);
  switch (code) {
    case 'i':
    case 'I':
      return value.to_int();
    case 'd':
    case 'D':
      return value.to_double();
    case 'b':
    case 'B':
      return value.to_bool();
    default:
      return to_ivalue(value);
  }
}

Result<EValue*> Values::add(const c10::IValue& value) {
  if (value.isNone()) return keep(EValue());
  if (value.isTensor()) {
    RL_TRY_ASSIGN(TensorAlias tensor, TensorAlias::make(value.toTensor()));
    return keep(EValue(tensors_.emplace_back(std::move(tensor)).tensor()));
  }
  if (value.isBool()) return keep(EValue(value.toBool()));
  if (value.isInt()) return keep(EValue(value.toInt()));
  if (value.isDouble()) return keep(EValue(value.toDouble()));
  if (value.isString()) return keep(EValue(std::string_view(strings_.emplace_back(value.toStringRef()))));
  if (value.isDevice()) return keep(EValue(std::string_view(strings_.emplace_back(value.toDevice().str()))));
  return add_list(value);
}

Result<EValue*> Values::add_list(const c10::IValue& value) {
  if (value.isDoubleList()) {
    auto& items = doubles_.emplace_back(value.toDoubleVector());
    return keep(list_value(Tag::ListDouble, items.size(),
                           [&](EValue::Payload& payload) { payload.as_double_list = items.data(); }));
  }
  if (value.isBoolList()) {
    const auto list = value.toBoolList();
    auto& items = bools_.emplace_back(std::make_unique<bool[]>(list.size()));
    for (size_t i = 0; i < list.size(); ++i) items[i] = list.get(i);
    return keep(list_value(Tag::ListBool, list.size(),
                           [&](EValue::Payload& payload) { payload.as_bool_list = items.get(); }));
  }
  if (value.isIntList()) {
    auto& items = ints_.emplace_back(value.toIntVector());
    const auto& list = int_lists_.emplace_back(BoxedList<int64_t>{nullptr, items.data()});
    return keep(list_value(Tag::ListInt, items.size(),
                           [&](EValue::Payload& payload) { payload.as_int_list = &list; }));
  }
  return add_tensors(value);
}

Result<EValue*> Values::add_tensors(const c10::IValue& value) {
  if (value.isTensorList()) {
    auto& items = tensor_items_.emplace_back();
    for (const at::Tensor& tensor : value.toTensorVector()) {
      RL_TRY_ASSIGN(TensorAlias made, TensorAlias::make(tensor));
      items.push_back(tensors_.emplace_back(std::move(made)).tensor());
    }
    const auto& list = tensor_lists_.emplace_back(BoxedList<Tensor>{nullptr, items.data()});
    return keep(list_value(Tag::ListTensor, items.size(),
                           [&](EValue::Payload& payload) { payload.as_tensor_list = &list; }));
  }
  RL_CHECK(value.isOptionalTensorList(), Error::InvalidType, "argument: a %s has no form in a program",
           value.tagKind().c_str());
  auto& items = optional_items_.emplace_back();
  for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
    if (!tensor.has_value()) {
      items.emplace_back();
      continue;
    }
    RL_TRY_ASSIGN(TensorAlias made, TensorAlias::make(*tensor));
    items.emplace_back(tensors_.emplace_back(std::move(made)).tensor());
  }
  const auto& list = optional_lists_.emplace_back(BoxedList<std::optional<Tensor>>{nullptr, items.data()});
  return keep(list_value(Tag::ListOptionalTensor, items.size(),
                         [&](EValue::Payload& payload) { payload.as_optional_tensor_list = &list; }));
}

}  // namespace rushlight::aten
