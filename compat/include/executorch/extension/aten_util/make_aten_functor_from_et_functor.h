// SPDX-License-Identifier: BSD-3-Clause
// Turns a kernel on ExecuTorch's tensors into a function on PyTorch's, which TORCH_LIBRARY registers:
//
//   Tensor& double_out(KernelRuntimeContext& context, const Tensor& in, Tensor& out);
//
//   TORCH_LIBRARY(mine, m) { m.def("double.out", WRAP_TO_ATEN(double_out, 1)); }
//
// The number is the index of the first output among the arguments without the context; a kernel that returns
// no output needs none. Tensors are views of PyTorch's memory. Only one that is not dense is copied to a
// row-major one, and back after the call if it is an output. A kernel that fails its context throws
// c10::Error.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <executorch/extension/aten_util/aten_bridge.h>
#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/array_ref.h>
#include <executorch/runtime/core/portable_type/tensor.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <torch/types.h>

namespace executorch::extension::internal RUSHLIGHT_TENSOR_MODE {

namespace et = executorch::runtime::etensor;

// ExecuTorch's type of an argument, as PyTorch's: tensors, also in optionals, lists and tuples; others stay.
template <class T>
struct type_map {
  using type = T;
};
template <class T>
struct type_map<const T> {
  using type = const typename type_map<T>::type;
};
template <class T>
struct type_map<T&> {
  using type = typename type_map<T>::type&;
};
template <>
struct type_map<et::Tensor> {
  using type = at::Tensor;
};
template <class T>
struct type_map<std::optional<T>> {
  using type = std::optional<typename type_map<T>::type>;
};
template <class T>
struct type_map<runtime::ArrayRef<T>> {
  using type = c10::ArrayRef<typename type_map<T>::type>;
};
template <class... Each>
struct type_map<std::tuple<Each...>> {
  using type = std::tuple<typename type_map<Each>::type...>;
};

// A value of one side as a value of the other, which lives as long as the converter. Numbers are copied.
template <class From, class To>
class Converter {
 public:
  explicit Converter(const From& given) : value_(static_cast<To>(given)) {}
  To& value() { return value_; }

 private:
  To value_;
};

// A view of a tensor of PyTorch.
template <>
class Converter<at::Tensor, et::Tensor> {
 public:
  explicit Converter(const at::Tensor& given)
      : given_(given),
        dense_(given.is_non_overlapping_and_dense() ? given : given.contiguous()),
        view_(alias_tensor_ptr_to_attensor(dense_)) {}
  et::Tensor& value() { return *view_; }
  // For an output: gives PyTorch's tensor the sizes, and the elements if they are elsewhere.
  void write_back() {
    std::vector<int64_t> sizes(view_->sizes().begin(), view_->sizes().end());
    if (dense_.sizes() != c10::IntArrayRef(sizes)) dense_.resize_(sizes);
    if (dense_.is_same(given_)) return;
    if (given_.sizes() != c10::IntArrayRef(sizes)) given_.resize_(sizes);
    given_.copy_(dense_);
  }

 private:
  at::Tensor given_;
  at::Tensor dense_;
  TensorPtr view_;
};

template <>
class Converter<et::Tensor, at::Tensor> {
 public:
  explicit Converter(const et::Tensor& given) : value_(alias_attensor_to_etensor(given)) {}
  at::Tensor& value() { return value_; }

 private:
  at::Tensor value_;
};

template <class From, class To>
class Converter<std::optional<From>, std::optional<To>> {
 public:
  explicit Converter(const std::optional<From>& given) {
    if (!given.has_value()) return;
    item_.emplace(*given);
    value_ = item_->value();
  }
  std::optional<To>& value() { return value_; }

 private:
  std::optional<Converter<From, To>> item_;
  std::optional<To> value_;
};

// Lists of both sides. A list of numbers keeps its memory.
template <class From, class To, class List>
class ListConverter {
 public:
  template <class Given>
  explicit ListConverter(const Given& given) {
    if constexpr (std::is_same_v<From, To>) {
      value_ = List(given.data(), given.size());
    } else {
      items_.reserve(given.size());
      values_.reserve(given.size());
      for (const From& item : given) {
        items_.push_back(std::make_unique<Converter<From, To>>(item));
        values_.push_back(items_.back()->value());
      }
      value_ = List(values_.data(), values_.size());
    }
  }
  List& value() { return value_; }

 private:
  std::vector<std::unique_ptr<Converter<From, To>>> items_;
  std::vector<std::conditional_t<std::is_same_v<From, To>, char, To>> values_;
  List value_;
};
template <class From, class To>
class Converter<c10::ArrayRef<From>, runtime::ArrayRef<To>>
    : public ListConverter<From, To, runtime::ArrayRef<To>> {
 public:
  using ListConverter<From, To, runtime::ArrayRef<To>>::ListConverter;
};
template <class From, class To>
class Converter<runtime::ArrayRef<From>, c10::ArrayRef<To>>
    : public ListConverter<From, To, c10::ArrayRef<To>> {
 public:
  using ListConverter<From, To, c10::ArrayRef<To>>::ListConverter;
};

template <class... From, class... To>
class Converter<std::tuple<From...>, std::tuple<To...>> {
  using Items = std::tuple<Converter<std::decay_t<From>, std::decay_t<To>>...>;

 public:
  explicit Converter(const std::tuple<From...>& given)
      : items_(std::apply([](const auto&... each) { return Items(each...); }, given)),
        value_(std::apply([](auto&... each) { return std::tuple<To...>(each.value()...); }, items_)) {}
  std::tuple<To...>& value() { return value_; }

 private:
  Items items_;
  std::tuple<To...> value_;
};

// The same under the official name: call() returns the value as To, which may be a reference.
template <class From, class To>
class type_convert {
 public:
  explicit type_convert(From value) : converter_(value) {}
  To call() { return converter_.value(); }

 private:
  Converter<std::decay_t<From>, std::decay_t<To>> converter_;
};

// Gives an output its new sizes; nothing for other arguments.
template <class Argument, class Item>
void write_back([[maybe_unused]] Item& item) {
  if constexpr (std::is_same_v<Argument, et::Tensor&>) item.write_back();
}

// The function on PyTorch's types for a kernel with these parameters, without its context. `Out` is the index
// of the first output, -1 for none.
template <class Result, class Call, int Out, class... Args>
typename type_map<Result>::type call_wrapped(Call call, typename type_map<Args>::type... args) {
  std::tuple<Converter<std::decay_t<typename type_map<Args>::type>, std::decay_t<Args>>...> items(args...);
  auto run = [&] {
    return std::apply([&](auto&... each) -> Result { return call(static_cast<Args>(each.value())...); },
                      items);
  };
  auto finish = [&] { std::apply([](auto&... each) { (write_back<Args>(each), ...); }, items); };
  if constexpr (Out >= 0) {
    static_cast<void>(run());
    finish();
    auto arguments = std::forward_as_tuple(args...);
    if constexpr (std::is_reference_v<Result>) {
      return std::get<static_cast<size_t>(Out)>(arguments);
    } else {
      return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
        return typename type_map<Result>::type(std::get<static_cast<size_t>(Out) + kIndex>(arguments)...);
      }(std::make_index_sequence<std::tuple_size_v<Result>>());
    }
  } else if constexpr (std::is_void_v<Result>) {
    run();
    finish();
  } else {
    static_assert(!std::is_reference_v<Result>, "expected the index of the output: WRAP_TO_ATEN(kernel, N)");
    Converter<Result, typename type_map<Result>::type> result(run());
    finish();
    return result.value();
  }
}

template <class Function, Function function, int Out = -1>
struct wrapper_impl;

template <class Result, class... Args, Result (*function)(Args...), int Out>
struct wrapper_impl<Result (*)(Args...), function, Out> {
  static typename type_map<Result>::type wrap(typename type_map<Args>::type... args) {
    return call_wrapped<Result, Result (*)(Args...), Out, Args...>(function, args...);
  }
};

// A kernel with a context: it gets scratch from the heap.
template <class Result, class... Args,
          Result (*function)(executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext&, Args...), int Out>
struct wrapper_impl<Result (*)(executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext&, Args...), function,
                    Out> {
  static typename type_map<Result>::type wrap(typename type_map<Args>::type... args) {
    MallocMemoryAllocator scratch;
    executorch::ET_RUNTIME_NAMESPACE::KernelRuntimeContext context(nullptr, &scratch);
    auto check = [&] {
      TORCH_CHECK(context.failure_state() == runtime::Error::Ok, "kernel: failed with error ",
                  static_cast<int>(context.failure_state()));
    };
    auto call = [&](Args... each) -> Result {
      if constexpr (std::is_void_v<Result>) {
        function(context, each...);
        check();
      } else {
        Result result = function(context, each...);
        check();
        return result;
      }
    };
    return call_wrapped<Result, decltype(call), Out, Args...>(call, args...);
  }
};

}  // namespace executorch::extension::internalRUSHLIGHT_TENSOR_MODE

// The function on PyTorch's types: WRAP_TO_ATEN(kernel, N), or WRAP_TO_ATEN(kernel) without an output.
#define WRAP_TO_ATEN(...) RUSHLIGHT_CHOSEN(__VA_ARGS__, RUSHLIGHT_WRAPPED_OUT, RUSHLIGHT_WRAPPED)(__VA_ARGS__)
#define RUSHLIGHT_CHOSEN(first, second, chosen, ...) chosen
#define RUSHLIGHT_WRAPPED_OUT(kernel, out) \
  ::executorch::extension::internal::wrapper_impl<decltype(&kernel), &kernel, out>::wrap
#define RUSHLIGHT_WRAPPED(kernel) \
  ::executorch::extension::internal::wrapper_impl<decltype(&kernel), &kernel>::wrap
