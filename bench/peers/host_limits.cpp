// What the host's memory and cores allow, without this kit: plain copies by several threads, the links of
// all devices from page-locked memory, and both at once as a chain, in which ordinary memory passes
// through page-locked slots. Prints one JSON document.
// Build: g++ -O3 -std=c++17 -pthread -o host_limits host_limits.cpp -ldl; it opens the driver itself.
// Run: host_limits BYTES THREADS... ; with "host" first memory alone is measured, with "chains" only what moves
// between devices and ordinary memory.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace {

#ifndef SLOT_MIB
#define SLOT_MIB 2
#endif
constexpr std::size_t slotBytes = std::size_t{SLOT_MIB} << 20;
constexpr int slotsPerThread = 3;
constexpr int sampleCount = 3;

using Handle = void *;
using Address = unsigned long long;

/** The calls of the driver that are used here. */
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*deviceCount)(int *) = nullptr;
  int (*deviceGet)(int *, int) = nullptr;
  int (*retain)(Handle *, int) = nullptr;
  int (*setCurrent)(Handle) = nullptr;
  int (*hostAlloc)(void **, std::size_t, unsigned) = nullptr;
  int (*alloc)(Address *, std::size_t) = nullptr;
  int (*streamCreate)(Handle *, unsigned) = nullptr;
  int (*streamSynchronize)(Handle) = nullptr;
  int (*eventCreate)(Handle *, unsigned) = nullptr;
  int (*eventRecord)(Handle, Handle) = nullptr;
  int (*eventSynchronize)(Handle) = nullptr;
  int (*up)(Address, const void *, std::size_t, Handle) = nullptr;
  int (*down)(void *, Address, std::size_t, Handle) = nullptr;
  int (*hostRegister)(void *, std::size_t, unsigned) = nullptr;
  int (*hostUnregister)(void *) = nullptr;
};

void check(int status, const char *call) {
  if (status != 0) {
    throw std::runtime_error("Cannot complete " + std::string(call) + ": " + std::to_string(status));
  }
}

template <typename F>
void bind(void *library, F &target, const char *name) {
  target = reinterpret_cast<F>(dlsym(library, name));
  if (target == nullptr) throw std::runtime_error("Cannot find " + std::string(name));
}

Driver openDriver() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) throw std::runtime_error("Cannot open the driver");
  Driver driver;
  bind(library, driver.init, "cuInit");
  bind(library, driver.deviceCount, "cuDeviceGetCount");
  bind(library, driver.deviceGet, "cuDeviceGet");
  bind(library, driver.retain, "cuDevicePrimaryCtxRetain");
  bind(library, driver.setCurrent, "cuCtxSetCurrent");
  bind(library, driver.hostAlloc, "cuMemHostAlloc");
  bind(library, driver.alloc, "cuMemAlloc_v2");
  bind(library, driver.streamCreate, "cuStreamCreate");
  bind(library, driver.streamSynchronize, "cuStreamSynchronize");
  bind(library, driver.eventCreate, "cuEventCreate");
  bind(library, driver.eventRecord, "cuEventRecord");
  bind(library, driver.eventSynchronize, "cuEventSynchronize");
  bind(library, driver.up, "cuMemcpyHtoDAsync_v2");
  bind(library, driver.down, "cuMemcpyDtoHAsync_v2");
  bind(library, driver.hostRegister, "cuMemHostRegister_v2");
  bind(library, driver.hostUnregister, "cuMemHostUnregister");
  check(driver.init(0), "cuInit");
  return driver;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/** Ordinary memory whose pages are there. */
std::uint8_t *touched(std::size_t byteLength, bool isHuge = false) {
  void *memory = mmap(nullptr, byteLength + slotBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("Cannot allocate host memory");
  const auto aligned = (reinterpret_cast<std::uintptr_t>(memory) + slotBytes - 1) & ~(slotBytes - 1);
  auto *bytes = reinterpret_cast<std::uint8_t *>(aligned);
  madvise(bytes, byteLength, isHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::vector<std::thread> threads;
  const std::size_t share = byteLength / 8;
  for (std::size_t part = 0; part < 8; part++) {
    threads.emplace_back([=] {
      std::memset(bytes + part * share, static_cast<int>(part) + 1, share);
    });
  }
  for (auto &thread : threads) thread.join();
  return bytes;
}

/** Runs a body on several threads, which start together; returns the seconds of the slowest. */
double onThreads(int count, const std::function<void(int)> &prepare,
                 const std::function<void(int)> &body) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < count; thread++) {
    threads.emplace_back([&, thread] {
      prepare(thread);
      ready++;
      while (!go) std::this_thread::yield();
      body(thread);
    });
  }
  while (ready < count) std::this_thread::yield();
  const double start = now();
  go = true;
  for (auto &thread : threads) thread.join();
  return now() - start;
}

/** Copies past the caches, which memcpy does for far larger blocks only. Both ends are aligned. */
void stream(std::uint8_t *to, const std::uint8_t *from, std::size_t byteLength) {
#ifdef __SSE2__
  auto *target = reinterpret_cast<__m128i *>(to);
  const auto *source = reinterpret_cast<const __m128i *>(from);
  for (std::size_t at = 0; at < byteLength / 16; at += 4) {
    const __m128i words[4] = {_mm_load_si128(source + at), _mm_load_si128(source + at + 1),
                              _mm_load_si128(source + at + 2), _mm_load_si128(source + at + 3)};
    for (int word = 0; word < 4; word++) _mm_stream_si128(target + at + word, words[word]);
  }
  _mm_sfence();
#else
  std::memcpy(to, from, byteLength);
#endif
}

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

bool isFirst = true;

void tell(const std::string &name, int threads, const std::vector<double> &speeds) {
  std::printf("%s\n  {\"name\": \"%s\", \"threads\": %d, \"value\": %.3f, \"samples\": [",
              isFirst ? "" : ",", name.c_str(), threads, median(speeds));
  for (std::size_t at = 0; at < speeds.size(); at++) {
    std::printf("%s%.3f", at == 0 ? "" : ", ", speeds[at]);
  }
  std::printf("]}");
  std::fflush(stdout);
  isFirst = false;
}

/** Measures in GB/s; the first round is not counted. */
void measure(const std::string &name, int threads, std::size_t bytes,
             const std::function<double()> &seconds) {
  std::vector<double> speeds;
  for (int sample = 0; sample <= sampleCount; sample++) {
    const double found = static_cast<double>(bytes) / seconds() / 1e9;
    if (sample > 0) speeds.push_back(found);
  }
  tell(name, threads, speeds);
}

void measureMemory(std::uint8_t *array, std::uint8_t *other, std::uint8_t *slots, std::size_t bytes,
                   int threads) {
  const std::size_t pieces = bytes / slotBytes;
  const auto nothing = [](int) {};
  const auto inPieces = [&](const std::function<void(int, std::size_t)> &body) {
    std::atomic<std::size_t> next{0};
    return onThreads(threads, nothing, [&](int thread) {
      for (std::size_t piece; (piece = next++) < pieces;) body(thread, piece * slotBytes);
    });
  };
  measure("memcpy between arrays", threads, bytes, [&] {
    return inPieces([&](int, std::size_t at) { std::memcpy(other + at, array + at, slotBytes); });
  });
  measure("memcpy into slots", threads, bytes, [&] {
    std::vector<int> turns(threads, 0);
    return inPieces([&](int thread, std::size_t at) {
      const int slot = thread * slotsPerThread + turns[thread]++ % slotsPerThread;
      std::memcpy(slots + slot * slotBytes, array + at, slotBytes);
    });
  });
  measure("memcpy out of slots", threads, bytes, [&] {
    std::vector<int> turns(threads, 0);
    return inPieces([&](int thread, std::size_t at) {
      const int slot = thread * slotsPerThread + turns[thread]++ % slotsPerThread;
      std::memcpy(array + at, slots + slot * slotBytes, slotBytes);
    });
  });
  measure("streaming stores out of slots", threads, bytes, [&] {
    std::vector<int> turns(threads, 0);
    return inPieces([&](int thread, std::size_t at) {
      const int slot = thread * slotsPerThread + turns[thread]++ % slotsPerThread;
      stream(array + at, slots + slot * slotBytes, slotBytes);
    });
  });
  measure("reading an array", threads, bytes, [&] {
    std::atomic<std::uint64_t> total{0};
    return inPieces([&](int, std::size_t at) {
      const auto *words = reinterpret_cast<const std::uint64_t *>(array + at);
      std::uint64_t sums[8] = {};
      for (std::size_t word = 0; word < slotBytes / 8; word += 8) {
        for (int lane = 0; lane < 8; lane++) sums[lane] += words[word + lane];
      }
      for (const auto sum : sums) total += sum;
    });
  });
}

/** Reading a file that is in the page cache, into slots. */
void measureFile(const std::uint8_t *array, std::uint8_t *slots, std::size_t bytes,
                 const std::vector<int> &counts) {
  std::FILE *made = std::tmpfile();
  if (made == nullptr) throw std::runtime_error("Cannot make a file");
  const int file = fileno(made);
  for (std::size_t at = 0; at < bytes; at += slotBytes) {
    if (pwrite(file, array + at, slotBytes, static_cast<off_t>(at)) != static_cast<ssize_t>(slotBytes)) {
      throw std::runtime_error("Cannot write a file");
    }
  }
  for (const std::size_t rowBytes : {slotBytes, std::size_t{2048}}) {
    const bool isRows = rowBytes < slotBytes;
    for (const int threads : counts) {
      const std::string name = isRows ? "pread of every other row of 2 KiB into slots" : "pread into slots";
      measure(name, threads, isRows ? bytes / 2 : bytes, [&] {
        std::atomic<std::size_t> next{0};
        std::vector<int> turns(threads, 0);
        return onThreads(threads, [](int) {}, [&](int thread) {
          for (std::size_t piece; (piece = next++) < bytes / slotBytes;) {
            auto *slot = slots + (thread * slotsPerThread + turns[thread]++ % slotsPerThread) * slotBytes;
            const std::size_t end = (piece + 1) * slotBytes;
            for (std::size_t at = piece * slotBytes; at < end; at += isRows ? 2 * rowBytes : rowBytes) {
              if (pread(file, slot, rowBytes, static_cast<off_t>(at)) < 0) std::abort();
              slot += isRows ? rowBytes : 0;
            }
          }
        });
      });
    }
  }
  std::fclose(made);
}

/** A device's context, stream and memory. */
struct Device {
  Handle context = nullptr;
  Handle stream = nullptr;
  Address memory = 0;
  std::uint8_t *pinned = nullptr;
};

constexpr std::size_t pinnedBytes = std::size_t{256} << 20;

std::vector<Device> openDevices(const Driver &driver, std::size_t bytes) {
  int count = 0;
  check(driver.deviceCount(&count), "cuDeviceGetCount");
  std::vector<Device> devices(count);
  for (int ordinal = 0; ordinal < count; ordinal++) {
    auto &device = devices[ordinal];
    int handle;
    check(driver.deviceGet(&handle, ordinal), "cuDeviceGet");
    check(driver.retain(&device.context, handle), "cuDevicePrimaryCtxRetain");
    check(driver.setCurrent(device.context), "cuCtxSetCurrent");
    check(driver.streamCreate(&device.stream, 1), "cuStreamCreate");
    check(driver.alloc(&device.memory, bytes), "cuMemAlloc");
    void *pinned;
    check(driver.hostAlloc(&pinned, pinnedBytes, 1), "cuMemHostAlloc");
    device.pinned = static_cast<std::uint8_t *>(pinned);
  }
  return devices;
}

/** Copies from page-locked memory on all devices at once, `bytes` on each. */
double linkSeconds(const Driver &driver, const std::vector<Device> &devices, std::size_t bytes,
                   bool isUp) {
  const double start = now();
  for (std::size_t at = 0; at < bytes; at += pinnedBytes) {
    for (const auto &device : devices) {
      check(driver.setCurrent(device.context), "cuCtxSetCurrent");
      const auto status = isUp
        ? driver.up(device.memory + at, device.pinned, pinnedBytes, device.stream)
        : driver.down(device.pinned, device.memory + at, pinnedBytes, device.stream);
      check(status, "cuMemcpyAsync");
    }
  }
  for (const auto &device : devices) check(driver.streamSynchronize(device.stream), "synchronize");
  return now() - start;
}

/** The state of one thread of the chain. */
struct Hand {
  Handle stream = nullptr;
  std::uint8_t *slots = nullptr;
  Handle events[slotsPerThread] = {};
};

/** Slots, a stream and events for each thread, which works for one of the devices. */
std::vector<Hand> openHands(const Driver &driver, const std::vector<Device> &devices, int threads) {
  std::vector<Hand> hands(threads);
  for (int thread = 0; thread < threads; thread++) {
    const auto &device = devices[thread % devices.size()];
    check(driver.setCurrent(device.context), "cuCtxSetCurrent");
    auto &hand = hands[thread];
    check(driver.streamCreate(&hand.stream, 1), "cuStreamCreate");
    void *slots;
    check(driver.hostAlloc(&slots, slotsPerThread * slotBytes, 1), "cuMemHostAlloc");
    hand.slots = static_cast<std::uint8_t *>(slots);
    for (auto &event : hand.events) check(driver.eventCreate(&event, 2), "cuEventCreate");
  }
  return hands;
}

/** A chain of copies: from ordinary memory to all devices, or back, by memcpy or past the caches. */
enum class Chain { up, down, streamingDown };

/** Ordinary memory through page-locked slots of each thread, to or from all devices at once. */
double chainSeconds(const Driver &driver, const std::vector<Device> &devices,
                    std::vector<Hand> &hands, std::uint8_t *array, std::size_t bytes, Chain chain) {
  const bool isUp = chain == Chain::up;
  const std::size_t share = bytes / devices.size();
  const std::size_t pieces = share / slotBytes;
  std::vector<std::atomic<std::size_t>> next(devices.size());
  for (auto &each : next) each = 0;
  const auto prepare = [&](int thread) {
    check(driver.setCurrent(devices[thread % devices.size()].context), "cuCtxSetCurrent");
  };
  return onThreads(static_cast<int>(hands.size()), prepare, [&](int thread) {
    const std::size_t ordinal = thread % devices.size();
    const auto &device = devices[ordinal];
    auto &hand = hands[thread];
    auto *own = array + ordinal * share;
    std::size_t waiting[slotsPerThread];
    int first = 0;
    int last = 0;
    const auto drain = [&] {
      const int slot = first++ % slotsPerThread;
      check(driver.eventSynchronize(hand.events[slot]), "cuEventSynchronize");
      auto *from = hand.slots + slot * slotBytes;
      if (chain == Chain::down) std::memcpy(own + waiting[slot], from, slotBytes);
      if (chain == Chain::streamingDown) stream(own + waiting[slot], from, slotBytes);
    };
    for (std::size_t piece; (piece = next[ordinal]++) < pieces;) {
      if (last - first == slotsPerThread) drain();
      const int slot = last++ % slotsPerThread;
      auto *place = hand.slots + slot * slotBytes;
      const std::size_t at = piece * slotBytes;
      waiting[slot] = at;
      if (isUp) {
        std::memcpy(place, own + at, slotBytes);
        check(driver.up(device.memory + at, place, slotBytes, hand.stream), "cuMemcpyHtoDAsync");
      } else {
        check(driver.down(place, device.memory + at, slotBytes, hand.stream), "cuMemcpyDtoHAsync");
      }
      check(driver.eventRecord(hand.events[slot], hand.stream), "cuEventRecord");
    }
    while (first < last) drain();
  });
}

void measureChain(const Driver &driver, const std::vector<Device> &devices, std::uint8_t *array,
                  std::size_t bytes, int threads) {
  auto hands = openHands(driver, devices, threads);
  const auto chain = [&](const char *name, Chain way) {
    measure(name, threads, bytes,
            [&] { return chainSeconds(driver, devices, hands, array, bytes, way); });
  };
  chain("a chain up in C++", Chain::up);
  chain("a chain down in C++", Chain::down);
  chain("a chain down in C++, streaming stores", Chain::streamingDown);
}

/** The links while threads copy ordinary memory: what each leaves to the other. */
void measureTogether(const Driver &driver, const std::vector<Device> &devices, std::uint8_t *array,
                     std::uint8_t *other, std::size_t bytes, int threads) {
  for (const bool isUp : {true, false}) {
    std::vector<double> links;
    std::vector<double> copies;
    for (int sample = 0; sample < sampleCount; sample++) {
      std::atomic<bool> isOver{false};
      std::atomic<std::size_t> copied{0};
      std::vector<std::thread> workers;
      for (int thread = 0; thread < threads; thread++) {
        workers.emplace_back([&, thread] {
          const std::size_t share = bytes / threads / slotBytes * slotBytes;
          for (std::size_t at = 0; !isOver; at = (at + slotBytes) % share) {
            std::memcpy(other + thread * share + at, array + thread * share + at, slotBytes);
            copied += slotBytes;
          }
        });
      }
      const std::size_t before = copied;
      const double seconds = linkSeconds(driver, devices, bytes / devices.size(), isUp);
      copies.push_back(static_cast<double>(copied - before) / seconds / 1e9);
      links.push_back(static_cast<double>(bytes) / seconds / 1e9);
      isOver = true;
      for (auto &worker : workers) worker.join();
    }
    const std::string way = isUp ? "up" : "down";
    tell("links " + way + " while threads copy", threads, links);
    tell("memcpy between arrays while links carry " + way, threads, copies);
  }
}

/** What page-locking ordinary memory where it lies costs. */
void measureRegistering(const Driver &driver, const Device &device) {
  const std::size_t bytes = std::size_t{1} << 30;
  check(driver.setCurrent(device.context), "cuCtxSetCurrent");
  for (const bool isHuge : {false, true}) {
    auto *array = touched(bytes, isHuge);
    const std::string pages = isHuge ? "2 MiB" : "4 KiB";
    std::vector<double> taken;
    std::vector<double> given;
    for (int sample = 0; sample < sampleCount; sample++) {
      double start = now();
      check(driver.hostRegister(array, bytes, 1), "cuMemHostRegister");
      taken.push_back(static_cast<double>(bytes) / (now() - start) / 1e9);
      start = now();
      check(driver.hostUnregister(array), "cuMemHostUnregister");
      given.push_back(static_cast<double>(bytes) / (now() - start) / 1e9);
    }
    tell("page-locking an array with pages of " + pages, 1, taken);
    tell("unlocking it again, pages of " + pages, 1, given);
    munmap(array, bytes);
  }
}

}  // namespace

int main(int argumentCount, char **arguments) {
  std::printf("{\"rows\": [");
  std::string error;
  try {
    const std::string only = argumentCount > 1 ? arguments[1] : "";
    const bool isHostOnly = only == "host";
    const bool isChainsOnly = only == "chains";
    int at = isHostOnly || isChainsOnly ? 2 : 1;
    const std::size_t bytes = std::strtoull(at < argumentCount ? arguments[at] : "1073741824", nullptr, 10);
    std::vector<int> counts;
    for (at++; at < argumentCount; at++) counts.push_back(std::atoi(arguments[at]));
    if (counts.empty()) counts.push_back(static_cast<int>(std::thread::hardware_concurrency()));
    const int most = *std::max_element(counts.begin(), counts.end());
    auto *array = touched(bytes);
    std::uint8_t *other = nullptr;
    if (!isChainsOnly) {
      other = touched(bytes);
      auto *slots = touched(most * slotsPerThread * slotBytes, true);
      for (const int threads : counts) measureMemory(array, other, slots, bytes, threads);
      measureFile(array, slots, std::min(bytes, std::size_t{1} << 30), counts);
    }
    if (!isHostOnly) {
      const Driver driver = openDriver();
      const auto devices = openDevices(driver, bytes / 2 * 2);
      for (const bool isUp : {true, false}) {
        measure(isUp ? "all links up" : "all links down", 1, bytes,
                [&] { return linkSeconds(driver, devices, bytes / devices.size(), isUp); });
      }
      for (const int threads : counts) measureChain(driver, devices, array, bytes, threads);
      for (const int threads : counts) {
        if (!isChainsOnly && 2 * threads >= most) measureTogether(driver, devices, array, other, bytes, threads);
      }
      if (!isChainsOnly) measureRegistering(driver, devices[0]);
    }
  } catch (const std::exception &failure) {
    error = failure.what();
  }
  std::printf("\n], \"error\": \"%s\"}\n", error.c_str());
  return error.empty() ? 0 : 1;
}
