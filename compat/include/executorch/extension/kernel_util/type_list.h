// SPDX-License-Identifier: BSD-3-Clause
// Lists of types.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace executorch::extension::kernel_util_internal {

template <class... T>
struct false_t : std::false_type {};

template <class... Items>
struct typelist final {
  typelist() = delete;
};

template <class TypeList>
struct size final {
  static_assert(false_t<TypeList>::value, "expected a typelist");
};
template <class... Types>
struct size<typelist<Types...>> final {
  static constexpr size_t value = sizeof...(Types);
};

template <template <class...> class Template, class T>
struct is_instantiation_of : std::false_type {};
template <template <class...> class Template, class... Args>
struct is_instantiation_of<Template, Template<Args...>> : std::true_type {};
template <template <class...> class Template, class T>
using is_instantiation_of_t = typename is_instantiation_of<Template, T>::type;

template <size_t Index, class TypeList>
struct element final {
  static_assert(false_t<TypeList>::value, "expected a typelist");
};
template <class Head, class... Tail>
struct element<0, typelist<Head, Tail...>> {
  using type = Head;
};
template <size_t Index, class Head, class... Tail>
struct element<Index, typelist<Head, Tail...>> : element<Index - 1, typelist<Tail...>> {};
template <size_t Index, class TypeList>
using element_t = typename element<Index, TypeList>::type;

template <class Default, class TypeList>
struct head_with_default final {
  using type = Default;
};
template <class Default, class Head, class... Tail>
struct head_with_default<Default, typelist<Head, Tail...>> final {
  using type = Head;
};
template <class Default, class TypeList>
using head_with_default_t = typename head_with_default<Default, TypeList>::type;

// The elements at offset + each index.
template <class TypeList, size_t offset, class IndexSequence>
struct take_elements final {};
template <class TypeList, size_t offset, size_t... Indices>
struct take_elements<TypeList, offset, std::index_sequence<Indices...>> final {
  using type = typelist<element_t<offset + Indices, TypeList>...>;
};

// Without the first `num`, or empty when there are no more.
template <class TypeList, size_t num>
struct drop_if_nonempty final {
  static_assert(is_instantiation_of<typelist, TypeList>::value, "expected a typelist");
  static constexpr size_t kDropped = num < size<TypeList>::value ? num : size<TypeList>::value;
  using type = typename take_elements<TypeList, kDropped,
                                      std::make_index_sequence<size<TypeList>::value - kDropped>>::type;
};
template <class TypeList, size_t num>
using drop_if_nonempty_t = typename drop_if_nonempty<TypeList, num>::type;

}  // namespace executorch::extension::kernel_util_internal
