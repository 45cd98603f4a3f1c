// Copies between any two kinds of memory, as planes of rows; a plain copy is a plane of one row.
// Ordinary host arrays are staged or waited for at the call, as the real driver does it.

import { hex, refuse, requireValue } from "../errors.ts";
import { pageableRegion } from "../model/address_space.ts";
import { Allocation } from "../model/allocation.ts";
import type { Context } from "../model/context.ts";
import { costOf, type Engine, type Route } from "../model/device.ts";
import type { Machine } from "../model/machine.ts";
import type { Owner, Region } from "../model/region.ts";
import { Mapping } from "../model/reservation.ts";
import type { Stream } from "../model/stream.ts";
import { queueMemoryWork, type Use } from "./memory_work.ts";
import { byteLengthOf, extentOf, type Plane, requirePlanesApart } from "./planes.ts";

/** Largest ordinary array that is staged; a larger one is copied before the call returns. */
const MAX_STAGED_BYTES = 16 << 20;

/** Rows of so many bytes are moved faster byte by byte than by a call each. */
const NARROW_BYTES = 32;

/** Queues a copy of planes of the same kind; `contexts` are those whose rights count. */
export function queueCopy(
  machine: Machine,
  stream: Stream,
  options: { planes: readonly Plane[]; contexts?: readonly Context[] },
): void {
  const { contexts = [stream.context] } = options;
  const isNamed = options.contexts !== undefined;
  const [first] = options.planes;
  if (first === undefined) return;
  const byteLength = byteLengthOf(options.planes);
  const isStaged = first.source.region.kind === "pageable" && byteLength <= MAX_STAGED_BYTES;
  const planes = isStaged ? options.planes.map(stage) : options.planes;
  for (const plane of planes) {
    // Where the call names contexts, the current one does not count.
    if (!isNamed) {
      for (const use of sidesOf(plane)) refuseForeignContext(machine, contexts, use);
    }
    requireRights(machine, contexts, plane);
    for (const { region } of sidesOf(plane)) requireOneHome(machine, region);
    if (!isNamed) requireContextBetween(machine, plane);
  }
  requirePlanesApart(machine, planes);
  const route = routeOf(first);
  const operation = queueMemoryWork(machine, stream, {
    uses: planes.flatMap((plane) => sidesOf(plane).reverse()),
    seconds: costOf(route, byteLength),
    engine: engineOf(stream, route),
    run: () => planes.forEach(move),
  });
  // The pages of managed memory can be on the device, so that the host does not copy them itself.
  const isByHost = route === "host" && !sidesOf(first).some(({ region }) => isManaged(region));
  const mustWait = first.destination.region.kind === "pageable" || isByHost ||
    (first.source.region.kind === "pageable" && !isStaged);
  if (operation !== undefined && mustWait) machine.scheduler.finish(operation);
}

function isManaged({ segments }: Region): boolean {
  return segments.some(({ owner }) => owner instanceof Allocation && owner.isManaged);
}

/** Rejects memory that cannot be the device's side of a copy: ordinary arrays, and pools on the host. */
export function requireDevicePointer({ kind, segments }: Region): void {
  requireValue(kind !== "pageable");
  const isHostPool = segments.some(({ owner }) =>
    owner instanceof Allocation && owner.pool?.kind === "host"
  );
  requireValue(!isHostPool);
}

/** Throws when no context has the right to read the source, or to write the destination. */
export function requireRights(machine: Machine, contexts: readonly Context[], plane: Plane): void {
  for (const use of sidesOf(plane)) requireAccess(machine, contexts, use);
}

function sidesOf(plane: Plane): Use[] {
  const { destination, source } = plane;
  return [
    { region: destination.region, extent: extentOf(plane, destination), write: true },
    { region: source.region, extent: extentOf(plane, source), write: false },
  ];
}

/** Throws when no context has the right to touch a region. */
export function requireAccess(
  machine: Machine,
  contexts: readonly Context[],
  use: { region: Region; write: boolean; kernel?: boolean },
): void {
  for (const { owner } of use.region.segments) {
    // The copy engine reaches plain device memory of any device; kernels and other memory need rights.
    const isOpen = isPlain(owner) && !use.kernel;
    if (isOpen || contexts.some((context) => owner.permits(context, use.write))) continue;
    const device = contexts[0]?.device.ordinal;
    machine.site.fail(
      "rights",
      `device ${device} has no right to ${use.write ? "write" : "read"} ${owner.label} at ` +
        `${hex(use.region.address)} on device ${use.region.device?.ordinal}`,
    );
  }
}

/** The driver looks at the current context, too, before it lets a copy touch pool or mapped memory. */
function refuseForeignContext(
  machine: Machine,
  contexts: readonly Context[],
  { region, write }: { region: Region; write: boolean },
): void {
  const { top } = machine.contexts;
  if (top === undefined || contexts.includes(top)) return;
  for (const { owner } of region.segments) {
    if (!isPlain(owner) && !owner.permits(top, write)) refuse("CUDA_ERROR_INVALID_VALUE");
  }
}

/** Throws when a range is in physical memory of the host and of a device at once. */
function requireOneHome(machine: Machine, { address, segments }: Region): void {
  const homes = new Set(
    segments.map(({ owner }) => owner instanceof Mapping && owner.physical.device.isHost),
  );
  if (homes.size <= 1) return;
  machine.site.fail(
    "endsProcess",
    `the range at ${hex(address)} is in physical memory of the host and of a device`,
  );
}

/** Throws when a copy of plain memory and another device's pool or mapping lacks a context. */
function requireContextBetween(machine: Machine, { destination, source }: Plane): void {
  const [to, from] = [destination.region, source.region];
  const isBetween = to.kind === "device" && from.kind === "device" && to.device !== from.device;
  const isMixed = isPlainMemory(to) !== isPlainMemory(from);
  if (machine.contexts.top !== undefined || !isBetween || !isMixed) return;
  machine.site.fail(
    "endsProcess",
    `no context is current for the copy from ${hex(from.address)} to ${hex(to.address)}, where ` +
      "one device has plain memory and the other memory that is mapped or a pool's",
  );
}

function isPlainMemory({ segments }: Region): boolean {
  return segments.every(({ owner }) => isPlain(owner));
}

/** Tells whether memory is that of one device and of one context, which needs no rights. */
export function isPlain(owner: Owner): boolean {
  return owner instanceof Allocation && owner.kind === "device";
}

function stage(plane: Plane): Plane {
  const { region, pitchBytes } = plane.source;
  const bytes = region.span(0, region.byteLength, "read").slice();
  return { ...plane, source: { region: pageableRegion(bytes, region.address), pitchBytes } };
}

function routeOf({ source, destination }: Plane): Route {
  const [from, to] = [source.region.kind, destination.region.kind];
  if (from === "device" && to === "device") {
    return source.region.device === destination.region.device ? "local" : "peer";
  }
  if (from === "device") return to === "pageable" ? "downloadPageable" : "downloadPinned";
  if (to === "device") return from === "pageable" ? "uploadPageable" : "uploadPinned";
  return "host";
}

function engineOf(stream: Stream, route: Route): Engine | undefined {
  const { device } = stream.context;
  if (route === "host") return undefined;
  if (route === "local") return device.compute;
  return route.startsWith("upload") ? device.uploads : device.downloads;
}

/** Moves the bytes of a plane, whatever they are. */
export function move(plane: Plane): void {
  const { source, destination, widthBytes, rowCount } = plane;
  if (source.pitchBytes === widthBytes && destination.pitchBytes === widthBytes) {
    return moveRow(plane, { from: 0, to: 0, byteLength: widthBytes * rowCount });
  }
  for (let row = 0; row < rowCount;) {
    const from = source.region.span(row * source.pitchBytes, Infinity, "read");
    const to = destination.region.span(row * destination.pitchBytes, Infinity, "write");
    // The rows that lie whole in both spans; one that does not goes by itself.
    const fitting = Math.min(
      Math.floor((from.byteLength - widthBytes) / source.pitchBytes) + 1,
      Math.floor((to.byteLength - widthBytes) / destination.pitchBytes) + 1,
      rowCount - row,
    );
    if (fitting <= 0) {
      const [start, place] = [row * source.pitchBytes, row * destination.pitchBytes];
      moveRow(plane, { from: start, to: place, byteLength: widthBytes });
    }
    for (let at = 0; at < fitting; at++) {
      const [start, place] = [at * source.pitchBytes, at * destination.pitchBytes];
      if (widthBytes > NARROW_BYTES) to.set(from.subarray(start, start + widthBytes), place);
      else for (let i = 0; i < widthBytes; i++) to[place + i] = from[start + i] ?? 0;
    }
    row += Math.max(fitting, 1);
  }
}

function moveRow(plane: Plane, row: { from: number; to: number; byteLength: number }): void {
  for (let done = 0; done < row.byteLength;) {
    const left = row.byteLength - done;
    const from = plane.source.region.span(row.from + done, left, "read");
    const to = plane.destination.region.span(row.to + done, from.byteLength, "write");
    to.set(from.subarray(0, to.byteLength));
    done += to.byteLength;
  }
}
