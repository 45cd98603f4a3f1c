// How fast bytes move when nothing but the bus is in the way: events on a non-blocking stream.
// A sample is 16 copies between two events after 4 that are not counted; all bytes are verified.
#pragma once
#include "cuda.hpp"
#include "report.hpp"

namespace bandwidth {

constexpr std::size_t largestByteLength = std::size_t{1} << 30;
constexpr int warmUpCount = 4;
constexpr int copyCount = 16;
constexpr int sampleCount = 5;

/** Holds a stream back until everything is queued, so that the cost of queueing stays out. */
class Latch {
 public:
  explicit Latch(const Stream &stream) : word_(sizeof(std::uint32_t)) {
    *word() = 0;
    CUdeviceptr address;
    CHECK(cuMemHostGetDevicePointer(&address, word_.address, 0));
    CHECK(cuStreamWaitValue32(stream.handle, address, 1, CU_STREAM_WAIT_VALUE_GEQ));
    waiting_ = &stream;
  }
  // A stream left waiting would hang the process, and the word must outlive the wait.
  ~Latch() {
    open();
    cuStreamSynchronize(waiting_->handle);
  }
  void open() { *word() = 1; }

 private:
  PinnedBlock word_;
  const Stream *waiting_ = nullptr;
  volatile std::uint32_t *word() { return static_cast<volatile std::uint32_t *>(word_.address); }
};

inline double speedOf(std::size_t byteLength, double seconds) {
  return static_cast<double>(byteLength) * copyCount / seconds / 1e9;
}

/** Measures one kind of copy with events: `enqueue(stream)` queues it once. */
template <typename Enqueue>
Samples sampleSpeeds(std::size_t byteLength, Enqueue enqueue) {
  const Stream stream;
  const Event start, end;
  Samples speeds;
  for (int sample = 0; sample < sampleCount; sample++) {
    for (int i = 0; i < warmUpCount; i++) enqueue(stream.handle);
    start.record(stream);
    for (int i = 0; i < copyCount; i++) enqueue(stream.handle);
    end.record(stream);
    stream.synchronize();
    speeds.push_back(speedOf(byteLength, end.secondsSince(start)));
  }
  return speeds;
}

/** The same with all work queued before any of it may run, as nvbandwidth does it with a kernel. */
template <typename Enqueue>
Samples sampleLatchedSpeeds(std::size_t byteLength, Enqueue enqueue) {
  const Stream stream;
  const Event start, end;
  Samples speeds;
  for (int sample = 0; sample < sampleCount; sample++) {
    Latch latch(stream);
    for (int i = 0; i < warmUpCount; i++) enqueue(stream.handle);
    start.record(stream);
    for (int i = 0; i < copyCount; i++) enqueue(stream.handle);
    end.record(stream);
    latch.open();
    stream.synchronize();
    speeds.push_back(speedOf(byteLength, end.secondsSince(start)));
  }
  return speeds;
}

/** The blocks that all cases share: page-locking gigabytes takes longer than copying them. */
struct Blocks {
  PinnedBlock source{largestByteLength};
  PinnedBlock sink{largestByteLength};
  DeviceBlock first{largestByteLength};
  DeviceBlock second{largestByteLength};
  Blocks() { fillPattern(source.address, largestByteLength, 0xCAFEBABE); }

  void poison(CUdeviceptr target, std::size_t byteLength) const {
    CHECK(cuMemsetD8(target, 0xA5, byteLength));
    CHECK(cuCtxSynchronize());
  }
  void place(CUdeviceptr target, std::size_t byteLength) const {
    CHECK(cuMemcpyHtoD(target, source.address, byteLength));
    CHECK(cuCtxSynchronize());
  }
  void verify(CUdeviceptr written, std::size_t byteLength) const {
    std::memset(sink.address, 0, byteLength);
    CHECK(cuMemcpyDtoH(sink.address, written, byteLength));
    requireEqual(sink.address, source.address, byteLength);
  }
};

inline void measurePinned(Report &report, const Blocks &blocks) {
  for (std::size_t byteLength = 4096; byteLength <= largestByteLength; byteLength *= 4) {
    const auto upload = [&](CUstream stream) {
      CHECK(cuMemcpyHtoDAsync(blocks.first.address, blocks.source.address, byteLength, stream));
    };
    const auto download = [&](CUstream stream) {
      CHECK(cuMemcpyDtoHAsync(blocks.sink.address, blocks.second.address, byteLength, stream));
    };
    blocks.poison(blocks.first.address, byteLength);
    const Samples up = sampleSpeeds(byteLength, upload);
    blocks.verify(blocks.first.address, byteLength);
    report.addSpeeds({"pinnedUpload", "cuMemcpyHtoDAsync", byteLength}, up);

    blocks.place(blocks.second.address, byteLength);
    std::memset(blocks.sink.address, 0, byteLength);
    const Samples down = sampleSpeeds(byteLength, download);
    requireEqual(blocks.sink.address, blocks.source.address, byteLength);
    report.addSpeeds({"pinnedDownload", "cuMemcpyDtoHAsync", byteLength}, down);
  }
}

inline void measurePinnedLatched(Report &report, const Blocks &blocks) {
  blocks.place(blocks.second.address, largestByteLength);
  for (std::size_t byteLength = 4096; byteLength <= largestByteLength; byteLength *= 4) {
    report.addSpeeds(
        {"pinnedUpload", "cuMemcpyHtoDAsync behind a latch", byteLength},
        sampleLatchedSpeeds(byteLength, [&](CUstream stream) {
          CHECK(cuMemcpyHtoDAsync(blocks.first.address, blocks.source.address, byteLength, stream));
        }));
    blocks.verify(blocks.first.address, byteLength);
    report.addSpeeds(
        {"pinnedDownload", "cuMemcpyDtoHAsync behind a latch", byteLength},
        sampleLatchedSpeeds(byteLength, [&](CUstream stream) {
          CHECK(cuMemcpyDtoHAsync(blocks.sink.address, blocks.second.address, byteLength, stream));
        }));
    requireEqual(blocks.sink.address, blocks.source.address, byteLength);
  }
}

inline void measureDeviceCopy(Report &report, const Blocks &blocks) {
  blocks.place(blocks.first.address, largestByteLength);
  for (const std::size_t byteLength :
       {std::size_t{64} << 20, std::size_t{256} << 20, largestByteLength}) {
    blocks.poison(blocks.second.address, byteLength);
    const Samples speeds = sampleSpeeds(byteLength, [&](CUstream stream) {
      CHECK(cuMemcpyDtoDAsync(blocks.second.address, blocks.first.address, byteLength, stream));
    });
    blocks.verify(blocks.second.address, byteLength);
    report.addSpeeds({"deviceCopy", "cuMemcpyDtoDAsync, bytes counted once", byteLength}, speeds);
  }
}

inline void measureMemset(Report &report, const Blocks &blocks) {
  const Samples speeds = sampleSpeeds(largestByteLength, [&](CUstream stream) {
    CHECK(cuMemsetD8Async(blocks.first.address, 0x5A, largestByteLength, stream));
  });
  CHECK(cuMemcpyDtoH(blocks.sink.address, blocks.first.address, largestByteLength));
  const std::uint8_t *bytes = blocks.sink.bytes();
  if (bytes[0] != 0x5A) throw std::runtime_error("Cannot trust the memset: its bytes differ");
  requireEqual(bytes + 1, bytes, largestByteLength - 1);
  report.addSpeeds({"fill", "cuMemsetD8Async", largestByteLength}, speeds);
}

/** Runs both directions at once: the first stream starts and ends the clock for the two. */
inline void measureBothDirections(Report &report, const Blocks &blocks) {
  const Stream up, down;
  const Event start, finished, end;
  blocks.poison(blocks.first.address, largestByteLength);
  blocks.place(blocks.second.address, largestByteLength);
  std::memset(blocks.sink.address, 0, largestByteLength);
  const auto enqueue = [&](int count) {
    for (int i = 0; i < count; i++) {
      CHECK(cuMemcpyHtoDAsync(blocks.first.address, blocks.source.address, largestByteLength,
                              up.handle));
      CHECK(cuMemcpyDtoHAsync(blocks.sink.address, blocks.second.address, largestByteLength,
                              down.handle));
    }
  };
  Samples speeds;
  for (int sample = 0; sample < sampleCount; sample++) {
    enqueue(1);
    up.synchronize();
    down.synchronize();
    start.record(up);
    CHECK(cuStreamWaitEvent(down.handle, start.handle, 0));
    enqueue(copyCount);
    finished.record(down);
    CHECK(cuStreamWaitEvent(up.handle, finished.handle, 0));
    end.record(up);
    up.synchronize();
    speeds.push_back(2 * speedOf(largestByteLength, end.secondsSince(start)));
  }
  requireEqual(blocks.sink.address, blocks.source.address, largestByteLength);
  blocks.verify(blocks.first.address, largestByteLength);
  report.addSpeeds({"bothDirections", "two streams, sum of both", largestByteLength}, speeds);
}

inline void measure(Report &report) {
  const Blocks blocks;
  report.section("pinnedUpload and pinnedDownload", [&] { measurePinned(report, blocks); });
  report.section("pinnedUpload and pinnedDownload behind a latch",
                 [&] { measurePinnedLatched(report, blocks); });
  report.section("deviceCopy", [&] { measureDeviceCopy(report, blocks); });
  report.section("fill", [&] { measureMemset(report, blocks); });
  report.section("bothDirections", [&] { measureBothDirections(report, blocks); });
}

}  // namespace bandwidth
