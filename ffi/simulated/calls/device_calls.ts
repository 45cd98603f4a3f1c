// Driver calls that start the driver and describe devices, and those for primary contexts and the stack
// of current ones, simulated. A context that its last user has released refuses every call.

import { CUdevice_P2PAttribute as P2P, CUresult } from "../../constants.ts";
import { refuse, requireValue } from "../errors.ts";
import { hostAddress } from "../model/address_space.ts";
import { attributesOf, pciBusIdOf, uuidOf } from "../model/device.ts";
import { callGroup } from "./calls.ts";
import { bytesOf, put32, put64, putText, requireCell } from "./cells.ts";

/** C strings that callers hold pointers to; they live as long as the module. */
const ERROR_TEXTS = new Map(
  Object.entries(CUresult).map(([name, status]) => [
    status as number,
    new TextEncoder().encode(
      `${name.replace(/^CUDA_(ERROR_)?/, "").toLowerCase().replaceAll("_", " ")}\0`,
    ),
  ]),
);

/** The shortest memory for a bus address, such as `0000:01:00.0` with a zero byte. */
const BUS_ID_BYTES = 13;

/** Greatest and least priority of a stream; a smaller number goes first. */
const STREAM_PRIORITIES = { greatest: -5, least: 0 };

export const deviceCalls = callGroup((machine) => {
  const { contexts, settings } = machine;
  const attributes = machine.devices.map(({ ordinal }) => attributesOf(ordinal, settings));
  const isReached = Number(settings.peerAccess);
  const linkAttributes: Readonly<Record<number, number>> = {
    [P2P.CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK]: 0,
    [P2P.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED]: isReached,
    [P2P.CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED]: isReached,
  };

  return {
    cuGetErrorString(status, text) {
      const bytes = ERROR_TEXTS.get(status);
      put64(text, bytes === undefined ? 0 : hostAddress(bytes));
      requireValue(bytes !== undefined);
    },
    cuInit(flags) {
      requireValue(flags === 0);
      if (machine.devices.length === 0) refuse("CUDA_ERROR_NO_DEVICE");
      machine.isInitialized = true;
    },
    cuDriverGetVersion: (version) => put32(version, settings.driverVersion),
    cuDeviceGet: (device, ordinal) => put32(device, machine.device(ordinal).ordinal),
    cuDeviceGetCount: (count) => put32(count, machine.devices.length),
    cuDeviceGetName(name, capacity, ordinal) {
      machine.device(ordinal);
      if (capacity < 1) {
        machine.site.fail("endsProcess", `a name needs more than ${capacity} bytes`);
      }
      putText(name, capacity, "Simulated");
    },
    cuDeviceGetUuid_v2(uuid, ordinal) {
      machine.device(ordinal);
      bytesOf(uuid).set(uuidOf(ordinal));
    },
    cuDeviceTotalMem_v2: (total, ordinal) => put64(total, machine.device(ordinal).memoryBytes),
    cuDeviceGetAttribute(value, attribute, ordinal) {
      machine.device(ordinal);
      put32(value, attributes[ordinal]?.get(attribute) ?? refuse("CUDA_ERROR_INVALID_VALUE"));
    },
    cuDeviceGetPCIBusId(text, capacity, ordinal) {
      const address = pciBusIdOf(machine.device(ordinal).ordinal);
      requireValue(capacity >= BUS_ID_BYTES);
      putText(text, capacity, address);
    },
    cuDeviceCanAccessPeer(canAccess, ordinal, peer) {
      const isOther = machine.device(ordinal) !== machine.device(peer);
      put32(canAccess, Number(isOther && settings.peerAccess));
    },
    cuDeviceGetP2PAttribute(value, attribute, ordinal, peer) {
      if (machine.device(ordinal) === machine.device(peer)) refuse("CUDA_ERROR_INVALID_DEVICE");
      put32(value, linkAttributes[attribute] ?? refuse("CUDA_ERROR_INVALID_VALUE"));
    },
    cuDeviceGetDefaultMemPool(pool, ordinal) {
      machine.device(ordinal);
      if (!settings.poolsSupported) refuse("CUDA_ERROR_NOT_SUPPORTED");
      put64(pool, machine.defaultPools[ordinal]?.handle ?? refuse("CUDA_ERROR_INVALID_DEVICE"));
    },
    cuDevicePrimaryCtxRetain(context, ordinal) {
      requireCell(context);
      put64(context, machine.retain(machine.device(ordinal)).handle);
    },
    cuDevicePrimaryCtxRelease_v2: (ordinal) => machine.release(machine.device(ordinal)),
    cuCtxPushCurrent_v2(context) {
      requireValue(context !== 0n);
      contexts.push(machine.anyContext(context));
    },
    cuCtxPopCurrent_v2(context) {
      const popped = contexts.pop();
      if (context !== null) put64(context, popped.handle);
    },
    cuCtxSetCurrent: (context) =>
      contexts.replace(context === 0n ? undefined : machine.anyContext(context)),
    cuCtxGetCurrent: (context) => put64(context, contexts.top?.handle ?? 0n),
    cuCtxSynchronize() {
      const { current } = contexts;
      for (const stream of machine.streamsOf(current)) machine.captures.requireUncaptured(stream);
      machine.synchronize(current);
    },
    cuCtxGetStreamPriorityRange(least, greatest) {
      contexts.requireCurrent();
      if (least !== null) put32(least, STREAM_PRIORITIES.least);
      if (greatest !== null) put32(greatest, STREAM_PRIORITIES.greatest);
    },
    cuCtxEnablePeerAccess(handle, flags) {
      const { current } = contexts;
      const peer = machine.context(handle);
      requireValue(flags === 0);
      if (peer.device === current.device) refuse("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");
      machine.requireRelaxed();
      if (!settings.peerAccess) refuse("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");
      if (current.peers.has(peer)) refuse("CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED");
      // Kernels that were launched before do not get the new access.
      machine.scheduler.runAll();
      current.peers.add(peer);
    },
    cuCtxDisablePeerAccess(handle) {
      const { current } = contexts;
      const peer = machine.context(handle);
      machine.requireRelaxed();
      if (!current.peers.delete(peer)) refuse("CUDA_ERROR_PEER_ACCESS_NOT_ENABLED");
    },
  };
});
