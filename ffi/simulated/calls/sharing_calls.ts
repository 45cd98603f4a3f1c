// Driver calls that hand memory, pools and events to other processes, simulated.
// Their bytes lie in files without names, which a second process really maps. A process cannot open
// memory and events that it handed out itself, but pools; two machines of one process count as two.

import {
  CU_IPC_HANDLE_SIZE,
  CUevent_flags,
  CUipcMem_flags,
  CUmemAllocationHandleType as HandleType,
  type CUresult,
} from "../../constants.ts";
import { CUmemPoolPtrExportData } from "../../structs.ts";
import { refuse, requireValue } from "../errors.ts";
import { Allocation } from "../model/allocation.ts";
import { DeviceStorage } from "../model/device_storage.ts";
import { StreamEvent } from "../model/capture.ts";
import { MemoryPool } from "../model/memory_pool.ts";
import { isProcess, read, SharedBytes, type SharedKind } from "../model/shared_bytes.ts";
import { SharedMark } from "../model/shared_mark.ts";
import { callGroup } from "./calls.ts";
import { bytesOf, type Cell, giveHandle, put32, put64, requireCell } from "./cells.ts";
import { requireIdle } from "./memory_calls.ts";

type Status = keyof typeof CUresult;

const POSIX = HandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

export const sharingCalls = callGroup((machine) => {
  const { contexts, memory } = machine;

  /** Hands out memory once; later calls return the same handle. */
  function shareMemory(allocation: Allocation, kind: "memory" | "pooled"): SharedBytes {
    const { storage, byteLength } = allocation;
    if (allocation.shared !== undefined) return allocation.shared;
    requireValue(storage instanceof DeviceStorage);
    const pool = allocation.pool === undefined ? undefined : idOf(allocation.pool);
    const shared = SharedBytes.create(kind, { machine: machine.id, byteLength, pool });
    storage.shareOver(shared.bytes);
    return allocation.shared = shared;
  }

  /** Opens the object of a handle; invalid handles and objects that are gone share a status. */
  function open(handle: Cell, kind: SharedKind, otherwise: Status): SharedBytes {
    const bytes = bytesOf(handle).slice(0, CU_IPC_HANDLE_SIZE);
    const facts = read(bytes);
    if (facts?.kind !== kind) return refuse(otherwise);
    const isOwn = facts.machine === machine.id;
    if (isOwn && kind !== "pooled") return refuse("CUDA_ERROR_INVALID_CONTEXT");
    const shared = SharedBytes.open(bytes);
    if (shared !== undefined) return shared;
    if (kind === "memory" && !isProcess(facts.pid)) refuse("CUDA_ERROR_INVALID_HANDLE");
    return refuse(otherwise, kind === "event" ? "goneEvent" : undefined);
  }

  /** Finds memory of another process that is open here. */
  function opened(id: string | undefined): Allocation | undefined {
    if (id === undefined) return undefined;
    return memory.allocations().find(({ shared, isForeign }) =>
      isForeign && shared?.facts.id === id
    );
  }

  /** Gives memory of another process an address here. */
  function adopt(shared: SharedBytes, pool?: MemoryPool): number {
    const context = contexts.current;
    const storage = DeviceStorage.over(shared.bytes);
    const place = memory.place(pool?.device ?? context.device, storage.byteLength);
    const id = machine.nextId();
    const kind = pool === undefined ? "imported" : "pool";
    const options = { kind, context, id, storage, ...pool === undefined ? {} : { pool } } as const;
    const allocation = new Allocation(place, options);
    allocation.shared = shared;
    // Memory of another process takes nothing from the device here.
    if (pool !== undefined) pool.usedBytes += storage.byteLength;
    memory.add(allocation);
    return place.address;
  }

  /** Returns the number by which other processes know a pool. */
  function idOf(pool: MemoryPool): string {
    pool.shared ??= SharedBytes.create("pool", { machine: machine.id });
    return pool.shared.facts.id;
  }

  return {
    cuIpcGetMemHandle(handle, address) {
      const allocation = memory.at(Number(address));
      requireValue(allocation instanceof Allocation);
      contexts.requireCurrent();
      requireValue(allocation.kind === "device");
      bytesOf(handle).set(shareMemory(allocation, "memory").handle);
    },
    cuIpcOpenMemHandle_v2(address, handle, flags) {
      contexts.requireCurrent();
      requireCell(address);
      requireValue(flags === CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
      const known = opened(read(bytesOf(handle))?.id);
      if (known !== undefined) known.openCount++;
      put64(address, known?.address ?? adopt(open(handle, "memory", "CUDA_ERROR_INVALID_VALUE")));
    },
    cuIpcCloseMemHandle(address) {
      contexts.requireCurrent();
      // Memory that the other process has freed can still be closed.
      const allocation = memory.entryFrom(Number(address));
      requireValue(allocation?.kind === "imported");
      if (allocation.openCount > 1) return void allocation.openCount--;
      requireIdle(machine, allocation);
      memory.remove(allocation);
    },
    cuIpcGetEventHandle(handle, event) {
      requireValue(event !== 0n);
      const found = machine.find(StreamEvent, event);
      contexts.requireCurrent();
      if ((found.flags & CUevent_flags.CU_EVENT_INTERPROCESS) === 0) {
        refuse("CUDA_ERROR_INVALID_HANDLE");
      }
      if (found.context !== contexts.current) {
        machine.site.fail("endsProcess", "the event belongs to another context");
      }
      found.shared ??= new SharedMark(SharedBytes.create("event", { machine: machine.id }));
      bytesOf(handle).set(found.shared.shared.handle);
    },
    cuIpcOpenEventHandle(event, handle) {
      contexts.requireCurrent();
      requireCell(event);
      const shared = open(handle, "event", "CUDA_ERROR_MAP_FAILED");
      const { current } = contexts;
      const { CU_EVENT_INTERPROCESS, CU_EVENT_DISABLE_TIMING } = CUevent_flags;
      const flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
      const make = () => new StreamEvent(current, flags);
      giveHandle(machine, event, make, current).shared = new SharedMark(shared);
    },
    cuMemPoolExportToShareableHandle(descriptor, handle, type, flags) {
      const pool = machine.find(MemoryPool, handle, "CUDA_ERROR_INVALID_VALUE");
      requireCell(descriptor);
      requireValue(type === POSIX && flags === 0n && (pool.handleTypes & type) !== 0);
      idOf(pool);
      const duplicate = pool.shared?.duplicate() ?? -1;
      if (duplicate < 0) refuse("CUDA_ERROR_OPERATING_SYSTEM");
      put32(descriptor, duplicate);
    },
    cuMemPoolImportFromShareableHandle(pool, descriptor, type, flags) {
      contexts.requireCurrent();
      requireCell(pool);
      requireValue(type === POSIX && flags === 0n);
      const facts = SharedBytes.handleIn(Number(descriptor));
      if (facts?.kind !== "pool") return refuse("CUDA_ERROR_UNKNOWN");
      const { device } = contexts.current;
      const options = { handleTypes: type, importedId: facts.id };
      machine.pools.add(giveHandle(machine, pool, (made) => new MemoryPool(device, made, options)));
    },
    cuMemPoolExportPointer(data, address) {
      const allocation = memory.allocationFrom(Number(address));
      requireValue(allocation?.kind === "pool" && !allocation.isForeign);
      // Before the pool itself was handed out, the driver refuses its memory.
      requireValue(allocation.pool?.shared !== undefined);
      const { handle } = shareMemory(allocation, "pooled");
      bytesOf(data).set(CUmemPoolPtrExportData.encode({ reserved: handle }));
    },
    cuMemPoolImportPointer(address, handle, data) {
      const pool = machine.find(MemoryPool, handle, "CUDA_ERROR_INVALID_VALUE");
      requireCell(address);
      const facts = read(bytesOf(data));
      requireValue(facts !== undefined && pool.importedId === facts.pool);
      contexts.requireCurrent();
      // The driver gives the same address again, and the first free ends it.
      const known = opened(facts.id);
      if (known !== undefined) return put64(address, known.address);
      put64(address, adopt(open(data, "pooled", "CUDA_ERROR_INVALID_VALUE"), pool));
    },
  };
});
