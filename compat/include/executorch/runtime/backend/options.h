// SPDX-License-Identifier: BSD-3-Clause
// Backend settings: names with a bool, an int or a text. All have a fixed size and are copied by value, so
// that no heap is needed. An option takes about 320 bytes, whatever its type.
//
//   BackendOptions<3> options;
//   options.set_option("use_cache", true);
//   set_option("MyBackend", options.view());
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <variant>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/span.h>

namespace executorch::runtime {

// Bytes of a key and of a text, with their zero bytes.
static constexpr size_t kMaxOptionKeyLength = 64;
static constexpr size_t kMaxOptionValueLength = 256;

// A text has a zero byte within its array. A bool is not an int: reading one as the other fails.
using OptionValue = std::variant<bool, int, std::array<char, kMaxOptionValueLength>>;

// One setting; an empty key and the value false by default. To read an option of a running backend, pass one
// with its key to get_option() (backend/interface.h), which fills in the value.
struct BackendOption {
  char key[kMaxOptionKeyLength]{};
  OptionValue value;
};

namespace internal {

// Reads the first option with this key as T (bool, int or const char*). A text points into `options`. `out`
// is unchanged on an error. Errors: NotFound, InvalidArgument (another type).
template <class T>
Error read_option(Span<const BackendOption> options, const char* key, T& out) {
  for (const BackendOption& option : options) {
    if (std::strcmp(option.key, key) != 0) continue;
    if constexpr (std::is_same_v<T, const char*>) {
      const auto* text = std::get_if<std::array<char, kMaxOptionValueLength>>(&option.value);
      if (text == nullptr) return Error::InvalidArgument;
      out = text->data();
    } else {
      const T* value = std::get_if<T>(&option.value);
      if (value == nullptr) return Error::InvalidArgument;
      out = *value;
    }
    return Error::Ok;
  }
  return Error::NotFound;
}

}  // namespace internal

// Up to MaxCapacity options; setting a key again replaces its value, also by one of another type. Keys are
// literals of at most 63 characters, which is checked at compile time. Lookup compares keys one by one.
template <size_t MaxCapacity>
class BackendOptions {
 public:
  BackendOptions() = default;
  BackendOptions(const BackendOptions&) = default;
  BackendOptions& operator=(const BackendOptions&) = default;

  // The options set so far, for LoadBackendOptionsMap or set_option(). Points into this object: it does not
  // contain options that are added later.
  Span<BackendOption> view() { return {options_, size_}; }

  // Sets a bool. Error: InvalidArgument (full).
  template <size_t N>
  Error set_option(const char (&key)[N], bool value) noexcept {
    return set<N>(key, value);
  }
  // Sets an int. Error: InvalidArgument (full).
  template <size_t N>
  Error set_option(const char (&key)[N], int value) noexcept {
    return set<N>(key, value);
  }
  // Sets a text, which is copied and cut to 255 bytes; it must not be null. Error: InvalidArgument (full).
  template <size_t N>
  Error set_option(const char (&key)[N], const char* value) noexcept {
    std::array<char, kMaxOptionValueLength> text{};
    for (size_t i = 0; i + 1 < text.size() && value[i] != '\0'; ++i) text[i] = value[i];
    return set<N>(key, text);
  }

  // Reads an option as T: bool, int or const char*. A text is valid until the option changes or the object is
  // destroyed. Errors: NotFound, InvalidArgument (another type).
  template <class T, size_t N>
  Error get_option(const char (&key)[N], T& out) const {
    static_assert(N <= kMaxOptionKeyLength, "key: too long");
    return internal::read_option(Span<const BackendOption>(options_, size_), key, out);
  }

 private:
  template <size_t N, class T>
  Error set(const char* key, const T& value) {
    static_assert(N <= kMaxOptionKeyLength, "key: too long");
    for (size_t i = 0; i < size_; ++i) {
      if (std::strcmp(options_[i].key, key) != 0) continue;
      options_[i].value = value;
      return Error::Ok;
    }
    if (size_ == MaxCapacity) return Error::InvalidArgument;
    std::memcpy(options_[size_].key, key, N);
    options_[size_++].value = value;
    return Error::Ok;
  }

  BackendOption options_[MaxCapacity]{};
  size_t size_ = 0;
};

}  // namespace executorch::runtime
