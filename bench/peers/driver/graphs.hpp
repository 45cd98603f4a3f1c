// What a graph of device copies costs the host to launch, and how long it takes until it is done;
// the same copies queued one by one beside it.
#pragma once
#include "cuda.hpp"
#include "report.hpp"

namespace graphs {

// The kit's bench counts alike: bench/graphs.ts.
constexpr int batchCount = 101;
constexpr int batchCopies = 200;
constexpr std::size_t byteLength = 4096;
constexpr int copyCounts[] = {1, 10, 100};

struct Graph {
  CUgraphExec handle = nullptr;
  template <typename Work>
  Graph(const Stream &stream, Work work) {
    CUgraph graph;
    CHECK(cuStreamBeginCapture(stream.handle, CU_STREAM_CAPTURE_MODE_RELAXED));
    work();
    CHECK(cuStreamEndCapture(stream.handle, &graph));
    CHECK(cuGraphInstantiateWithFlags(&handle, graph, 0));
    CHECK(cuGraphDestroy(graph));
  }
  ~Graph() { cuGraphExecDestroy(handle); }
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;
};

inline void measureCount(Report &report, int copyCount) {
  const Stream stream;
  const DeviceBlock first(byteLength), second(byteLength);
  const auto copyAll = [&] {
    for (int i = 0; i < copyCount; i++) {
      const auto [to, from] = i % 2 ? std::pair(first.address, second.address)
                                    : std::pair(second.address, first.address);
      CHECK(cuMemcpyAsync(to, from, byteLength, stream.handle));
    }
  };
  const Graph graph(stream, copyAll);
  const auto launch = [&] { CHECK(cuGraphLaunch(graph.handle, stream.handle)); };
  const auto finished = [&](auto action) {
    return [action, &stream] {
      action();
      stream.synchronize();
    };
  };
  const std::string copies = std::to_string(copyCount) + " copies";
  const std::vector<Case> cases = {
      {"queueCopies", "cuMemcpyAsync, " + copies},
      {"launchGraph", "cuGraphLaunch, " + copies},
      {"finishCopies", "cuMemcpyAsync and cuStreamSynchronize, " + copies},
      {"finishGraph", "cuGraphLaunch and cuStreamSynchronize, " + copies},
  };
  const auto samples = sampleInTurn(
      batchCount, batchCopies / copyCount, {copyAll, launch, finished(copyAll), finished(launch)},
      [&] { stream.synchronize(); });
  for (std::size_t at = 0; at < cases.size(); at++) report.addSeconds(cases[at], samples[at]);
}

inline void measure(Report &report) {
  report.section("launchGraph", [&] {
    for (const int copyCount : copyCounts) measureCount(report, copyCount);
  });
}

}  // namespace graphs
