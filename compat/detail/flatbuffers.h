// SPDX-License-Identifier: BSD-3-Clause
// The base of the classes in executorch/schema/program_generated.h and similar headers: Google's FlatBuffers
// library if its headers are on the include path, otherwise the reading half of its interface, implemented on
// runtime/program/flatbuffer.h. As in the library, an object's address is the address of its data in the
// file, and reading checks nothing: a Verifier, or Program::load, verifies a file first. Define
// RUSHLIGHT_FLATBUFFERS_LIBRARY as 0 or 1 to choose.
//
//   file     u32 offset of the root | 4 bytes identifier | objects
//   table    i32 offset of its vtable, subtracted from its address | fields
//   vtable   u16 its bytes | u16 the table's bytes | u16 offset of each field, 0 for an absent one
//   vector   u32 count | elements: scalars, or u32 offsets, each relative to itself
#pragma once

#ifndef RUSHLIGHT_FLATBUFFERS_LIBRARY
#if __has_include(<flatbuffers/flatbuffers.h>)
#define RUSHLIGHT_FLATBUFFERS_LIBRARY 1
#else
#define RUSHLIGHT_FLATBUFFERS_LIBRARY 0
#endif
#endif

#if RUSHLIGHT_FLATBUFFERS_LIBRARY

#include <flatbuffers/flatbuffers.h>

#else

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/program/flatbuffer.h"

// An inline namespace, because files of one program may be compiled with and without the library.
namespace flatbuffers {
inline namespace reading {

// Offsets forwards, offsets of either sign, and offsets within a table.
using uoffset_t = uint32_t;
using soffset_t = int32_t;
using voffset_t = uint16_t;

// Reads a scalar at any address; writes one. Little-endian, like this machine.
template <class T>
T ReadScalar(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void WriteScalar(void* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

// An element of a vector: the offset, from its own address, of a table or string. T is the class of its
// target.
template <class T>
struct Offset {
  uoffset_t o;
};

// How a vector's element is read: a scalar or struct as a copy, a table or string as a pointer.
template <class T>
struct Element {
  using Read = T;
  static constexpr size_t kBytes = sizeof(T);
  static Read at(const uint8_t* element_address) { return ReadScalar<T>(element_address); }
};
template <class T>
struct Element<Offset<T>> {
  using Read = const T*;
  static constexpr size_t kBytes = sizeof(uoffset_t);
  static Read at(const uint8_t* element_address) {
    return reinterpret_cast<const T*>(element_address + ReadScalar<uoffset_t>(element_address));
  }
};

// A vector in a file: a 32-bit count, then the elements. The object is the file's memory, so it is never
// created or copied. Indices are not checked.
template <class T>
class Vector {
 public:
  // The library's names, which generated code and algorithms use.
  using return_type = typename Element<T>::Read;
  using value_type = return_type;
  using size_type = uoffset_t;

  // Random access over the elements' addresses.
  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = return_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const return_type*;
    using reference = return_type;

    const_iterator() = default;
    explicit const_iterator(const uint8_t* element_address) : element_address_(element_address) {}
    return_type operator*() const { return Element<T>::at(element_address_); }
    return_type operator->() const { return Element<T>::at(element_address_); }
    return_type operator[](difference_type n) const { return *(*this + n); }
    const_iterator& operator+=(difference_type n) {
      element_address_ += n * static_cast<difference_type>(Element<T>::kBytes);
      return *this;
    }
    const_iterator& operator-=(difference_type n) { return *this += -n; }
    const_iterator& operator++() { return *this += 1; }
    const_iterator& operator--() { return *this += -1; }
    // Postfix forms return the iterator before the step.
    const_iterator operator++(int) {
      return const_iterator((*this += 1).element_address_ - Element<T>::kBytes);
    }
    const_iterator operator--(int) {
      return const_iterator((*this += -1).element_address_ + Element<T>::kBytes);
    }
    const_iterator operator+(difference_type n) const { return const_iterator(*this) += n; }
    const_iterator operator-(difference_type n) const { return const_iterator(*this) += -n; }
    // Precondition: both belong to the same vector.
    difference_type operator-(const const_iterator& other) const {
      return (element_address_ - other.element_address_) / static_cast<difference_type>(Element<T>::kBytes);
    }
    bool operator==(const const_iterator& other) const { return element_address_ == other.element_address_; }
    bool operator!=(const const_iterator& other) const { return element_address_ != other.element_address_; }
    bool operator<(const const_iterator& other) const { return element_address_ < other.element_address_; }

   private:
    const uint8_t* element_address_ = nullptr;
  };
  using iterator = const_iterator;

  Vector() = delete;
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  uoffset_t size() const { return ReadScalar<uoffset_t>(this); }
  bool empty() const { return size() == 0; }
  // Precondition: i < size().
  return_type Get(uoffset_t i) const { return Element<T>::at(Data() + Element<T>::kBytes * i); }
  return_type operator[](uoffset_t i) const { return Get(i); }
  // The table at index `i`, for writing if the file's memory is writable.
  auto GetMutableObject(uoffset_t i) const { return const_cast<std::remove_const_t<Pointed>*>(Get(i)); }

  const_iterator begin() const { return const_iterator(Data()); }
  const_iterator end() const { return const_iterator(Data() + Element<T>::kBytes * size()); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }

  // The address of the first element, as bytes.
  const uint8_t* Data() const { return reinterpret_cast<const uint8_t*>(this) + sizeof(uoffset_t); }
  // The scalars as an array: the format and this machine are little-endian.
  const T* data() const { return reinterpret_cast<const T*>(Data()); }

 private:
  using Pointed = std::remove_pointer_t<return_type>;
};

// Text with a length and, in the file, a zero byte behind it.
class String : public Vector<char> {
 public:
  const char* c_str() const { return data(); }
  // A copy; string_view() refers to the file, without a copy.
  std::string str() const { return std::string(data(), size()); }
  std::string_view string_view() const { return {data(), size()}; }
};

// The fields of a table, by their offsets in its vtable, as the generated classes pass them (4, 6, 8, ...). A
// field that the file lacks gives `absent`, or a null pointer.
class Table {
 public:
  Table() = delete;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // A scalar in the table.
  template <class T>
  T GetField(voffset_t field, T absent) const {
    return view().scalar<T>(slot(field), absent);
  }
  // A table, vector or string that the table refers to; P is a pointer to its class.
  template <class P>
  P GetPointer(voffset_t field) const {
    return reinterpret_cast<P>(view().table(slot(field)).address());
  }

 private:
  // rushlight numbers fields from 0; a vtable begins with two 16-bit sizes.
  static unsigned slot(voffset_t field) { return (field - 2 * sizeof(voffset_t)) / sizeof(voffset_t); }
  // The same address under rushlight's class, which implements the reading.
  rushlight::flatbuffer::Table view() const {
    return rushlight::flatbuffer::Table(reinterpret_cast<const uint8_t*>(this));
  }
};

// The root table: the file begins with its 32-bit offset, and with an identifier of 4 bytes behind it.
template <class T>
const T* GetRoot(const void* file) {
  return Element<Offset<T>>::at(static_cast<const uint8_t*>(file));
}
// True if the file has this identifier. Precondition: 8 bytes or more.
inline bool BufferHasIdentifier(const void* file, const char* identifier) {
  return std::memcmp(static_cast<const char*>(file) + sizeof(uoffset_t), identifier, 4) == 0;
}

// Verifies a file in memory, which must be aligned to 8 bytes and outlive the verifier. Linear in the size of
// the file. Only whole files: the library's VerifyTable() and its like are missing.
class Verifier {
 public:
  Verifier(const uint8_t* file, size_t size) : file_(file), size_(size) {}

  // Returns true if the file has the identifier, and tables that match `types`.
  [[nodiscard]] bool proves(const rushlight::flatbuffer::TableType* types, const char* identifier) const {
    // The root offset and the identifier; 8 is also the largest alignment of a scalar.
    constexpr size_t kHead = 8;
    return size_ >= kHead && reinterpret_cast<uintptr_t>(file_) % kHead == 0 &&
           BufferHasIdentifier(file_, identifier) &&
           rushlight::flatbuffer::verify({file_, size_}, types) == rushlight::Error::Ok;
  }

 private:
  const uint8_t* file_;
  size_t size_;
};

}  // namespace reading
}  // namespace flatbuffers

#endif
