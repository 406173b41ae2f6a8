// SPDX-License-Identifier: BSD-3-Clause
// Structure-aware mutation. A third of the mutants change only the values of fields, so the file passes the
// verifier and reaches the code behind it; the others may damage offsets, counts and any byte. Sites are
// found once per mutant: after a change of an offset, later changes hit positions of the former structure.
#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/kernel/operator_table.h"

namespace rushlight::fuzz {

namespace {

bool is_number(SiteKind kind) { return kind != SiteKind::Text; }
bool is_plain(SiteKind kind) {
  return kind == SiteKind::Scalar || kind == SiteKind::Element || kind == SiteKind::Tag;
}
bool is_offset(SiteKind kind) { return kind == SiteKind::Offset; }
bool is_element(SiteKind kind) { return kind == SiteKind::Element; }
bool is_header(SiteKind kind) { return kind == SiteKind::Header; }
bool is_text(SiteKind kind) { return kind == SiteKind::Text; }
bool has_siblings(SiteKind kind) { return kind == SiteKind::Offset || is_plain(kind); }

}  // namespace

size_t Mutator::mutate(uint8_t* data, size_t size, size_t capacity) {
  data_ = data;
  size_ = size;
  capacity_ = capacity;
  sites_ = find_sites({data, size}, types_);
  keeps_form_ = choices_.one_in(3);
  for (size_t i = 1 + choices_.below(4); i-- > 0;) once();
  return size_;
}

void Mutator::once() {
  using Change = void (Mutator::*)();
  static constexpr Change kAnywhere[] = {&Mutator::flip_bits, &Mutator::overwrite_word, &Mutator::swap_words};
  static constexpr Change kAtSites[] = {
      &Mutator::set_number,   &Mutator::set_number,     &Mutator::step_number,   &Mutator::step_number,
      &Mutator::retarget,     &Mutator::retarget,       &Mutator::swap_siblings, &Mutator::swap_siblings,
      &Mutator::copy_sibling, &Mutator::copy_sibling,   &Mutator::copy_element,  &Mutator::rename,
      &Mutator::rename,       &Mutator::shift_segments,
  };
  static constexpr Change kOfMeaning[] = {&Mutator::set_small_number, &Mutator::set_small_number,
                                          &Mutator::copy_sibling, &Mutator::copy_element};
  if (size_ < 8) return;
  if (keeps_form_) return (this->*kOfMeaning[choices_.below(std::size(kOfMeaning))])();
  if (choices_.one_in(40)) return resize();
  if (sites_.empty() || choices_.one_in(3)) return (this->*kAnywhere[choices_.below(std::size(kAnywhere))])();
  (this->*kAtSites[choices_.below(std::size(kAtSites))])();
}

void Mutator::flip_bits() {
  const size_t at = choices_.below(size_);
  data_[at] =
      choices_.one_in(2) ? static_cast<uint8_t>(data_[at] ^ (1u << choices_.below(8))) : choices_.byte();
}

void Mutator::overwrite_word() {
  const uint32_t word =
      choices_.of<uint32_t>({0xffffffff, 0x7fffffff, 0xffffffff, 0x7fffffff, 0x80000000, 0});
  std::memcpy(data_ + choices_.below(size_ / 4) * 4, &word, sizeof word);
}

void Mutator::swap_words() {
  uint8_t* a = data_ + choices_.below(size_ / 4) * 4;
  uint8_t* b = data_ + choices_.below(size_ / 4) * 4;
  if (a != b) std::swap_ranges(a, a + 4, b);
}

void Mutator::resize() {
  if (choices_.one_in(4) && size_ < capacity_) {
    const size_t more = std::min(capacity_ - size_, choices_.below(64) + 1);
    std::memset(data_ + size_, choices_.byte(), more);
    size_ += more;
  } else {
    size_ = choices_.one_in(2) ? size_ - choices_.below(std::min<size_t>(size_, 64)) : choices_.below(size_);
  }
  // Drops sites beyond the new end.
  sites_ = find_sites({data_, size_}, types_);
}

void Mutator::set_number() {
  const Site* site = any(choices_.one_in(2) ? is_number : is_plain);
  if (site != nullptr) set(*site, interesting(get(*site), site->width));
}

void Mutator::set_small_number() {
  const Site* site = any(is_plain);
  if (site != nullptr) set(*site, choices_.of<uint64_t>({0, 1, 2, 3, 4, 8, 16, ~uint64_t{0}}));
}

void Mutator::step_number() {
  const Site* site = any(choices_.one_in(3) ? is_number : is_plain);
  if (site != nullptr)
    set(*site, get(*site) + choices_.of<uint64_t>({1, ~uint64_t{0}, 2, ~uint64_t{0} - 1, 4, 8}));
}

void Mutator::shift_segments() {
  const Site* site = any(is_header);
  if (site == nullptr) return;
  const uint64_t step = uint64_t{1} << choices_.below(12);
  set(*site, choices_.one_in(2) ? get(*site) + step : get(*site) - step);
}

// Points an offset to the target of another one.
void Mutator::retarget() {
  const Site* site = any(is_offset);
  const Site* other = site == nullptr ? nullptr : choices_.one_in(2) ? any(is_offset) : sibling(*site);
  if (other != nullptr) set(*site, other->at + get(*other) - site->at);
}

void Mutator::swap_siblings() {
  const Site* a = any(has_siblings);
  const Site* b = a == nullptr ? nullptr : sibling(*a);
  if (b == nullptr) return;
  const uint64_t from_a = get(*a);
  const uint64_t from_b = get(*b);
  const uint64_t apart = a->kind == SiteKind::Offset ? uint64_t{b->at} - a->at : 0;
  set(*a, from_b + apart);
  set(*b, from_a - apart);
}

void Mutator::copy_sibling() {
  const Site* to = any(is_plain);
  const Site* from = to == nullptr ? nullptr : sibling(*to);
  if (from != nullptr) set(*to, get(*from));
}

void Mutator::copy_element() {
  const Site* to = any(is_element);
  const Site* from = any(is_element);
  if (to != nullptr && from != nullptr) set(*to, get(*from));
}

// Overwrites a string with the name of an operator, or with a part of one, as far as it fits.
void Mutator::rename() {
  const Site* site = any(is_text);
  if (site == nullptr || site->at < 4 || selected_operators.size == 0) return;
  const char* name = selected_operators.entries[choices_.below(selected_operators.size)].name;
  const char* dot = std::strrchr(name, '.');
  // Name and overload are two strings: changes both if the next string is the overload.
  const size_t length = dot == nullptr ? std::strlen(name) : static_cast<size_t>(dot - name);
  const auto put = [this](const Site& text, const char* from, size_t count) {
    const uint64_t held = read_number({data_, size_}, text.at - 4, 4);
    const size_t capacity = (static_cast<size_t>(std::min<uint64_t>(held, 255)) | 3);
    if (count > capacity || text.at + capacity >= size_) return false;
    std::memset(data_ + text.at, 0, capacity);
    std::memcpy(data_ + text.at, from, count);
    const auto length32 = static_cast<uint32_t>(count);
    std::memcpy(data_ + text.at - 4, &length32, sizeof length32);
    return true;
  };
  if (!put(*site, name, length)) return;
  const Site* next = site;
  while (++next != sites_.data() + sites_.size()) {
    if (next->kind != SiteKind::Text) continue;
    put(*next, dot == nullptr ? "" : dot + 1, dot == nullptr ? 0 : std::strlen(dot + 1));
    break;
  }
}

// A random site accepted by `wanted`, or null after 64 tries.
const Site* Mutator::any(bool (*wanted)(SiteKind)) {
  for (int i = 0; i < 64 && !sites_.empty(); ++i) {
    const Site& site = sites_[choices_.below(sites_.size())];
    if (wanted(site.kind) && size_t{site.at} + site.width <= size_) return &site;
  }
  return nullptr;
}

const Site* Mutator::sibling(const Site& site) {
  for (int i = 0; i < 64; ++i) {
    const Site& other = sites_[choices_.below(sites_.size())];
    if (other.group == site.group && other.kind == site.kind && other.at != site.at &&
        size_t{other.at} + other.width <= size_) {
      return &other;
    }
  }
  return nullptr;
}

uint64_t Mutator::get(const Site& site) const { return read_number({data_, size_}, site.at, site.width); }

void Mutator::set(const Site& site, uint64_t value) { std::memcpy(data_ + site.at, &value, site.width); }

uint64_t Mutator::interesting(uint64_t now, unsigned width) {
  constexpr uint64_t kOne = 1;
  if (width <= 2) {
    return choices_.of<uint64_t>(
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 27, 0x7f, 0x80, 0xff, 0xffff, 0x8000});
  }
  return choices_.of<uint64_t>({0,
                                1,
                                2,
                                3,
                                4,
                                8,
                                15,
                                16,
                                17,
                                ~uint64_t{0},
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                (kOne << 32) - 1,
                                (kOne << 32) + 1,
                                kOne << 32,
                                kOne << 63,
                                (kOne << 63) - 1,
                                size_,
                                size_ - 1,
                                size_ + 1,
                                now * 2,
                                now / 2,
                                0 - now,
                                size_ - now,
                                choices_.word()});
}

}  // namespace rushlight::fuzz
