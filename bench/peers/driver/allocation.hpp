// What an allocation and its free cost together, from the device, from its pool and page-locked.
// The pool is measured as the driver ships it and told to keep what is freed.
#pragma once
#include "cuda.hpp"
#include "report.hpp"

namespace allocation {

constexpr std::size_t deviceByteLength = std::size_t{1} << 20;
constexpr std::size_t pinnedByteLength = std::size_t{64} << 20;

inline void measureDirect(Report &report) {
  report.addSeconds({"allocateFree", "cuMemAlloc, cuMemFree", deviceByteLength},
                    sampleCalls(501, [] { const DeviceBlock block(deviceByteLength); }));
}

inline void measurePool(Report &report, CUdevice device, cuuint64_t releaseThreshold,
                        const char *method) {
  CUmemoryPool pool;
  CHECK(cuDeviceGetDefaultMemPool(&pool, device));
  CHECK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &releaseThreshold));
  const Stream stream;
  const auto pair = [&] {
    CUdeviceptr address;
    CHECK(cuMemAllocAsync(&address, deviceByteLength, stream.handle));
    CHECK(cuMemFreeAsync(address, stream.handle));
  };
  report.addSeconds({"allocateFree", method, deviceByteLength},
                    sampleBatches(21, 1000, pair, [&] { stream.synchronize(); }));
  CHECK(cuMemPoolTrimTo(pool, 0));
}

inline void measurePinned(Report &report) {
  report.addSeconds({"pinnedAllocateFree", "cuMemHostAlloc, cuMemFreeHost", pinnedByteLength},
                    sampleCalls(11, [] { const PinnedBlock block(pinnedByteLength); }));
}

inline void measure(Report &report, CUdevice device) {
  report.section("allocateFree, cuMemAlloc", [&] { measureDirect(report); });
  report.section("allocateFree, pool that keeps what is freed", [&] {
    measurePool(report, device, UINT64_MAX, "cuMemAllocAsync, cuMemFreeAsync, threshold max");
  });
  report.section("allocateFree, pool that returns what is freed", [&] {
    measurePool(report, device, 0, "cuMemAllocAsync, cuMemFreeAsync, threshold 0");
  });
  report.section("pinnedAllocateFree", [&] { measurePinned(report); });
}

}  // namespace allocation
