// SPDX-License-Identifier: BSD-3-Clause
// Lists of types, implemented on std::tuple: size, element, head, and the list without its first types. For
// the wrappers in make_boxed_from_unboxed_functor.h.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace executorch::extension::kernel_util_internal {

// A name for a list of types; never instantiated as an object.
template <class... Items>
struct typelist final {
  typelist() = delete;
};

// False for all types, for a static_assert that fires only when instantiated.
template <class...>
inline constexpr bool kNever = false;
template <class... T>
using false_t = std::bool_constant<kNever<T...>>;

// The std::tuple with the types of a list, and with one more at the end.
template <class List>
struct tuple_of {
  static_assert(kNever<List>, "expected a typelist");
};
template <class... Items>
struct tuple_of<typelist<Items...>> {
  using type = std::tuple<Items...>;
  template <class Last>
  using followed_by = std::tuple<Items..., Last>;
};

// Number of types, as size<List>::value.
template <class List>
using size = std::tuple_size<typename tuple_of<List>::type>;

// The type at index kIndex; a compile error if the list is shorter.
template <size_t kIndex, class List>
using element = std::tuple_element<kIndex, typename tuple_of<List>::type>;
template <size_t kIndex, class List>
using element_t = typename element<kIndex, List>::type;

// The first type, or Default if the list is empty. Default is appended to the list, so that index 0 exists.
template <class Default, class List>
using head_with_default = std::tuple_element<0, typename tuple_of<List>::template followed_by<Default>>;
template <class Default, class List>
using head_with_default_t = typename head_with_default<Default, List>::type;

// Declared only for their return types: a pointer to Template<...> prefers the first form, any other one the
// second.
template <template <class...> class Template, class... Arguments>
std::true_type is_made_from(const Template<Arguments...>*);
template <template <class...> class>
std::false_type is_made_from(...);
template <class List, size_t kFrom, size_t... kStep>
typelist<element_t<kFrom + kStep, List>...> from_index(std::index_sequence<kStep...>);

// True if T, or the type it refers to, is Template<...> for some types.
template <template <class...> class Template, class T>
using is_instantiation_of =
    decltype(is_made_from<Template>(std::add_pointer_t<std::remove_reference_t<T>>(nullptr)));
template <template <class...> class Template, class T>
using is_instantiation_of_t = typename is_instantiation_of<Template, T>::type;

// A list without its first `count` types; empty if it has fewer.
template <class List, size_t count>
struct drop_if_nonempty {
  static constexpr size_t kLeft = size<List>::value > count ? size<List>::value - count : 0;
  using type = decltype(from_index<List, size<List>::value - kLeft>(std::make_index_sequence<kLeft>()));
};
template <class List, size_t count>
using drop_if_nonempty_t = typename drop_if_nonempty<List, count>::type;

}  // namespace executorch::extension::kernel_util_internal
