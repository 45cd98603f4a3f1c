// What queueing a copy on the device costs the host: by both calls of the driver's, for both kinds
// of device memory. Short batches, so that the queue never fills; the cases take turns.
#pragma once
#include "cuda.hpp"
#include "report.hpp"

namespace device_copy {

// The kit's bench counts alike: bench/device_copy.ts.
constexpr int batchCount = 101;
constexpr int callCount = 200;
constexpr std::size_t byteLengths[] = {4096, std::size_t{1} << 20};

inline void measureSize(Report &report, std::size_t byteLength) {
  const Stream stream;
  const DeviceBlock source(byteLength), target(byteLength);
  const PoolBlock pooledSource(byteLength, stream), pooledTarget(byteLength, stream);
  const auto typed = [&](CUdeviceptr to, CUdeviceptr from) {
    return [=, &stream] { CHECK(cuMemcpyDtoDAsync(to, from, byteLength, stream.handle)); };
  };
  const auto unified = [&](CUdeviceptr to, CUdeviceptr from) {
    return [=, &stream] { CHECK(cuMemcpyAsync(to, from, byteLength, stream.handle)); };
  };
  const std::vector<Case> cases = {
      {"queueDeviceCopy", "cuMemcpyDtoDAsync, cuMemAlloc", byteLength},
      {"queueDeviceCopy", "cuMemcpyAsync, cuMemAlloc", byteLength},
      {"queueDeviceCopy", "cuMemcpyDtoDAsync, cuMemAllocAsync", byteLength},
      {"queueDeviceCopy", "cuMemcpyAsync, cuMemAllocAsync", byteLength},
  };
  const auto samples =
      sampleInTurn(batchCount, callCount,
                   {typed(target.address, source.address), unified(target.address, source.address),
                    typed(pooledTarget.address, pooledSource.address),
                    unified(pooledTarget.address, pooledSource.address)},
                   [&] { stream.synchronize(); });
  for (std::size_t at = 0; at < cases.size(); at++) report.addSeconds(cases[at], samples[at]);
}

inline void measure(Report &report) {
  report.section("queueDeviceCopy", [&] {
    for (const std::size_t byteLength : byteLengths) measureSize(report, byteLength);
  });
}

}  // namespace device_copy
