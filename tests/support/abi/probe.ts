// Writes the C++ program that asks a compiler about a header: nothing of it is parsed by hand.
// It names functions inside decltype only, so that it needs no driver to link or run.

import { type AbiSubjects, symbolOf } from "./subjects.ts";

/** A header, as the program includes it. */
export interface ProbedHeader {
  readonly file: string;
  /** A macro that keeps it from renaming old functions to new versions. */
  readonly plainNames: string;
  /** The macro with its version. */
  readonly version: string;
}

/**
 * cuda.h declares each symbol by its plain name with __CUDA_API_VERSION_INTERNAL. Without it,
 * macros rename old names to new versions: cuMemAdvise would stand for the symbol cuMemAdvise_v2.
 */
export const CUDA_HEADER: ProbedHeader = {
  file: "cuda.h",
  plainNames: "__CUDA_API_VERSION_INTERNAL",
  version: "CUDA_VERSION",
};

/** nvml.h does the same. */
export const NVML_HEADER: ProbedHeader = {
  file: "nvml.h",
  plainNames: "NVML_NO_UNVERSIONED_FUNC_DEFS",
  version: "NVML_API_VERSION",
};

/** nvrtc.h declares each function once and has no macro with its version. */
export const NVRTC_HEADER: ProbedHeader = {
  file: "nvrtc.h",
  plainNames: "VRAMKIT_NVRTC_HAS_PLAIN_NAMES",
  version: "0",
};

/** dlpack.h declares no functions. */
export const DLPACK_HEADER: ProbedHeader = {
  file: "dlpack/dlpack.h",
  plainNames: "VRAMKIT_DLPACK_HAS_PLAIN_NAMES",
  version: "DLPACK_MAJOR_VERSION * 1000 + DLPACK_MINOR_VERSION * 10",
};

/** nccl.h declares each function once as well. */
export const NCCL_HEADER: ProbedHeader = {
  file: "nccl.h",
  plainNames: "VRAMKIT_NCCL_HAS_PLAIN_NAMES",
  version: "NCCL_VERSION_CODE",
};

/** Writes a program that prints the {@link AbiManifest} of these subjects as JSON. */
export function probeSource(subjects: AbiSubjects, header: ProbedHeader): string {
  const symbols = new Set(
    Object.entries(subjects.functions).map(([key, row]) => symbolOf(key, row)),
  );
  const functions = [...symbols].map((name) => `  function<decltype(&${name})>("${name}");`);
  const structs = Object.entries(subjects.structs).flatMap(([name, { members }]) => [
    `  open_struct("${name}", sizeof(${name}));`,
    ...Object.keys(members).map((path) => `  MEMBER(${name}, ${path});`),
    "  close_struct();",
  ]);
  const constants = Object.keys(subjects.constants).map((name) => `  CONSTANT(${name});`);
  return `#define ${header.plainNames}
#include <${header.file}>
${PRELUDE}
int main() {
  std::printf("{\\"headerVersion\\":%d,\\"functions\\":{", ${header.version});
${functions.join("\n")}
  section("structs");
${structs.join("\n")}
  section("constants");
${constants.join("\n")}
  std::printf("}}\\n");
}
`;
}

const PRELUDE = String.raw`#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>

template <class T> std::string type_name() {
  const std::string bytes = std::to_string(sizeof(T));
  const std::string bits = std::to_string(sizeof(T) * 8);
  if (std::is_pointer<T>::value) return "pointer";
  if (std::is_enum<T>::value) return "enum " + bytes;
  if (std::is_class<T>::value || std::is_union<T>::value) return "struct " + bytes;
  if (std::is_floating_point<T>::value) return "f" + bits;
  return (std::is_signed<T>::value ? "i" : "u") + bits;
}
template <> std::string type_name<void>() { return "void"; }

bool first = true;
void comma() {
  if (!first) std::printf(",");
  first = false;
}
void section(const char *name) {
  std::printf("},\"%s\":{", name);
  first = true;
}

template <class F> struct Signature;
template <class R, class... A> struct Signature<R (*)(A...)> {
  static void print(const char *name) {
    std::string parameters;
    for (const std::string &type : std::initializer_list<std::string>{type_name<A>()...})
      parameters += (parameters.empty() ? "\"" : ",\"") + type + "\"";
    comma();
    std::printf("\"%s\":{\"parameters\":[%s],\"result\":\"%s\"}", name, parameters.c_str(),
                type_name<R>().c_str());
  }
};
template <class F> void function(const char *name) { Signature<F>::print(name); }

void open_struct(const char *name, std::size_t size) {
  comma();
  std::printf("\"%s\":{\"byteLength\":%zu,\"members\":{", name, size);
  first = true;
}
void close_struct() {
  std::printf("}}");
  first = false;
}
void member(const char *path, std::size_t offset, std::size_t size) {
  comma();
  std::printf("\"%s\":{\"offset\":%zu,\"byteLength\":%zu}", path, offset, size);
}
#define MEMBER(type, path) member(#path, offsetof(type, path), sizeof(((type *)nullptr)->path))

void constant(const char *name, long long value) {
  comma();
  std::printf("\"%s\":%lld", name, value);
}
#define CONSTANT(name) constant(#name, (long long)(name))
`;
