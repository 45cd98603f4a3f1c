// Every public call that takes options: how to make it, and which options it knows.

import {
  CudaDevice,
  type CudaGraph,
  CudaStream,
  type DeviceBuffer,
  type ManagedBuffer,
  type StagedBuffer,
  type StridedView,
} from "../../mod.ts";
import { transferBench } from "../../src/bench/mod.ts";
import {
  type DeviceGroup,
  type DeviceList,
  type DeviceParts,
  joinGroup,
  StripedMemoryResource,
} from "../../src/entries/group.ts";
import type { CudaKernel, CudaModule } from "../../src/entries/kernels.ts";
import {
  AlignedResourceAdaptor,
  CachingResourceAdaptor,
  CudaAsyncMemoryResource,
  FailureCallbackResourceAdaptor,
  LimitingResourceAdaptor,
  LoggingResourceAdaptor,
  MappedHostMemoryResource,
  PooledPinnedHostMemoryResource,
  TrackingResourceAdaptor,
  VirtualMemoryResource,
} from "../../src/entries/memory.ts";
import { loadGguf, readGgufHeader } from "../../src/entries/gguf.ts";
import { loadNpy, loadNpz, saveNpz } from "../../src/entries/numpy.ts";
import { Python, startPython } from "../../src/entries/python.ts";
import { hubModel, localPath, readSafetensorsHeader } from "../../src/entries/safetensors.ts";
import type { MemoryTicket } from "../../src/entries/sharing.ts";
import { simulateDriver } from "../../src/entries/simulated.ts";
import {
  Figure,
  machineCard,
  memoryMeter,
  PlotlyRuntime,
  progress,
  readMemorySnapshot,
  systemMeter,
  warnOfReruns,
} from "../../src/notebook/mod.ts";
import { isRecord } from "../../src/words/options.ts";
import { Parts } from "../../src/words/parts.ts";

/** The objects on which the calls are made. */
export interface DoorScene {
  readonly gpu: CudaDevice;
  /** Four numbers that no refused call may change. */
  readonly buffer: DeviceBuffer<"float32">;
  /** The same, for copies. */
  readonly source: DeviceBuffer<"float32">;
  /** A strided view of the first. */
  readonly view: StridedView<"float32", DeviceBuffer<"float32">>;
  /** A device buffer with a mirror. */
  readonly staged: StagedBuffer<"float32">;
  readonly managed: ManagedBuffer<"float32">;
  /** A recorded fill. */
  readonly graph: CudaGraph;
  /** A module with a kernel of four parameters. */
  readonly module: CudaModule;
  /** That kernel. */
  readonly kernel: CudaKernel;
  readonly folder: string;
  /** A group of simulated devices: its options are read before NCCL is called. */
  readonly group: GroupScene;
}

/** The objects on which the calls of groups are made. */
export interface GroupScene {
  /** Two devices. */
  readonly gpus: DeviceList<CudaDevice>;
  /** Their group. */
  readonly world: DeviceGroup;
  /** Four numbers on each of them. */
  readonly parts: readonly DeviceBuffer<"float32">[];
  /** The same, as an array in parts. */
  readonly spread: DeviceParts<"float32">;
}

/** The sort of one option, for which the walk knows wrong values. */
export type OptionSort =
  | "stream"
  | "text"
  | "flag"
  | "number"
  | "size"
  | "shape"
  | "dtype"
  | "resource"
  | "callback"
  | "signal"
  | "list"
  | "record"
  | "word"
  | "anything";

/** Makes a call that looks into the cache of huggingface_hub, where it begins, with a folder for that. */
function inCache<T>(folder: string, call: () => T): T {
  const before = Deno.env.get("HF_HUB_CACHE");
  Deno.env.set("HF_HUB_CACHE", folder);
  try {
    return call();
  } finally {
    if (before === undefined) Deno.env.delete("HF_HUB_CACHE");
    else Deno.env.set("HF_HUB_CACHE", before);
  }
}

/** One call that takes options. */
export interface Door {
  /** The name of the call in messages, without parentheses. */
  readonly name: string;
  readonly takes: Readonly<Record<string, OptionSort>>;
  readonly call: (scene: DoorScene, options: never) => unknown;
}

/** A snapshot of nothing. */
const SNAPSHOT = await readMemorySnapshot(new TextEncoder().encode('{"segments":[]}'));

const SNAPSHOT_OPTIONS = { device: "number", stackCount: "number" } as const;
const STREAM = { stream: "stream" } as const;
const TRANSFER = { ...STREAM, onProgress: "callback", signal: "signal" } as const;
const PLACE = { ...STREAM, label: "text" } as const;
const ALLOCATE = { ...PLACE, resource: "resource" } as const;
const PARTS = { onProgress: "callback", signal: "signal" } as const;
const SHARDED = {
  ...PARTS,
  place: "list",
  filter: "callback",
  maxHeaderSize: "size",
  label: "text",
} as const;
const LOAD_MODEL = {
  ...ALLOCATE,
  ...TRANSFER,
  filter: "callback",
  maxHeaderSize: "size",
  cache: "word",
} as const;
const HUB = { revision: "text", file: "text", cacheDir: "anything" } as const;
const DEVICE = { ...ALLOCATE, shareable: "flag" } as const;
const ELEMENTS = { dtype: "dtype", shape: "shape" } as const;
const LOAD_ONE = { ...ALLOCATE, ...TRANSFER, dtype: "dtype" } as const;
const COLLECTIVE = { streams: "list", timeoutSeconds: "number", signal: "signal" } as const;
const GROUP = { timeoutSeconds: "number", label: "text" } as const;
const REDUCE = { ...COLLECTIVE, op: "word", into: "list" } as const;
const WRITE = { sync: "flag", inPlace: "flag" } as const;
const OPEN = {
  driver: "word",
  libraryPath: "text",
  order: "word",
  origins: "word",
  resource: "callback",
  pinnedResource: "callback",
  transfers: "record",
} as const;
const QUERY = {
  kind: "word",
  label: "text",
  scope: "text",
  origin: "text",
  minSize: "size",
  maxSize: "size",
  olderThanSeconds: "number",
  newerThanSeconds: "number",
  sortBy: "word",
} as const;
const LAYOUT = { shape: "shape", strides: "list", offset: "number" } as const;
const VALUES = new Float32Array([5, 6, 7, 8]);
const BLOB = new Blob([VALUES]);

/** A Python with no interpreter behind it: every expression is one array, or one stream. */
function pythonThatGives({ address, handle }: { address?: bigint; handle?: bigint }): Python {
  const said = { printed: "", complained: "", released: [] };
  const values: Readonly<Record<string, unknown>> = {
    start: ["3", ""],
    take: { address: `${address}`, versioned: true },
    keep: [1, `${handle}`],
  };
  const exchange = ({ work }: { readonly work: string }) => ({ ...said, value: values[work] });
  const interpreter = { libraryPath: "", exchange } as never;
  return new Python(new Parts({ interpreter, onPrint: undefined }));
}

/** All of them, by class and method; a constructor goes by its class. */
export const DOORS: Readonly<Record<string, Door>> = named({
  "CudaDevice.open": door(OPEN, (_, o) => CudaDevice.open(0, o)),
  "CudaDevice.all": door(OPEN, (_, o) => CudaDevice.all(o)),
  "CudaDevice.openMany": door(OPEN, (_, o) => CudaDevice.openMany([0], o)),
  "CudaDevice.count": door(OPEN, (_, o) => CudaDevice.count(o)),
  "CudaDevice#alloc": door(DEVICE, ({ gpu }, o) => gpu.alloc("float32", 4, o)),
  "CudaDevice#zeros": door(DEVICE, ({ gpu }, o) => gpu.zeros("float32", 4, o)),
  "CudaDevice#iota": door({ ...DEVICE, start: "anything", step: "anything" }, ({ gpu }, o) => {
    return gpu.iota("float32", 4, o);
  }),
  // A wrong name: a keeper would outlive the test.
  "CudaDevice#persist": door(
    { key: "text", replace: "flag", move: "flag", signal: "signal" },
    ({ gpu }, o) => gpu.persist(5 as never, () => gpu.zeros("uint8", 4), o),
  ),
  "CudaDevice#sleep": door(
    { to: "word", path: "anything", onUse: "word" },
    ({ gpu, buffer }, o) => gpu.sleep(buffer, o),
  ),
  "CudaDevice#pinned": door(ALLOCATE, ({ gpu }, o) => gpu.pinned("float32", 4, o)),
  "CudaDevice#upload": door(
    { ...DEVICE, ...TRANSFER, ...ELEMENTS },
    ({ gpu }, o) => gpu.upload(VALUES, o),
  ),
  "CudaDevice#uploadSync": door(
    { ...DEVICE, ...TRANSFER, ...ELEMENTS },
    ({ gpu }, o) => gpu.uploadSync(VALUES, o),
  ),
  "CudaDevice#uploadAll": door(
    { ...ALLOCATE, ...TRANSFER, into: "list" },
    ({ gpu }, o) => gpu.uploadAll([VALUES], o),
  ),
  "CudaDevice#downloadAll": door(
    { ...TRANSFER, into: "list" },
    ({ gpu, buffer }, o) => gpu.downloadAll([buffer], o),
  ),
  "CudaDevice#fromHandle": door({
    ...ALLOCATE,
    ...ELEMENTS,
    owner: "anything",
    deallocate: "callback",
  }, ({ gpu, buffer }, o) => gpu.fromHandle(buffer.ptr, buffer.byteLength, o)),
  "CudaDevice#fromDLPack": door(
    { ...PLACE, dtype: "dtype", versioned: "flag", strided: "flag" },
    ({ gpu, buffer }, o) => {
      using tensor = buffer.toDLPack();
      return gpu.fromDLPack(tensor, o);
    },
  ),
  "Python#buffer": door(
    { ...PLACE, gpu: "anything", dtype: "dtype", strided: "flag" },
    ({ gpu, buffer }, o) => {
      using tensor = buffer.toDLPack();
      const options = isRecord(o) ? Object.assign(Object.create(o), { gpu }) : o;
      return pythonThatGives(tensor).buffer("x", options);
    },
  ),
  "Python#stream": door({ gpu: "anything", label: "text" }, ({ gpu }, o) => {
    const options = isRecord(o) ? Object.assign(Object.create(o), { gpu }) : o;
    return pythonThatGives({ handle: 1n }).stream("s", options);
  }),
  "startPython": door(
    { executable: "text", libraryPath: "text", onPrint: "callback" },
    (_, o) => startPython(o),
  ),
  "GpuBuffer#toDLPack": door(
    { ...STREAM, versioned: "flag", copy: "flag" },
    ({ buffer }, o) => buffer.toDLPack(o),
  ),
  "StridedView#toDLPack": door(
    { ...STREAM, versioned: "flag", copy: "flag" },
    ({ buffer }, o) => buffer.strided().toDLPack(o),
  ),
  "CudaDevice#open": door(
    { ...PLACE, dtype: "dtype", timeoutSeconds: "number", signal: "signal" },
    ({ gpu }, o) => gpu.open(strangeTicket(gpu), o),
  ),
  "CudaDevice#openEvent": door(
    { label: "text" },
    ({ gpu }, o) => gpu.openEvent({ ...strangeTicket(gpu), kind: "event" }, o),
  ),
  "CudaDevice#takeOver": door(PLACE, ({ gpu }, o) => gpu.takeOver({} as never, o)),
  "CudaDevice#copyBatch": door(
    STREAM,
    ({ gpu, buffer, source }, o) => gpu.copyBatch([{ source, destination: buffer }], o),
  ),
  "CudaDevice#uploadFile": door({
    ...ALLOCATE,
    ...TRANSFER,
    ...ELEMENTS,
    fileOffset: "number",
    byteLength: "number",
  }, ({ gpu, folder }, o) => gpu.uploadFile(`${folder}/there.bin`, o)),
  "CudaDevice#from": door(
    { ...ALLOCATE, ...TRANSFER, ...ELEMENTS },
    ({ gpu }, o) => gpu.from(BLOB, o),
  ),
  "CudaDevice#loadNpy": door(LOAD_ONE, ({ gpu, folder }, o) => {
    return gpu.loadNpy(`${folder}/there.npy`, o);
  }),
  "loadNpy": door(LOAD_ONE, ({ gpu, folder }, o) => {
    return loadNpy(`${folder}/there.npy`, gpu, o);
  }),
  "loadNpz": door({ ...ALLOCATE, ...TRANSFER }, ({ gpu, folder }, o) => {
    return loadNpz(`${folder}/there.npz`, gpu, o);
  }),
  "saveNpz": door({ ...TRANSFER, ...WRITE, compress: "flag" }, ({ buffer, folder }, o) => {
    return saveNpz(`${folder}/new.npz`, { buffer }, o);
  }),
  "GpuBuffer#saveNpy": door({ ...TRANSFER, ...WRITE }, ({ buffer, folder }, o) => {
    return buffer.saveNpy(`${folder}/new.npy`, o);
  }),
  "CudaDevice#loadSafetensors": door(
    LOAD_MODEL,
    ({ gpu, folder }, o) => gpu.loadSafetensors(`${folder}/there.safetensors`, o),
  ),
  "hubModel": door({ ...LOAD_MODEL, ...HUB }, ({ gpu, folder }, o) => {
    return inCache(folder, () => hubModel("org/there", gpu, o));
  }),
  "localPath": door(HUB, ({ folder }, o) => inCache(folder, () => localPath("org/there", o))),
  "loadGguf": door(LOAD_MODEL, ({ gpu, folder }, o) => loadGguf(`${folder}/there.gguf`, gpu, o)),
  "readGgufHeader": door({ maxHeaderSize: "size" }, ({ folder }, o) => {
    return readGgufHeader(`${folder}/there.gguf`, o);
  }),
  "readSafetensorsHeader": door({ maxHeaderSize: "size" }, ({ folder }, o) => {
    return readSafetensorsHeader(`${folder}/there.safetensors`, o);
  }),
  "CudaDevice#saveSafetensors": door(
    {
      ...TRANSFER,
      ...WRITE,
      metadata: "anything",
      formats: "record",
      tied: "word",
      shardSize: "size",
    },
    ({ gpu, buffer, folder }, o) => gpu.saveSafetensors(`${folder}/new.safetensors`, { buffer }, o),
  ),
  "CudaDevice#createStream": door(
    { priority: "word", label: "text" },
    ({ gpu }, o) => gpu.createStream(o),
  ),
  "CudaDevice#createEvent": door(
    { timing: "flag", shareable: "flag", label: "text" },
    ({ gpu }, o) => gpu.createEvent(o),
  ),
  "CudaDevice#capture": door(
    PLACE,
    ({ gpu, buffer }, o) => gpu.capture(() => void buffer.fill(9), o),
  ),
  "CudaDevice#compile": door({
    name: "text",
    options: "list",
    include: "list",
    architecture: "text",
    cache: "flag",
    label: "text",
  }, ({ gpu }, o) => gpu.compile("", o)),
  "CudaDevice#loadModule": door(
    { label: "text" },
    ({ gpu, folder }, o) => gpu.loadModule(`${folder}/there.bin`, o),
  ),
  "CudaDevice#occupancy": door(
    { block: "number", sharedBytes: "number" },
    ({ gpu, kernel }, o) => gpu.occupancy(kernel, o),
  ),
  "CudaKernel#launch": door({
    ...STREAM,
    grid: "anything",
    block: "anything",
    sharedBytes: "number",
    cooperative: "flag",
    cluster: "anything",
    args: "list",
  }, ({ kernel }, o) => kernel.launch(o)),
  "CudaModule#global": door(ELEMENTS, ({ module }, o) => module.global("missing", o)),
  "CudaDevice#time": door(STREAM, ({ gpu, buffer }, o) => gpu.time(() => buffer.fill(9), o)),
  "CudaDevice#bandwidth": door({
    sizes: "list",
    kinds: "list",
    directions: "list",
    cases: "list",
    caseSize: "size",
    sampleCount: "number",
    onProgress: "callback",
    signal: "signal",
  }, ({ gpu }, o) => gpu.bandwidth(o)),
  "CudaDevice#scope": door({ label: "text" }, ({ gpu, buffer }, o) => {
    return gpu.scope(() => buffer.fill(9), o);
  }),
  "CudaDevice#live": door(QUERY, ({ gpu }, o) => gpu.live(o)),
  "CudaDevice#staged": door(
    { ...ALLOCATE, pinnedResource: "resource" },
    ({ gpu }, o) => gpu.staged("float32", 4, o),
  ),
  "CudaDevice#mapped": door(
    { ...PLACE, portable: "flag", writeCombined: "flag" },
    ({ gpu }, o) => gpu.mapped("float32", 4, o),
  ),
  "CudaDevice#managed": door(ALLOCATE, ({ gpu }, o) => gpu.managed("float32", 4, o)),
  "CudaDevice#downloadPinned": door(
    ALLOCATE,
    ({ gpu, buffer }, o) => gpu.downloadPinned(buffer, o),
  ),
  "CudaDevice#growable": door(
    { ...PLACE, reserveSize: "size", stepSize: "size", shape: "shape" },
    ({ gpu }, o) => gpu.growable("float32", o),
  ),
  "CudaDevice#lazy": door(
    { ...ALLOCATE, file: "text", fileOffset: "number" },
    ({ gpu }, o) => gpu.lazy("float32", 4, o),
  ),
  "LazyBuffer#load": door(PARTS, async ({ gpu, folder }, o) => {
    using lazy = gpu.lazy("float32", 4, { file: `${folder}/there.bin` });
    await lazy.load(o);
  }),
  "CudaDevice#register": door(
    { ...PLACE, ...ELEMENTS, portable: "flag", readOnly: "flag" },
    ({ gpu }, o) => gpu.register(new Float32Array(1024), o),
  ),
  "CudaDevice#pitched": door(PLACE, ({ gpu }, o) => gpu.pitched("float32", [2, 2], o)),
  "GpuBuffer#slice": door(PLACE, ({ buffer }, o) => buffer.slice(0, 2, o)),
  "GpuBuffer#to": door(PLACE, ({ gpu, buffer }, o) => buffer.to(gpu, o)),
  "GpuBuffer#astype": door({ ...PLACE, into: "record" }, ({ buffer }, o) => {
    return buffer.astype("int32", o);
  }),
  "RemoteBuffer#set": door(TRANSFER, ({ buffer }, o) => buffer.set(VALUES, 0, o)),
  "GpuBuffer#strided": door(LAYOUT, ({ buffer }, o) => buffer.strided(o)),
  "GpuBuffer#allocateLike": door(PLACE, ({ buffer }, o) => buffer.allocateLike(4, o)),
  "GpuBuffer#copyFrom": door(STREAM, ({ buffer, source }, o) => buffer.copyFrom(source, o)),
  "GpuBuffer#copyTo": door(STREAM, ({ buffer, source }, o) => source.copyTo(buffer, o)),
  "GpuBuffer#fillPattern": door(
    STREAM,
    ({ buffer }, o) => buffer.fillPattern(new Uint8Array([1]).buffer, o),
  ),
  "GpuBuffer#fill": door(STREAM, ({ buffer }, o) => buffer.fill(9, o)),
  "GpuBuffer#clear": door(STREAM, ({ buffer }, o) => buffer.clear(o)),
  "GpuBuffer#at": door(STREAM, ({ buffer }, o) => buffer.at(0, o)),
  "GpuBuffer#setAt": door(STREAM, ({ buffer }, o) => buffer.setAt(0, 9, o)),
  "GpuBuffer#item": door(STREAM, ({ buffer }, o) => buffer.view(0).item(o)),
  "GpuBuffer#upload": door(TRANSFER, ({ buffer }, o) => buffer.upload(VALUES, o)),
  "GpuBuffer#uploadSync": door(STREAM, ({ buffer }, o) => buffer.uploadSync(VALUES, o)),
  "GpuBuffer#download": door(TRANSFER, ({ buffer }, o) => buffer.download(undefined, o)),
  "GpuBuffer#downloadSync": door(STREAM, ({ buffer }, o) => buffer.downloadSync(undefined, o)),
  "GpuBuffer#writeFile": door(
    { ...TRANSFER, ...WRITE, fileOffset: "number" },
    ({ buffer, folder }, o) => buffer.writeFile(`${folder}/new.bin`, o),
  ),
  "StridedView#showImage": door(
    { colors: "word", range: "list" },
    ({ buffer }, o) => buffer.reshape([1, -1]).transpose().showImage(o),
  ),
  "GpuBuffer#showImage": door(
    { colors: "word", range: "list" },
    ({ buffer }, o) => buffer.reshape([1, -1]).showImage(o),
  ),
  "GpuBuffer#equals": door(STREAM, ({ buffer, source }, o) => buffer.equals(source, o)),
  "GpuBuffer#firstDifference": door(STREAM, ({ buffer, source }, o) => {
    return buffer.firstDifference(source, o);
  }),
  "GpuBuffer#checksum": door(STREAM, ({ buffer }, o) => buffer.checksum(o)),
  "GpuBuffer#describe": door(TRANSFER, ({ buffer }, o) => buffer.describe(o)),
  "StagedBuffer#push": door(
    { ...STREAM, start: "number", end: "number" },
    ({ staged }, o) => staged.push(o),
  ),
  "StagedBuffer#pull": door(
    { ...STREAM, start: "number", end: "number" },
    ({ staged }, o) => staged.pull(o),
  ),
  "ManagedBuffer#prefetch": door(STREAM, ({ managed, gpu }, o) => managed.prefetch(gpu, o)),
  "ManagedBuffer#discard": door(STREAM, ({ managed }, o) => managed.discard(o)),
  "StridedView#range": door(
    { start: "number", end: "number", step: "number" },
    ({ view }, o) => view.range(0, o),
  ),
  "StridedView#copyFrom": door(STREAM, ({ view, source }, o) => view.copyFrom(source, o)),
  "StridedView#copyTo": door(STREAM, ({ view, source }, o) => source.strided().copyTo(view, o)),
  "StridedView#fill": door(STREAM, ({ view }, o) => view.fill(9, o)),
  "StridedView#clear": door(STREAM, ({ view }, o) => view.clear(o)),
  "StridedView#astype": door({ ...PLACE, into: "record" }, ({ view }, o) => {
    return view.astype("int32", o);
  }),
  "StridedView#at": door(STREAM, ({ view }, o) => view.at(0, o)),
  "StridedView#setAt": door(STREAM, ({ view }, o) => view.setAt(0, 9, o)),
  "StridedView#equals": door(STREAM, ({ view, source }, o) => view.equals(source, o)),
  "StridedView#describe": door(TRANSFER, ({ view }, o) => view.describe(o)),
  "StridedView#fillPattern": door(
    STREAM,
    ({ view }, o) => view.fillPattern(new Uint8Array([1]).buffer, o),
  ),
  "StridedView#contiguous": door(STREAM, ({ view }, o) => view.contiguous(o)),
  "StridedView#upload": door(TRANSFER, ({ view }, o) => view.upload(VALUES, o)),
  "StridedView#download": door(TRANSFER, ({ view }, o) => view.download(undefined, o)),
  "StridedView#uploadSync": door(STREAM, ({ view }, o) => view.uploadSync(VALUES, o)),
  "StridedView#downloadSync": door(STREAM, ({ view }, o) => view.downloadSync(undefined, o)),
  "DeviceList#group": door(GROUP, ({ group: { gpus } }, o) => gpus.group(o)),
  "DeviceList#upload": door({
    ...ELEMENTS,
    ...PARTS,
    split: "anything",
    offsets: "list",
    label: "text",
  }, ({ group: { gpus } }, o) => gpus.upload(VALUES, o)),
  "DeviceList#stripe": door(
    { stripeSize: "size", dtype: "dtype", label: "text" },
    ({ group: { gpus } }, o) => gpus.stripe(1024, o),
  ),
  "new StripedMemoryResource": door(
    { stripeSize: "size" },
    ({ group: { gpus } }, o) => new StripedMemoryResource(gpus, o),
  ),
  "DeviceList#bandwidth": door({
    cases: "list",
    caseSize: "size",
    sampleCount: "number",
    onProgress: "callback",
    signal: "signal",
  }, ({ group: { gpus } }, o) => gpus.bandwidth(o)),
  "DeviceList#loadSafetensors": door(SHARDED, ({ group: { gpus }, folder }, o) => {
    return gpus.loadSafetensors(`${folder}/there.safetensors`, o);
  }),
  "DeviceGroup#loadSafetensors": door(
    SHARDED,
    ({ group: { world }, folder }, o) => world.loadSafetensors(`${folder}/there.safetensors`, o),
  ),
  "DeviceParts#upload": door(PARTS, ({ group: { spread } }, o) => spread.upload(VALUES, o)),
  "DeviceParts#download": door(PARTS, ({ group: { spread } }, o) => spread.download(undefined, o)),
  "DeviceGroup#allReduce": door(REDUCE, ({ group: { world, parts } }, o) => {
    return world.allReduce(parts, o);
  }),
  "DeviceGroup#reduce": door(
    { ...COLLECTIVE, op: "word", root: "number", into: "record" },
    ({ group: { world, parts } }, o) => world.reduce(parts, o),
  ),
  "DeviceGroup#broadcast": door(
    { ...COLLECTIVE, root: "number", into: "list" },
    ({ group: { world, parts } }, o) => world.broadcast(parts, o),
  ),
  "DeviceGroup#allGather": door(
    { ...COLLECTIVE, into: "list" },
    ({ group: { world, parts } }, o) => world.allGather(parts, o),
  ),
  "DeviceGroup#reduceScatter": door(REDUCE, ({ group: { world, parts } }, o) => {
    return world.reduceScatter(parts, o);
  }),
  "DeviceGroup#allToAll": door(
    { ...COLLECTIVE, into: "list" },
    ({ group: { world, parts } }, o) => world.allToAll(parts, o),
  ),
  "DeviceGroup#gather": door(
    { ...COLLECTIVE, root: "number", into: "record" },
    ({ group: { world, parts } }, o) => world.gather(parts, o),
  ),
  "DeviceGroup#scatter": door(
    { ...COLLECTIVE, root: "number", into: "list" },
    ({ group: { world, parts: [part] } }, o) => world.scatter(part as never, o),
  ),
  "DeviceGroup#split": door(
    { ...GROUP, color: "number", key: "number", signal: "signal" },
    ({ group: { world } }, o) => world.split(o),
  ),
  "DeviceGroup#shrink": door(
    { ...GROUP, exclude: "list", signal: "signal" },
    ({ group: { world } }, o) => world.shrink(o),
  ),
  "joinGroup": door({
    ...GROUP,
    ...{ rendezvous: "text", rank: "number", size: "number", token: "text" },
    ...{ device: "record", signal: "signal" },
  }, (_, o) => joinGroup(o)),
  "DeviceGroup#send": door({ to: "number" }, ({ group: { world, parts: [part] } }, o) => {
    return world.send(part as never, o);
  }),
  "DeviceGroup#recv": door({ from: "number" }, ({ group: { world, parts: [part] } }, o) => {
    return world.recv(part as never, o);
  }),
  "DeviceGroup#batch": door(COLLECTIVE, ({ group: { world } }, o) => world.batch(() => {}, o)),
  "DeviceGroup#barrier": door(COLLECTIVE, ({ group: { world } }, o) => world.barrier(o)),
  "CudaGraph#launch": door(STREAM, ({ graph }, o) => graph.launch(o)),
  "CudaStream.fromHandle": door(
    { gpu: "record", owner: "anything", label: "text" },
    ({ gpu }, o) => {
      const given = o as object | null;
      const options = given?.constructor === Object ? { gpu, ...given } : given;
      return CudaStream.fromHandle(5n, options as never);
    },
  ),
  "CudaStream#record": door(
    { timing: "flag", shareable: "flag", label: "text" },
    ({ gpu }, o) => gpu.stream.record(o),
  ),
  simulateDriver: door({
    deviceCount: "number",
    memorySize: "size",
    peers: "flag",
    pools: "flag",
    integrated: "flag",
    concurrentManagedAccess: "flag",
    cudaVersion: "text",
    kernels: "record",
    ncclVersion: "text",
    ranks: "callback",
    fault: "callback",
  }, (_, o) => simulateDriver(o)),
  "LiveTable#filter": door(QUERY, ({ gpu }, o) => gpu.live().filter(o)),
  "Timeline#start": door({ eventCount: "number" }, ({ gpu }, o) => gpu.timeline.start(o)),
  "new CudaAsyncMemoryResource": door({
    maxSize: "size",
    releaseThresholdSize: "size",
    reuse: "record",
    handleType: "word",
  }, ({ gpu }, o) => new CudaAsyncMemoryResource(gpu, o)),
  "new VirtualMemoryResource": door(
    { tag: "text" },
    ({ gpu }, o) => new VirtualMemoryResource(gpu, o),
  ),
  "new PooledPinnedHostMemoryResource": door(
    { keepSize: "size" },
    ({ gpu }, o) => new PooledPinnedHostMemoryResource(gpu, o),
  ),
  "new LimitingResourceAdaptor": door(
    { limitSize: "size" },
    ({ gpu }, o) => new LimitingResourceAdaptor(gpu.memoryResource, o),
  ),
  "new FailureCallbackResourceAdaptor": door(
    { onFailure: "callback" },
    ({ gpu }, o) => new FailureCallbackResourceAdaptor(gpu.memoryResource, o),
  ),
  "new CachingResourceAdaptor": door(
    { limitSize: "size" },
    ({ gpu }, o) => new CachingResourceAdaptor(gpu.memoryResource, o),
  ),
  "new TrackingResourceAdaptor": door(
    { captureStacks: "flag" },
    ({ gpu }, o) => new TrackingResourceAdaptor(gpu.memoryResource, o),
  ),
  "new LoggingResourceAdaptor": door(
    { write: "callback" },
    ({ gpu }, o) => new LoggingResourceAdaptor(gpu.memoryResource, o),
  ),
  "new AlignedResourceAdaptor": door(
    { alignmentSize: "size", thresholdSize: "size" },
    ({ gpu }, o) => new AlignedResourceAdaptor(gpu.memoryResource, o),
  ),
  "new MappedHostMemoryResource": door(
    { portable: "flag", writeCombined: "flag" },
    ({ gpu }, o) => new MappedHostMemoryResource(gpu, o),
  ),
  "new PlotlyRuntime": door({ full: "flag" }, (_, o) => void new PlotlyRuntime(o)),
  "Timeline#toMemoryViz": door(
    { format: "word" },
    ({ gpu }, o) => gpu.timeline.toMemoryViz(o),
  ),
  "MemorySnapshot#plotTimeline": door(
    { ...SNAPSHOT_OPTIONS, axis: "word" },
    (_, o) => SNAPSHOT.plotTimeline(o),
  ),
  "MemorySnapshot#plotMap": door(SNAPSHOT_OPTIONS, (_, o) => SNAPSHOT.plotMap(o)),
  "MemorySnapshot#largestStacks": door(SNAPSHOT_OPTIONS, (_, o) => SNAPSHOT.largestStacks(o)),
  "new Figure": door(
    { data: "list", layout: "record", config: "record", description: "text" },
    (_, o) => new Figure(o),
  ),
  "Figure#toSVG": door(
    { width: "number", height: "number" },
    (_, o) => new Figure({ data: [], description: "nothing" }).toSVG(o),
  ),
  "progress": door({
    unit: "text",
    surface: "record",
    signal: "signal",
    stallSeconds: "number",
  }, (_, o) => progress("job", o)),
  "transferBench": door({
    open: "callback",
    name: "text",
    bytes: "number",
    direction: "word",
    group: "text",
    callCount: "number",
    prepare: "callback",
  }, (_, o) => transferBench(o, () => {})),
  "machineCard": door({
    devices: "list",
    driver: "word",
    folder: "text",
    onProgress: "callback",
    signal: "signal",
  }, (_, o) => machineCard(o)),
  "memoryMeter": door(
    { intervalSeconds: "number", display: "record" },
    ({ gpu }, o) => memoryMeter(gpu, o),
  ),
  "systemMeter": door(
    { intervalSeconds: "number", display: "record" },
    ({ gpu }, o) => systemMeter(gpu, o),
  ),
  "warnOfReruns": door(
    { intervalSeconds: "number", display: "record" },
    ({ gpu }, o) => warnOfReruns(gpu, o),
  ),
});

function door(takes: Door["takes"], call: Door["call"]): Omit<Door, "name"> {
  return { takes, call };
}

/** Names each call as messages do: a method without its class. */
function named(rows: Readonly<Record<string, Omit<Door, "name">>>): Record<string, Door> {
  return Object.fromEntries(
    Object.entries(rows).map(([key, row]) => [key, { ...row, name: key.replace(/^\w+[#.]/, "") }]),
  );
}

/** A ticket of this device that nobody has made. */
function strangeTicket({ info: { uuid: device } }: CudaDevice): MemoryTicket<"float32"> {
  const place = { offset: 0, byteLength: 16, dtype: "float32", shape: [4] } as const;
  return { vramkit: 1, kind: "allocation", device, handle: "0".repeat(128), ...place };
}
