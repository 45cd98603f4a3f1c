// What a call costs the host: queueing a small copy, recording an event, waiting for four bytes.
// Queueing is timed over 10,000 calls; the stream is emptied between batches, untimed.
#pragma once
#include "cuda.hpp"
#include "report.hpp"

namespace calls {

constexpr int batchCount = 11;
constexpr int callCount = 10000;
constexpr std::size_t smallByteLength = 4;
constexpr std::size_t fillByteLength = 4096;

template <typename Action>
Samples sampleQueueing(const Stream &stream, Action action) {
  return sampleBatches(batchCount, callCount, action, [&] { stream.synchronize(); });
}

inline void measureSmallCopies(Report &report) {
  const Stream stream;
  const PinnedBlock host(2 * smallByteLength);
  const DeviceBlock device(smallByteLength);
  std::uint8_t *source = host.bytes(), *sink = host.bytes() + smallByteLength;
  fillPattern(source, smallByteLength, 1);
  const auto upload = [&] {
    CHECK(cuMemcpyHtoDAsync(device.address, source, smallByteLength, stream.handle));
  };
  const auto download = [&] {
    CHECK(cuMemcpyDtoHAsync(sink, device.address, smallByteLength, stream.handle));
  };
  report.addSeconds({"queueUpload", "cuMemcpyHtoDAsync, pinned", smallByteLength},
                    sampleQueueing(stream, upload));
  report.addSeconds({"queueDownload", "cuMemcpyDtoHAsync, pinned", smallByteLength},
                    sampleQueueing(stream, download));
  requireEqual(sink, source, smallByteLength);
  report.addSeconds(
      {"uploadAndWait", "cuMemcpyHtoDAsync, pinned, and cuStreamSynchronize", smallByteLength},
      sampleCalls(2001, [&] {
        upload();
        stream.synchronize();
      }));
  report.addSeconds(
      {"downloadAndWait", "cuMemcpyDtoHAsync, pinned, and cuStreamSynchronize", smallByteLength},
      sampleCalls(2001, [&] {
        download();
        stream.synchronize();
      }));
}

inline void measureFill(Report &report) {
  const Stream stream;
  const DeviceBlock target(fillByteLength);
  report.addSeconds({"queueFill", "cuMemsetD8Async", fillByteLength}, sampleQueueing(stream, [&] {
                      CHECK(cuMemsetD8Async(target.address, 0, fillByteLength, stream.handle));
                    }));
}

inline void measureEvents(Report &report) {
  const Stream stream;
  const Event event;
  report.addSeconds({"recordEvent", "cuEventRecord into one event"},
                    sampleQueueing(stream, [&] { event.record(stream); }));
  report.addSeconds({"recordEvent", "cuEventCreate, cuEventRecord, cuEventDestroy"},
                    sampleQueueing(stream, [&] {
                      const Event fresh;
                      fresh.record(stream);
                    }));
}

inline void measureContextQuery(Report &report) {
  const auto query = [] {
    CUcontext current;
    CHECK(cuCtxGetCurrent(&current));
  };
  report.addSeconds({"cheapestCall", "cuCtxGetCurrent"},
                    sampleBatches(batchCount, callCount, query, [] {}));
}

inline void measure(Report &report) {
  report.section("queueUpload, queueDownload and waiting", [&] { measureSmallCopies(report); });
  report.section("queueFill", [&] { measureFill(report); });
  report.section("recordEvent", [&] { measureEvents(report); });
  report.section("cheapestCall", [&] { measureContextQuery(report); });
}

}  // namespace calls
