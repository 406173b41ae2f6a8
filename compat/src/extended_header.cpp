// SPDX-License-Identifier: BSD-3-Clause
// Older exporters write a header of two integers, without the size of the segments' data; a longer one may
// follow in later versions and is accepted.
#include <cstring>

#include <executorch/schema/extended_header.h>

#include "runtime/program/flatbuffer.h"

namespace executorch::runtime {

Result<ExtendedHeader> ExtendedHeader::Parse(const void* data, size_t size) {
  constexpr uint32_t kLengthWithTwoNumbers = kMagicSize + 4 + 2 * 8;
  constexpr uint32_t kLengthWithThreeNumbers = kLengthWithTwoNumbers + 8;
  ET_CHECK_OR_RETURN_ERROR(size >= kNumHeadBytes, InvalidArgument, "head: expected %zu bytes, got %zu",
                           kNumHeadBytes, size);
  alignas(8) uint8_t head[kNumHeadBytes - kHeaderOffset];  // a copy, since `data` may have any alignment
  std::memcpy(head, static_cast<const uint8_t*>(data) + kHeaderOffset, sizeof head);
  if (std::memcmp(head, kMagic, kMagicSize) != 0) return Error::NotFound;
  const auto length = rushlight::flatbuffer::read<uint32_t>(head + kMagicSize);
  ET_CHECK_OR_RETURN_ERROR(length >= kLengthWithTwoNumbers, InvalidProgram,
                           "header: expected at least %u bytes, got %u",
                           static_cast<unsigned>(kLengthWithTwoNumbers), static_cast<unsigned>(length));
  const auto number = [&head](size_t index) {
    return rushlight::flatbuffer::read<uint64_t>(head + kMagicSize + 4 + 8 * index);
  };
  const bool has_third = length >= kLengthWithThreeNumbers;
  return ExtendedHeader{number(0), number(1), has_third ? number(2) : 0};
}

}  // namespace executorch::runtime
