// What a launch of a kernel with eight parameters costs the host.
#pragma once
#include "cuda.hpp"
#include "report.hpp"

namespace launches {

// The kit's bench counts alike: bench/launches.ts.
constexpr int batchCount = 101;
constexpr int batchLaunches = 200;
constexpr std::size_t byteLength = 4096;

// bench/peers/python/launches.py and bench/launches.ts have the same.
constexpr const char *ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry eight(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 e,
  .param .u32 f, .param .f32 g, .param .f64 h) { ret; }
)";

inline void measure(Report &report) {
  report.section("launchKernel", [&] {
    CUmodule module;
    CUfunction kernel;
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "eight"));
    const Stream stream;
    const DeviceBlock block(byteLength);
    unsigned first = 1;
    float third = 0.5f;
    double fourth = 0.25;
    const auto launch = [&] {
      CUdeviceptr address = block.address;
      void *values[] = {&address, &address, &address, &address, &first, &first, &third, &fourth};
      CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream.handle, values, nullptr));
    };
    const auto samples =
        sampleInTurn(batchCount, batchLaunches, {launch}, [&] { stream.synchronize(); });
    report.addSeconds({"launchKernel", "cuLaunchKernel"}, samples[0]);
    CHECK(cuModuleUnload(module));
  });
}

}  // namespace launches
