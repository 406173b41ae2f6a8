// SPDX-License-Identifier: BSD-3-Clause
// Allocators for memory of devices other than the CPU, one per kind of device. rushlight's kernels compute on
// the CPU only; these allocators serve an application's tensors, which copy_tensor_data() copies to and from
// the device.
//
//   class CudaAllocator final : public DeviceAllocator { ... };
//   static CudaAllocator allocator;
//   register_device_allocator(&allocator);
#pragma once

#include <cstddef>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/portable_type/device.h>
#include <executorch/runtime/core/result.h>

namespace executorch::runtime {

// Implemented by an application or backend. Pointers to device memory must not be read or written by the CPU.
class DeviceAllocator {
 public:
  static constexpr size_t kDefaultAlignment = MemoryAllocator::kDefaultAlignment;

  virtual ~DeviceAllocator() = default;
  // Returns `nbytes` bytes on device `index`; `alignment` is a power of two. Errors: the device's.
  virtual Result<void*> allocate(size_t nbytes, etensor::DeviceIndex index,
                                 size_t alignment = kDefaultAlignment) = 0;
  // Frees memory of allocate(), on the same device.
  virtual void deallocate(void* ptr, etensor::DeviceIndex index) = 0;
  // Copy `nbytes` bytes between ranges that do not overlap; the name tells which pointer is the device's.
  // rushlight expects that the bytes have arrived when the function returns.
  virtual Error copy_host_to_device(void* dst, const void* src, size_t nbytes,
                                    etensor::DeviceIndex index) = 0;
  virtual Error copy_device_to_host(void* dst, const void* src, size_t nbytes,
                                    etensor::DeviceIndex index) = 0;
  // The kind of device; constant. It selects the registry's slot.
  virtual etensor::DeviceType device_type() const = 0;
};

// One slot for each kind of device, in static storage. Not thread-safe; static initialisers may register,
// because the object is initialised at compile time.
class DeviceAllocatorRegistry {
 public:
  static DeviceAllocatorRegistry& instance();

  // Does not take ownership: the allocator must live as long as the process. Aborts for null, for a kind that
  // DeviceType does not name, and if the kind of device already has one.
  void register_allocator(DeviceAllocator* alloc);
  // Returns null if there is none, or if the kind is unknown.
  DeviceAllocator* get_allocator(etensor::DeviceType type);

  DeviceAllocatorRegistry(const DeviceAllocatorRegistry&) = delete;
  DeviceAllocatorRegistry& operator=(const DeviceAllocatorRegistry&) = delete;

 private:
  constexpr DeviceAllocatorRegistry() = default;

  static DeviceAllocatorRegistry registry;

  DeviceAllocator* allocators_[etensor::kNumDeviceTypes] = {};
};

// The same for the registry's only instance.
void register_device_allocator(DeviceAllocator* alloc);
DeviceAllocator* get_device_allocator(etensor::DeviceType type);

}  // namespace executorch::runtime

namespace torch::executor {
using ::executorch::runtime::DeviceAllocator;
using ::executorch::runtime::DeviceAllocatorRegistry;
using ::executorch::runtime::get_device_allocator;
using ::executorch::runtime::register_device_allocator;
}  // namespace torch::executor
