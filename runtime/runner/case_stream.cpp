// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes the format in case_stream.h. Numbers are read in place, because every item is aligned: the
// stream is in claimed memory, which begins at a multiple of 16. A request may be damaged, so each length is
// compared with the bytes that are left before it is used.
#include "runtime/runner/case_stream.h"

#include <cstring>
#include <new>

#include "runtime/base/checked.h"
#include "runtime/platform/host_file.h"

namespace rushlight {

namespace {

constexpr size_t kItemAlignment = 16;
constexpr char kMagic[4] = {'R', 'L', 'I', 'O'};

struct Header {
  uint32_t words[4];
};

}  // namespace

// Returns the next `size` bytes at an aligned position, or null at the end.
const uint8_t* CaseReader::take(size_t size) {
  const size_t start = align_up(position_, kItemAlignment);
  if (!range_fits(start, size, bytes_.size())) return nullptr;
  position_ = start + size;
  return bytes_.data() + start;
}

bool CaseReader::begin(uint32_t* calls, bool* fresh_methods) {
  const uint8_t* header = take(sizeof(Header));
  if (header == nullptr || std::memcmp(header, kMagic, sizeof kMagic) != 0) return false;
  *calls = reinterpret_cast<const Header*>(header)->words[1];
  // Bit 0 of the flags.
  if (fresh_methods != nullptr)
    *fresh_methods = (reinterpret_cast<const Header*>(header)->words[2] & 1u) != 0;
  return true;
}

bool CaseReader::call(const char** name, uint32_t* values) {
  const auto* header = reinterpret_cast<const Header*>(take(sizeof(Header)));
  if (header == nullptr) return false;
  const uint32_t length = header->words[0];
  *values = header->words[1];
  // The name's zero byte counts too; the first comparison keeps the sum from wrapping on 32-bit targets.
  const uint8_t* text = length < UINT32_MAX ? take(size_t{length} + 1) : nullptr;
  if (text == nullptr || text[length] != 0) return false;
  *name = reinterpret_cast<const char*>(text);
  return true;
}

bool CaseReader::value(Span<const DimOrderType> dim_order, TensorStorage* storage, EValue* value) {
  const auto* header = reinterpret_cast<const Header*>(take(sizeof(Header)));
  if (header == nullptr) return false;
  const auto tag = static_cast<Tag>(header->words[0]);
  const auto type = static_cast<ScalarType>(header->words[1]);
  const uint32_t rank = header->words[2];
  const uint32_t nbytes = header->words[3];
  if (rank > kTensorDimensionLimit) return false;
  // Every value has both items, possibly empty. A scalar has rank 0.
  const uint8_t* sizes = take(rank * sizeof(SizesType));
  const uint8_t* data = take(nbytes);
  if (sizes == nullptr || data == nullptr) return false;
  *value = EValue();
  switch (tag) {
    case Tag::None:
      return true;
    case Tag::Int:
      if (nbytes != 8) return false;
      *value = EValue(*reinterpret_cast<const int64_t*>(data));
      return true;
    case Tag::Double:
      if (nbytes != 8) return false;
      *value = EValue(*reinterpret_cast<const double*>(data));
      return true;
    case Tag::Bool:
      if (nbytes != 1) return false;
      *value = EValue(*data != 0);
      return true;
    case Tag::Tensor:
      break;
    default:
      return false;
  }
  // Copied, because a TensorImpl may write its sizes; the data is only read.
  std::memcpy(storage->sizes, sizes, rank * sizeof(SizesType));
  size_t numel = 0;
  if (!checked_numel({storage->sizes, rank}, &numel)) return false;
  // 64-bit product: numel < 2^31 and elements have at most 16 bytes. An unknown dtype has element size 0 and
  // fails here, unless there are no bytes.
  if (uint64_t{numel} * element_size(type) != nbytes) return false;
  for (uint32_t d = 0; d < rank; ++d) {
    storage->dim_order[d] = dim_order.size() == rank ? dim_order[d] : static_cast<DimOrderType>(d);
  }
  auto* impl =
      new (storage->impl) TensorImpl(type, static_cast<ptrdiff_t>(rank), storage->sizes,
                                     const_cast<uint8_t*>(data), storage->dim_order, storage->strides);
  *value = EValue(Tensor(impl));
  return true;
}

void CaseWriter::put(const void* data, size_t size) {
  ok_ = ok_ && platform::file_write(file_, data, size) == size;
  position_ += size;
}

// Positions count from the start of the file, as for the reader.
void CaseWriter::pad() {
  const uint8_t zeros[kItemAlignment] = {};
  put(zeros, align_up(position_, kItemAlignment) - position_);
}

void CaseWriter::begin(uint32_t calls, const Report& report) {
  Header header{{0, calls, 0, 0}};
  std::memcpy(header.words, kMagic, sizeof kMagic);
  put(&header, sizeof header);
  put(&report, sizeof report);
  pad();
}

void CaseWriter::call(uint32_t values, const CallReport& report, size_t stack_bytes) {
  const Header header{{0, values, static_cast<uint32_t>(stack_bytes), 0}};
  put(&header, sizeof header);
  put(&report, sizeof report);
  pad();
}

void CaseWriter::value(const EValue& value) {
  Header header{{static_cast<uint32_t>(value.tag), 0, 0, 0}};
  if (value.is_tensor()) {
    const Tensor tensor = value.to_tensor();
    // An output without memory is written as a tensor without bytes.
    const bool has_data = tensor.const_data_ptr() != nullptr;
    header.words[1] = static_cast<uint32_t>(tensor.scalar_type());
    header.words[2] = static_cast<uint32_t>(tensor.dim());
    header.words[3] = has_data ? static_cast<uint32_t>(tensor.nbytes()) : 0;
    put(&header, sizeof header);
    put(tensor.sizes().data(), tensor.sizes().size() * sizeof(SizesType));
    pad();
    put(tensor.const_data_ptr(), header.words[3]);
  } else {
    header.words[3] = value.is_bool() ? 1 : (value.is_int() || value.is_double() ? 8 : 0);
    put(&header, sizeof header);
    put(&value.payload, header.words[3]);
  }
  pad();
}

}  // namespace rushlight
