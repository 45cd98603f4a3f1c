// What the C++ peer owns through the driver API: checked calls and blocks that free themselves.
// Destructors ignore the status: an earlier failure is what the report should show.
#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

inline void check(CUresult status, const char *call) {
  if (status == CUDA_SUCCESS) return;
  const char *name = nullptr;
  cuGetErrorName(status, &name);
  const std::string function(call, std::strcspn(call, "("));
  throw std::runtime_error("Cannot complete " + function + ": " + (name ? name : "unknown error") +
                           " (" + std::to_string(static_cast<int>(status)) + ")");
}

#define CHECK(call) check((call), #call)

struct DeviceBlock {
  CUdeviceptr address = 0;
  explicit DeviceBlock(std::size_t byteLength) { CHECK(cuMemAlloc(&address, byteLength)); }
  ~DeviceBlock() { cuMemFree(address); }
  DeviceBlock(const DeviceBlock &) = delete;
  DeviceBlock &operator=(const DeviceBlock &) = delete;
};

struct PinnedBlock {
  void *address = nullptr;
  explicit PinnedBlock(std::size_t byteLength) {
    CHECK(cuMemHostAlloc(&address, byteLength, CU_MEMHOSTALLOC_PORTABLE));
  }
  ~PinnedBlock() { cuMemFreeHost(address); }
  PinnedBlock(const PinnedBlock &) = delete;
  PinnedBlock &operator=(const PinnedBlock &) = delete;
  std::uint8_t *bytes() const { return static_cast<std::uint8_t *>(address); }
};

struct Stream {
  CUstream handle = nullptr;
  Stream() { CHECK(cuStreamCreate(&handle, CU_STREAM_NON_BLOCKING)); }
  ~Stream() { cuStreamDestroy(handle); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  void synchronize() const { CHECK(cuStreamSynchronize(handle)); }
};

/** A block of the device's own pool, where the kit's default resource takes its memory. */
struct PoolBlock {
  CUdeviceptr address = 0;
  PoolBlock(std::size_t byteLength, const Stream &stream) : stream_(stream) {
    CHECK(cuMemAllocAsync(&address, byteLength, stream.handle));
  }
  ~PoolBlock() { cuMemFreeAsync(address, stream_.handle); }
  PoolBlock(const PoolBlock &) = delete;
  PoolBlock &operator=(const PoolBlock &) = delete;

 private:
  const Stream &stream_;
};

struct Event {
  CUevent handle = nullptr;
  Event() { CHECK(cuEventCreate(&handle, CU_EVENT_DEFAULT)); }
  ~Event() { cuEventDestroy(handle); }
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  void record(const Stream &stream) const { CHECK(cuEventRecord(handle, stream.handle)); }
  double secondsSince(const Event &start) const {
    float milliseconds = 0;
    CHECK(cuEventElapsedTime(&milliseconds, start.handle, handle));
    return milliseconds / 1e3;
  }
};
