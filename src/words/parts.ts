// The only argument that constructors of the kit's own objects accept. Programs cannot make one: they
// get the objects from methods, which the error names.

/** The methods from which programs get an object, by its class. */
const MAKERS: Readonly<Record<string, string>> = {
  CudaDevice: "CudaDevice.open()",
  DeviceList: "CudaDevice.all() and CudaDevice.openMany()",
  Topology: "gpus.topology()",
  DeviceParts: "gpus.upload() and gpus.loadSafetensors()",
  DeviceGroup: "gpus.group() and joinGroup()",
  GroupWork: "the calls of a group, such as group.allReduce()",
  DeviceInfo: "gpu.info",
  DeviceMemory: "gpu.memory",
  GpuBuffer: "gpu.alloc(), gpu.upload() and others of its kind",
  DeviceBuffer: "gpu.alloc(), gpu.zeros() and gpu.upload()",
  HostBuffer: "gpu.pinned(), gpu.mapped(), gpu.managed() and gpu.register()",
  PinnedBuffer: "gpu.pinned()",
  StagedBuffer: "gpu.staged()",
  MappedBuffer: "gpu.mapped()",
  ManagedBuffer: "gpu.managed()",
  RegisteredBuffer: "gpu.register()",
  GrowableBuffer: "gpu.growable()",
  LazyBuffer: "gpu.lazy()",
  PitchedBuffer: "gpu.pitched()",
  PackedBuffers: "gpu.uploadAll()",
  StridedView: "buffer.strided() and buffer.transpose()",
  BufferSummary: "buffer.describe()",
  BufferImage: "buffer.showImage()",
  CudaStream: "gpu.createStream()",
  CudaEvent: "gpu.createEvent(), gpu.openEvent() and stream.record()",
  CudaGraph: "gpu.capture()",
  CudaKernel: "gpu.compile() and module.kernel()",
  CudaModule: "gpu.loadModule()",
  KernelNumber: "i32(), f32() and others of vramkit/kernels",
  Python: "startPython()",
  DLPackTensor: "buffer.toDLPack()",
  SafetensorsModel: "gpu.loadSafetensors()",
  ShardedModel: "gpus.loadSafetensors()",
  Persistence: "gpu.persist() and gpu.persisted()",
  PersistedTable: "gpu.persisted()",
  LiveTable: "gpu.live()",
  LiveGroups: "gpu.live().by()",
  MemoryTrack: "gpu.track()",
  MemoryReport: "gpu.report()",
  SystemState: "gpu.system()",
  Timing: "gpu.time()",
  OutOfMemoryError: "an allocation that fails",
  NpzArrays: "loadNpz()",
  LeakError: "withoutLeaks()",
  OverlapRecorder: "gpu.traceOverlap()",
  OverlapTrace: "gpu.traceOverlap()",
};

/** The parts from which the kit makes an object. */
export class Parts<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/**
 * Returns the parts of an object under construction.
 *
 * @throws TypeError for anything else, with the methods that make such an object.
 */
export function partsOf<T>(parts: Parts<T>, made: abstract new (parts: never) => object): T {
  if (parts instanceof Parts) return parts.value;
  throw new TypeError(`Cannot construct ${made.name}: it comes from ${makersOf(made)}`);
}

/** For a class that a program derived, returns the makers of its base class. */
function makersOf(made: { readonly name: string }): string {
  const base: { readonly name: string } = Object.getPrototypeOf(made);
  return MAKERS[made.name] ?? (base === Function.prototype ? "a device" : makersOf(base));
}
