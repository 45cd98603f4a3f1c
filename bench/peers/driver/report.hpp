// The JSON document that every peer program prints: who was measured, on what, and the results.
// A section that fails leaves one entry with its error; the sections after it still run.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "timing.hpp"

inline std::string jsonText(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    const bool control = static_cast<unsigned char>(c) < 0x20;
    out += control ? ' ' : c;
  }
  return out + "\"";
}

inline std::string jsonNumber(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

inline double median(Samples samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  if (samples.size() % 2 == 1) return samples[middle];
  return (samples[middle - 1] + samples[middle]) / 2;
}

/** What was measured: a name shared by all peers, the calls that did it, and the bytes of one run.
 */
struct Case {
  std::string name;
  std::string method;
  std::size_t byteLength = 0;
};

class Report {
 public:
  void addSeconds(const Case &what, const Samples &seconds) { add(what, "s", seconds); }
  void addSpeeds(const Case &what, const Samples &gigabytesPerSecond) {
    add(what, "GB/s", gigabytesPerSecond);
  }

  template <typename Section>
  void section(const std::string &name, Section section) {
    std::fprintf(stderr, "C++ driver API: %s\n", name.c_str());
    try {
      section();
    } catch (const std::exception &error) {
      entries_.push_back("{\"name\":" + jsonText(name) + ",\"error\":" + jsonText(error.what()) +
                         "}");
    }
  }

  void print(const std::string &device,
             const std::vector<std::pair<std::string, std::string>> &versions) {
    std::printf("{\"peer\":\"C++ driver API\",\"device\":%s,\"versions\":{",
                jsonText(device).c_str());
    for (std::size_t i = 0; i < versions.size(); i++) {
      std::printf("%s%s:%s", i ? "," : "", jsonText(versions[i].first).c_str(),
                  jsonText(versions[i].second).c_str());
    }
    std::printf("},\"results\":[");
    for (std::size_t i = 0; i < entries_.size(); i++) {
      std::printf("%s\n%s", i ? "," : "", entries_[i].c_str());
    }
    std::printf("]}\n");
  }

 private:
  std::vector<std::string> entries_;

  // Thousands of samples of one short call say no more than twenty evenly spread ones.
  static constexpr std::size_t keptSampleCount = 21;

  void add(const Case &what, const char *unit, const Samples &samples) {
    const double value = median(samples);
    if (!std::isfinite(value))
      throw std::runtime_error("Cannot report " + what.name + ": no time passed");
    std::string entry = "{\"name\":" + jsonText(what.name) + ",\"method\":" + jsonText(what.method);
    if (what.byteLength > 0) entry += ",\"byteLength\":" + std::to_string(what.byteLength);
    entry += ",\"value\":" + jsonNumber(value) + ",\"unit\":\"" + unit + "\",\"samples\":[";
    const std::size_t stride = (samples.size() + keptSampleCount - 1) / keptSampleCount;
    for (std::size_t i = 0; i < samples.size(); i += stride) {
      entry += (i ? "," : "") + jsonNumber(samples[i]);
    }
    entries_.push_back(entry + "],\"sampleCount\":" + std::to_string(samples.size()) + "}");
  }
};
