// The CUDA driver API from C++: the ceiling that every other peer, and this kit, is compared with.
// Prints one JSON document. Build: nvcc -O3 -std=c++17 -o driver driver.cpp -lcuda
// `driver device-copy` measures what queueing a device copy costs, `driver graphs` what launching
// a graph does, `driver launches` what launching a kernel does, and nothing else.
#include "driver/allocation.hpp"
#include "driver/bandwidth.hpp"
#include "driver/calls.hpp"
#include "driver/device_copy.hpp"
#include "driver/graphs.hpp"
#include "driver/launches.hpp"
#include "driver/pageable.hpp"
#include "driver/startup.hpp"

namespace {

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string deviceName(CUdevice device) {
  char name[256] = "";
  CHECK(cuDeviceGetName(name, sizeof name, device));
  return name;
}

void measureAll(Report &report, CUdevice device) {
  allocation::measure(report, device);
  calls::measure(report);
  device_copy::measure(report);
  graphs::measure(report);
  launches::measure(report);
  pageable::measure(report);
  // A context that cannot hold the largest blocks fails here, after the cases that need little.
  report.section("bandwidth", [&] { bandwidth::measure(report); });
}

}  // namespace

int main(int argumentCount, char **arguments) {
  const std::string part = argumentCount > 1 ? arguments[1] : "";
  Report report;
  // Forks, so it has to come before this process starts the driver.
  if (part.empty()) {
    report.section("initialize and retainContext", [&] { measureStartup(report); });
  }

  std::string name = "none";
  int driverVersion = 0;
  report.section("every other case", [&] {
    CHECK(cuInit(0));
    CHECK(cuDriverGetVersion(&driverVersion));
    CUdevice device;
    CHECK(cuDeviceGet(&device, 0));
    name = deviceName(device);
    CUcontext context;
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    if (part == "device-copy")
      device_copy::measure(report);
    else if (part == "graphs")
      graphs::measure(report);
    else if (part == "launches")
      launches::measure(report);
    else
      measureAll(report, device);
    CHECK(cuDevicePrimaryCtxRelease(device));
  });
  report.print(name, {{"cudaDriver", versionText(driverVersion)},
                      {"cudaHeader", versionText(CUDA_VERSION)}});
  return 0;
}
