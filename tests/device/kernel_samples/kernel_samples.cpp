// SPDX-License-Identifier: BSD-3-Clause
// kernel_samples --calls=FILE --results=FILE: makes the calls of a file and writes the file back, with each
// call's error and what its kernel wrote into its tensors. Little-endian; everything begins at a multiple of
// eight bytes:
//
//   file:  u32 calls, u32 0, then each call: u32 length of the name, u32 error, name with its zero byte, and
//          its arguments, as many as the kernel's signature has characters
//   value: u32 tag (EValue's), u32 count, then by tag
//          Int, Double, Bool: eight bytes      String: count characters and a zero byte
//          ListBool: count bytes               ListDouble: count doubles
//          Tensor (count is its rank): u32 dtype, u32 data bytes, i32 sizes, u8 dim order, data
//          other lists: count values
#include <cstdint>
#include <cstring>
#include <new>

#include "runtime/base/checked.h"
#include "runtime/kernel/operator_table.h"
#include "runtime/platform/host_file.h"
#include "runtime/platform/platform.h"
#include "runtime/runner/model_files.h"

namespace rushlight {

namespace {

constexpr size_t kItemAlignment = 8;
constexpr size_t kMaxValues = 512;
constexpr size_t kMaxTensors = 256;
constexpr size_t kMaxLists = 16;
constexpr size_t kTemporaryBytes = size_t{1} << 20;

// One call's arguments at a time, in storage of its own.
class Call {
 public:
  explicit Call(uint8_t* at) : at_(at) {}

  EValue* value() {
    uint32_t head[2];
    std::memcpy(head, take(sizeof head), sizeof head);
    EValue* made = new (&values_[num_values_++]) EValue();
    made->tag = static_cast<Tag>(head[0]);
    made->length = head[1];
    switch (made->tag) {
      case Tag::None:
        break;
      case Tag::Int:
      case Tag::Double:
        std::memcpy(&made->payload, take(8), 8);
        break;
      case Tag::Bool:
        made->payload.as_bool = *take(8) != 0;
        break;
      case Tag::String:
        made->payload.as_string = reinterpret_cast<const char*>(take(made->length + 1));
        break;
      case Tag::ListBool:
        made->payload.as_bool_list = reinterpret_cast<const bool*>(take(made->length));
        break;
      case Tag::ListDouble:
        made->payload.as_double_list = reinterpret_cast<const double*>(take(made->length * sizeof(double)));
        break;
      case Tag::Tensor:
        made->payload.as_tensor = tensor(made->length);
        break;
      default:
        list(made);
    }
    return made;
  }

  // What follows this call.
  uint8_t* end() { return at_; }

 private:
  uint8_t* take(size_t size) {
    uint8_t* taken = at_;
    at_ += align_up(size, kItemAlignment);
    return taken;
  }

  TensorImpl* tensor(uint32_t rank) {
    uint32_t head[2];
    std::memcpy(head, take(sizeof head), sizeof head);
    auto* sizes = reinterpret_cast<SizesType*>(take(rank * sizeof(SizesType)));
    auto* order = reinterpret_cast<DimOrderType*>(take(rank));
    void* data = take(head[1]);
    auto* strides = strides_[num_tensors_];
    return new (&tensors_[num_tensors_++])
        TensorImpl(static_cast<ScalarType>(head[0]), static_cast<ptrdiff_t>(rank), sizes, data, order,
                   strides, TensorShapeDynamism::STATIC);
  }

  void list(EValue* made) {
    EValue** items = items_ + num_items_;
    num_items_ += made->length;
    List& list = lists_[num_lists_++];
    for (uint32_t i = 0; i < made->length; ++i) {
      EValue* item = value();
      items[i] = item->is_none() ? nullptr : item;
    }
    if (made->tag == Tag::ListInt) {
      list.ints = {items, ints_ + (items - items_)};
      made->payload.as_int_list = &list.ints;
    } else if (made->tag == Tag::ListTensor) {
      list.tensors = {items, tensor_items_ + (items - items_)};
      made->payload.as_tensor_list = &list.tensors;
    } else {
      list.optional_tensors = {items, optional_items_ + (items - items_)};
      made->payload.as_optional_tensor_list = &list.optional_tensors;
    }
  }

  union List {
    BoxedList<int64_t> ints;
    BoxedList<Tensor> tensors;
    BoxedList<std::optional<Tensor>> optional_tensors;
  };

  uint8_t* at_;
  size_t num_values_ = 0;
  size_t num_tensors_ = 0;
  size_t num_items_ = 0;
  size_t num_lists_ = 0;
  EValue values_[kMaxValues];
  StridesType strides_[kMaxTensors][kTensorDimensionLimit];
  alignas(TensorImpl) uint8_t tensor_bytes_[kMaxTensors * sizeof(TensorImpl)];
  TensorImpl* tensors_ = reinterpret_cast<TensorImpl*>(tensor_bytes_);
  EValue* items_[kMaxValues];
  List lists_[kMaxLists];
  int64_t ints_[kMaxValues];
  alignas(Tensor) uint8_t tensor_item_bytes_[kMaxValues * sizeof(Tensor)];
  Tensor* tensor_items_ = reinterpret_cast<Tensor*>(tensor_item_bytes_);
  alignas(std::optional<Tensor>) uint8_t optional_bytes_[kMaxValues * sizeof(std::optional<Tensor>)];
  std::optional<Tensor>* optional_items_ = reinterpret_cast<std::optional<Tensor>*>(optional_bytes_);
};

// Returns what follows the call; null when the operator is not linked.
uint8_t* make_call(uint8_t* at, void* storage, Span<uint8_t> temporary_memory) {
  uint32_t head[2];
  std::memcpy(head, at, sizeof head);
  const char* name = reinterpret_cast<const char*>(at + sizeof head);
  const KernelEntry* entry = selected_operators.find(name, "");
  if (entry == nullptr) {
    platform::print_line(name);
    return nullptr;
  }
  Call& call = *new (storage) Call(at + sizeof head + align_up(size_t{head[0]} + 1, kItemAlignment));
  EValue* arguments[32];
  const size_t count = std::strlen(entry->signature);
  for (size_t i = 0; i < count; ++i) arguments[i] = call.value();
  Arena temporary(temporary_memory);
  KernelContext context(&temporary);
  const auto error = static_cast<uint32_t>(entry->function(context, arguments));
  std::memcpy(at + sizeof error, &error, sizeof error);
  return call.end();
}

int run(int argc, char** argv) {
  const char* calls_path = argument(argc, argv, "--calls");
  const char* results_path = argument(argc, argv, "--results");
  if (calls_path == nullptr || results_path == nullptr) return 2;
  const auto file = read_file(calls_path);
  if (!file.ok()) return 3;
  const Span<uint8_t> temporary = platform::claim_memory(kTemporaryBytes);
  const Span<uint8_t> storage = platform::claim_memory(sizeof(Call));
  if (temporary.size() != kTemporaryBytes || storage.size() != sizeof(Call)) return 4;
  auto* bytes = const_cast<uint8_t*>(file->data());  // claimed for this program
  uint32_t calls;
  std::memcpy(&calls, bytes, sizeof calls);
  uint8_t* at = bytes + kItemAlignment;
  for (uint32_t i = 0; i < calls && at != nullptr; ++i) at = make_call(at, storage.data(), temporary);
  if (at == nullptr) return 5;
  const int results = platform::file_open(results_path, platform::FileMode::Write);
  if (results < 0) return 6;
  const bool whole = platform::file_write(results, bytes, file->size()) == file->size();
  platform::file_close(results);
  return whole ? 0 : 7;
}

}  // namespace

}  // namespace rushlight

int main(int argc, char** argv) {
  rushlight::platform::init();
  return rushlight::run(argc, argv);
}
