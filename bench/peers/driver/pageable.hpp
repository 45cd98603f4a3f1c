// What the driver's own blocking copies of ordinary host memory cost, at every power of two.
// Host arrays are warm: every page was touched before the first timed call.
#pragma once
#include <cstdlib>
#include <memory>

#include "cuda.hpp"
#include "report.hpp"

namespace pageable {

constexpr std::size_t largestByteLength = std::size_t{1} << 30;

struct Freed {
  void operator()(void *address) const { std::free(address); }
};

/** An ordinary array from malloc, its pages present. */
class HostArray {
 public:
  explicit HostArray(std::size_t byteLength) : memory_(std::malloc(byteLength)) {
    if (!memory_) throw std::runtime_error("Cannot allocate host memory for the pageable copies");
    std::memset(memory_.get(), 0, byteLength);
  }
  void *address() const { return memory_.get(); }

 private:
  std::unique_ptr<void, Freed> memory_;
};

/** Thousands of runs for a few bytes, seven for a gigabyte: a fraction of a second a size. */
inline int runCountFor(std::size_t byteLength) {
  const std::size_t count = (std::size_t{256} << 20) / byteLength;
  return static_cast<int>(std::clamp<std::size_t>(count, 7, 1001));
}

inline void measureSizes(Report &report) {
  const HostArray source(largestByteLength), sink(largestByteLength);
  const DeviceBlock device(largestByteLength);
  fillPattern(source.address(), largestByteLength, 0xBAADF00D);
  for (std::size_t byteLength = 4; byteLength <= largestByteLength; byteLength *= 2) {
    const int runs = runCountFor(byteLength);
    CHECK(cuMemsetD8(device.address, 0xA5, byteLength));
    CHECK(cuCtxSynchronize());
    const Samples up = sampleCalls(
        runs, [&] { CHECK(cuMemcpyHtoD(device.address, source.address(), byteLength)); });
    std::memset(sink.address(), 0, byteLength);
    const Samples down =
        sampleCalls(runs, [&] { CHECK(cuMemcpyDtoH(sink.address(), device.address, byteLength)); });
    requireEqual(sink.address(), source.address(), byteLength);
    report.addSeconds({"pageableUpload", "cuMemcpyHtoD", byteLength}, up);
    report.addSeconds({"pageableDownload", "cuMemcpyDtoH", byteLength}, down);
  }
}

inline void measureManyArrays(Report &report) {
  constexpr std::size_t arrayByteLength = 16384, arrayCount = 1000;
  std::vector<HostArray> arrays;
  for (std::size_t i = 0; i < arrayCount; i++) {
    arrays.emplace_back(arrayByteLength);
    fillPattern(arrays.back().address(), arrayByteLength, i);
  }
  const DeviceBlock device(arrayByteLength * arrayCount);
  const Samples seconds = sampleCalls(21, [&] {
    for (std::size_t i = 0; i < arrayCount; i++) {
      CHECK(
          cuMemcpyHtoD(device.address + i * arrayByteLength, arrays[i].address(), arrayByteLength));
    }
  });
  const HostArray sink(arrayByteLength);
  for (std::size_t i = 0; i < arrayCount; i++) {
    CHECK(cuMemcpyDtoH(sink.address(), device.address + i * arrayByteLength, arrayByteLength));
    requireEqual(sink.address(), arrays[i].address(), arrayByteLength);
  }
  report.addSeconds(
      {"manyArraysUpload", "1000 calls of cuMemcpyHtoD", arrayByteLength * arrayCount}, seconds);
}

inline void measure(Report &report) {
  report.section("pageableUpload and pageableDownload", [&] { measureSizes(report); });
  report.section("manyArraysUpload", [&] { measureManyArrays(report); });
}

}  // namespace pageable
