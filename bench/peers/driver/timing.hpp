// Host clocks, samples and the bytes that every timed copy is checked against.
// A batch shares one pair of clock readings, so that the clock's own cost stays out of short calls.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

using Samples = std::vector<double>;

template <typename Action>
double secondsOf(Action action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/** Times single calls: one sample each, after one call that is not counted. */
template <typename Action>
Samples sampleCalls(int sampleCount, Action action) {
  action();
  Samples samples;
  for (int i = 0; i < sampleCount; i++) samples.push_back(secondsOf(action));
  return samples;
}

/** Times batches of a short call, in seconds a call; `settle` runs between batches, untimed. */
template <typename Action, typename Settle>
Samples sampleBatches(int sampleCount, int callCount, Action action, Settle settle) {
  Samples samples;
  for (int i = 0; i <= sampleCount; i++) {
    settle();
    action();
    const double seconds = secondsOf([&] {
      for (int call = 0; call < callCount; call++) action();
    });
    if (i > 0) samples.push_back(seconds / callCount);  // the first batch warms up
  }
  settle();
  return samples;
}

/** Times batches of several short calls in turn, so that what disturbs one disturbs them all. */
template <typename Settle>
std::vector<Samples> sampleInTurn(int sampleCount, int callCount,
                                  const std::vector<std::function<void()>> &actions,
                                  Settle settle) {
  std::vector<Samples> samples(actions.size());
  for (int i = 0; i <= sampleCount; i++) {
    for (std::size_t at = 0; at < actions.size(); at++) {
      settle();
      const auto &action = actions[at];
      const double seconds = secondsOf([&] {
        for (int call = 0; call < callCount; call++) action();
      });
      if (i > 0) samples[at].push_back(seconds / callCount);  // the first batch warms up
    }
  }
  settle();
  return samples;
}

/** Fills memory with bytes that repeat after 8 * 2^64 bytes at the earliest: a shifted copy shows.
 */
inline void fillPattern(void *target, std::size_t byteLength, std::uint64_t seed) {
  auto *bytes = static_cast<std::uint8_t *>(target);
  std::uint64_t state = seed;
  for (std::size_t at = 0; at < byteLength; at += sizeof state) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    std::memcpy(bytes + at, &state, std::min(sizeof state, byteLength - at));
  }
}

inline void requireEqual(const void *actual, const void *expected, std::size_t byteLength) {
  if (std::memcmp(actual, expected, byteLength) != 0) {
    throw std::runtime_error("Cannot trust the copy: its bytes differ from the source");
  }
}
