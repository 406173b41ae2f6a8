// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/core/device_memory_buffer.h>

namespace executorch::runtime {

DeviceAllocatorRegistry DeviceAllocatorRegistry::registry;

DeviceAllocatorRegistry& DeviceAllocatorRegistry::instance() { return registry; }

void DeviceAllocatorRegistry::register_allocator(DeviceAllocator* alloc) {
  ET_CHECK_MSG(alloc != nullptr, "a device allocator is null");
  const auto index = static_cast<size_t>(alloc->device_type());
  ET_CHECK_MSG(index < etensor::kNumDeviceTypes, "no kind of device has the number %zu", index);
  ET_CHECK_MSG(allocators_[index] == nullptr, "device %zu has an allocator", index);
  allocators_[index] = alloc;
}

DeviceAllocator* DeviceAllocatorRegistry::get_allocator(etensor::DeviceType type) {
  const auto index = static_cast<size_t>(type);
  return index < etensor::kNumDeviceTypes ? allocators_[index] : nullptr;
}

void register_device_allocator(DeviceAllocator* alloc) {
  DeviceAllocatorRegistry::instance().register_allocator(alloc);
}

DeviceAllocator* get_device_allocator(etensor::DeviceType type) {
  return DeviceAllocatorRegistry::instance().get_allocator(type);
}

Result<DeviceMemoryBuffer> DeviceMemoryBuffer::create(size_t size, etensor::DeviceType type,
                                                      etensor::DeviceIndex index, size_t alignment) {
  DeviceAllocator* allocator = get_device_allocator(type);
  ET_CHECK_OR_RETURN_ERROR(allocator != nullptr, NotFound, "device %d has no allocator",
                           static_cast<int>(type));
  auto data = allocator->allocate(size, index, alignment);
  if (!data.ok()) return data.error();
  return DeviceMemoryBuffer(*data, size, allocator, index);
}

}  // namespace executorch::runtime
