// What cuInit and the first retain of the primary context cost.
// Both happen once in a process, so each sample is a child forked before this process touches CUDA.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "cuda.hpp"
#include "report.hpp"

struct StartupSeconds {
  double initialize = 0;
  double retain = 0;
};

inline StartupSeconds startDriver() {
  StartupSeconds seconds;
  seconds.initialize = secondsOf([] { CHECK(cuInit(0)); });
  CUdevice device;
  CHECK(cuDeviceGet(&device, 0));
  CUcontext context;
  seconds.retain = secondsOf([&] { CHECK(cuDevicePrimaryCtxRetain(&context, device)); });
  return seconds;
}

inline StartupSeconds startDriverInChild() {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("Cannot open a pipe to the child process");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("Cannot fork a child process");
  if (child == 0) {
    close(ends[0]);
    try {
      const StartupSeconds seconds = startDriver();
      const bool sent = write(ends[1], &seconds, sizeof seconds) == sizeof seconds;
      _exit(sent ? 0 : 1);
    } catch (const std::exception &) {
      _exit(1);
    }
  }
  close(ends[1]);
  StartupSeconds seconds;
  const ssize_t received = read(ends[0], &seconds, sizeof seconds);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (received != sizeof seconds || status != 0) {
    throw std::runtime_error("Cannot start the driver in a child process");
  }
  return seconds;
}

inline void measureStartup(Report &report) {
  Samples initialize, retain;
  for (int i = 0; i < 3; i++) {
    const StartupSeconds seconds = startDriverInChild();
    initialize.push_back(seconds.initialize);
    retain.push_back(seconds.retain);
  }
  report.addSeconds({"initialize", "cuInit"}, initialize);
  report.addSeconds({"retainContext", "cuDevicePrimaryCtxRetain"}, retain);
}
