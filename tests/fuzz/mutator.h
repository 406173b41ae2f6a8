// SPDX-License-Identifier: BSD-3-Clause
// Changes to a FlatBuffers file that use the positions of its offsets, counts, scalars and names, and random
// damage that does not. A third of the mutations keep the form of the file, so that it passes verification
// and reaches the loader and the kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/program/flatbuffer.h"
#include "tests/fuzz/choices.h"
#include "tests/fuzz/sites.h"

namespace rushlight::fuzz {

class Mutator {
 public:
  // `types` describe the file's tables, the root first.
  Mutator(const flatbuffer::TableType* types, Choices& choices) : types_(types), choices_(choices) {}

  // Applies one to four of the changes below to data[0, size); returns the new size, at most `capacity`.
  size_t mutate(uint8_t* data, size_t size, size_t capacity);

 private:
  // Applies one change, chosen with weights; see the tables in mutator.cpp.
  void once();
  // At any byte.
  void flip_bits();
  void overwrite_word();
  void swap_words();
  void resize();
  // At sites.
  // Values: extreme, small, or near the present one; then of the header; then offsets and strings.
  void set_number();
  void set_small_number();
  void step_number();
  void shift_segments();
  void retarget();
  void swap_siblings();
  void copy_sibling();
  void copy_element();
  void rename();

  // A random site, or one of the same group as `site`: null if a number of attempts finds none.
  const Site* any(bool (*wanted)(SiteKind kind));
  const Site* sibling(const Site& site);
  // The little-endian number at a site, and a replacement that tends to break range checks.
  [[nodiscard]] uint64_t get(const Site& site) const;
  void set(const Site& site, uint64_t value);
  uint64_t interesting(uint64_t now, unsigned width);

  const flatbuffer::TableType* types_;
  Choices& choices_;
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  std::vector<Site> sites_;
  bool keeps_form_ = false;  // sizes, memory offsets, scalars and jumps only: the file stays well-formed
};

}  // namespace rushlight::fuzz
