// NVRTC, NVIDIA's compiler of CUDA C++ for programs that run, as nvrtc.h declares it: one row per
// function, its C declaration above it.

/** The functions; none of them needs a GPU, a driver or a current context. */
export const NVRTC = {
  // const char *nvrtcGetErrorString(nvrtcResult result)
  nvrtcGetErrorString: { parameters: ["i32"], result: "u64" },
  // nvrtcResult nvrtcVersion(int *major, int *minor)
  nvrtcVersion: { parameters: ["buffer", "buffer"], result: "i32" },
  // nvrtcResult nvrtcGetNumSupportedArchs(int* numArchs)
  nvrtcGetNumSupportedArchs: { parameters: ["buffer"], result: "i32", optional: true },
  // nvrtcResult nvrtcGetSupportedArchs(int* supportedArchs)
  nvrtcGetSupportedArchs: { parameters: ["buffer"], result: "i32", optional: true },
  // nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name, int numHeaders, const char * const *headers, const char * const *includeNames)
  nvrtcCreateProgram: {
    parameters: ["buffer", "buffer", "buffer", "i32", "buffer", "buffer"],
    result: "i32",
  },
  // nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog)
  nvrtcDestroyProgram: { parameters: ["buffer"], result: "i32" },
  // nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions, const char * const *options)
  nvrtcCompileProgramNonblocking: {
    name: "nvrtcCompileProgram",
    parameters: ["u64", "i32", "buffer"],
    result: "i32",
    nonblocking: true,
  },
  // nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet)
  nvrtcGetPTXSize: { parameters: ["u64", "buffer"], result: "i32" },
  // nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx)
  nvrtcGetPTX: { parameters: ["u64", "buffer"], result: "i32" },
  // nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet)
  nvrtcGetCUBINSize: { parameters: ["u64", "buffer"], result: "i32", optional: true },
  // nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin)
  nvrtcGetCUBIN: { parameters: ["u64", "buffer"], result: "i32", optional: true },
  // nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet)
  nvrtcGetProgramLogSize: { parameters: ["u64", "buffer"], result: "i32" },
  // nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log)
  nvrtcGetProgramLog: { parameters: ["u64", "buffer"], result: "i32" },
  // nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char * const name_expression)
  nvrtcAddNameExpression: { parameters: ["u64", "buffer"], result: "i32" },
  // nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char *const name_expression, const char** lowered_name)
  nvrtcGetLoweredName: { parameters: ["u64", "buffer", "buffer"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The compiler as callable functions; an optional one that this version lacks is null. */
export type NvrtcApi = Deno.DynamicLibrary<typeof NVRTC>["symbols"];

/** Statuses of its functions. */
export const nvrtcResult = {
  NVRTC_SUCCESS: 0,
  NVRTC_ERROR_INVALID_OPTION: 5,
  NVRTC_ERROR_COMPILATION: 6,
  NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID: 10,
} as const;
