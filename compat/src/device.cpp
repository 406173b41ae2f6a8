// SPDX-License-Identifier: BSD-3-Clause
// Devices are the application's: rushlight copies through its allocators and computes on the CPU only. The
// runtime refers to copy_with_device() by a weak symbol, so it needs no code for devices.
#include "compat/detail/device.h"

#include <iterator>

#include <executorch/runtime/core/device_memory_buffer.h>

#include "compat/detail/convert.h"
#include "runtime/tensor/device.h"

namespace rushlight {

// Copies through the registered allocator of the device, to and from the host.
Error copy_with_device(const TensorImpl& from, const TensorImpl& to) {
  using executorch::runtime::DeviceAllocator;
  const auto source = compat::official_device(from.device());
  const auto target = compat::official_device(to.device());
  // The official interface has no copy between devices.
  if (!source.is_cpu() && !target.is_cpu()) return Error::NotSupported;
  const auto& device = source.is_cpu() ? target : source;
  DeviceAllocator* allocator = executorch::runtime::get_device_allocator(device.type());
  if (allocator == nullptr) return Error::NotFound;
  const auto copy =
      source.is_cpu() ? &DeviceAllocator::copy_host_to_device : &DeviceAllocator::copy_device_to_host;
  return compat::ours((allocator->*copy)(to.mutable_data(), from.data(), from.nbytes(), device.index()));
}

}  // namespace rushlight

namespace executorch::runtime {

// Constant-initialised: allocators register during static initialisation, in any order of files.
DeviceAllocatorRegistry DeviceAllocatorRegistry::registry;

DeviceAllocatorRegistry& DeviceAllocatorRegistry::instance() { return registry; }

void DeviceAllocatorRegistry::register_allocator(DeviceAllocator* alloc) {
  ET_CHECK_MSG(alloc != nullptr, "device allocator: expected one, got null");
  const auto index = static_cast<size_t>(alloc->device_type());
  ET_CHECK_MSG(index < std::size(allocators_), "device allocator: unknown kind of device %zu", index);
  ET_CHECK_MSG(allocators_[index] == nullptr, "device allocator: device %zu already has one", index);
  allocators_[index] = alloc;
}

DeviceAllocator* DeviceAllocatorRegistry::get_allocator(etensor::DeviceType type) {
  const auto index = static_cast<size_t>(type);
  return index < std::size(allocators_) ? allocators_[index] : nullptr;
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
  ET_CHECK_OR_RETURN_ERROR(allocator != nullptr, NotFound, "device %d: expected a registered allocator",
                           static_cast<int>(type));
  auto data = allocator->allocate(size, index, alignment);
  if (!data.ok()) return data.error();
  return DeviceMemoryBuffer(*data, size, allocator, index);
}

}  // namespace executorch::runtime
