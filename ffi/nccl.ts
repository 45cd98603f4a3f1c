// NCCL, NVIDIA's library of collective operations, as nccl.h declares it: one row per function, its C
// declaration above it. A group of calls belongs to a thread, so only what ends a communicator, which may be
// done on other threads and waits there, is nonblocking.

/** `ncclUniqueId`: 128 bytes, passed by value. */
const ncclUniqueId: { readonly struct: readonly "u8"[] } = {
  struct: Array.from({ length: 128 }, () => "u8"),
};

/** The rest of the row of a function that came later. */
const OPTIONAL = { result: "i32", optional: true } as const;

/** The rest of the row of a function that runs off the JavaScript thread. */
const NONBLOCKING = { result: "i32", nonblocking: true } as const;

/** The functions that every version from 2.14 on has, and optional ones that came later. */
export const NCCL = {
  // ncclResult_t ncclGetVersion(int *version)
  ncclGetVersion: { parameters: ["buffer"], result: "i32" },
  // ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId)
  ncclGetUniqueId: { parameters: ["buffer"], result: "i32" },
  // ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config)
  ncclCommInitRankConfig: {
    parameters: ["buffer", "i32", ncclUniqueId, "i32", "buffer"],
    result: "i32",
  },
  // ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist)
  ncclCommInitAll: { parameters: ["buffer", "i32", "buffer"], result: "i32" },
  // ncclResult_t ncclCommFinalize(ncclComm_t comm)
  ncclCommFinalize: { parameters: ["u64"], result: "i32" },
  // ncclResult_t ncclCommDestroy(ncclComm_t comm)
  ncclCommDestroy: { parameters: ["u64"], result: "i32" },
  ncclCommDestroyNonblocking: { name: "ncclCommDestroy", parameters: ["u64"], ...NONBLOCKING },
  // ncclResult_t ncclCommAbort(ncclComm_t comm)
  ncclCommAbortNonblocking: { name: "ncclCommAbort", parameters: ["u64"], ...NONBLOCKING },
  // ncclResult_t ncclCommInitRankScalable(ncclComm_t* newcomm, int nranks, int myrank, int nId, ncclUniqueId* commIds, ncclConfig_t* config)
  ncclCommInitRankScalable: {
    parameters: ["buffer", "i32", "i32", "i32", "buffer", "buffer"],
    ...OPTIONAL,
  },
  // const char* ncclGetLastError(ncclComm_t comm)
  ncclGetLastError: { parameters: ["u64"], result: "u64" },
  // ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError)
  ncclCommGetAsyncError: { parameters: ["u64", "buffer"], result: "i32" },
  // ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
  ncclReduce: {
    parameters: ["u64", "u64", "usize", "i32", "i32", "i32", "u64", "u64"],
    result: "i32",
  },
  // ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream)
  ncclBroadcast: { parameters: ["u64", "u64", "usize", "i32", "i32", "u64", "u64"], result: "i32" },
  // ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
  ncclAllReduce: { parameters: ["u64", "u64", "usize", "i32", "i32", "u64", "u64"], result: "i32" },
  // ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
  ncclReduceScatter: {
    parameters: ["u64", "u64", "usize", "i32", "i32", "u64", "u64"],
    result: "i32",
  },
  // ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream)
  ncclAllGather: { parameters: ["u64", "u64", "usize", "i32", "u64", "u64"], result: "i32" },
  // ncclResult_t ncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream)
  ncclAlltoAll: { parameters: ["u64", "u64", "usize", "i32", "u64", "u64"], ...OPTIONAL },
  // ncclResult_t ncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream)
  ncclGather: { parameters: ["u64", "u64", "usize", "i32", "i32", "u64", "u64"], ...OPTIONAL },
  // ncclResult_t ncclScatter(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream)
  ncclScatter: { parameters: ["u64", "u64", "usize", "i32", "i32", "u64", "u64"], ...OPTIONAL },
  // ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm, cudaStream_t stream)
  ncclSend: { parameters: ["u64", "usize", "i32", "i32", "u64", "u64"], result: "i32" },
  // ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm, cudaStream_t stream)
  ncclRecv: { parameters: ["u64", "usize", "i32", "i32", "u64", "u64"], result: "i32" },
  // ncclResult_t ncclGroupStart()
  ncclGroupStart: { parameters: [], result: "i32" },
  // ncclResult_t ncclGroupEnd()
  ncclGroupEnd: { parameters: [], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

/** The library as callable functions; an optional one that this version lacks is null. */
export type NcclApi = Deno.DynamicLibrary<typeof NCCL>["symbols"];

/** Name of a function in the table. */
export type NcclFunction = keyof typeof NCCL;
