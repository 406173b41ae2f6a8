// SPDX-License-Identifier: BSD-3-Clause
// Defines storage-only element types: a struct with one public integer, as quantized and bits dtypes have
// them. It has the integer's size and no arithmetic; a kernel reads the member. Default construction leaves
// the integer undefined.
#pragma once

#include <cstdint>

#define RUSHLIGHT_STORED_AS(integer, member, name)       \
  struct name {                                          \
    using underlying = integer;                          \
    name() = default;                                    \
    explicit name(underlying stored) : member(stored) {} \
    underlying member;                                   \
  };                                                     \
  static_assert(sizeof(name) == sizeof(integer), "no padding");
