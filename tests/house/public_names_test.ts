// The public names of each entry, pinned: adding, renaming or removing one is a decision and shows in
// a diff. Types count as much as values, so the lists are compared with what the documentation tool sees.

import { assertEquals, assertLessOrEqual } from "@std/assert";
import config from "../../deno.json" with { type: "json" };
import { denoJson, runDeno } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";

/** The names of what most programs type are few: a name more in the root has to be worth it. */
const ROOT_BUDGET = 103;

/** What a program gets from each entry, a line or more for each initial. */
const PUBLIC_NAMES: Readonly<Record<keyof typeof config.exports, readonly string[]>> = {
  ".": wordsOf(`
    AllocateOptions ArrayOf AxisRange
    BandwidthOptions BandwidthResult BitsOf BufferCopy BufferImage BufferSummary ByteSize
    ByteSource
    CaptureOptions CudaDevice CudaError CudaEvent CudaGraph CudaStream CudaUnavailableError
    DTYPE_NAMES DType DTypeOf DeviceBuffer DeviceInfo DeviceMemory DisposedError
    DownloadAllOptions DriverChoice
    EventOptions
    FilePath FromOptions
    GpuBuffer GpuProcess GrowableBuffer GrowableOptions
    HandleOptions HostArray HostBuffer HostMemory HostValues
    LazyBuffer LikeOptions LiveGroups LiveKind LiveObject LiveQuery LiveTable
    ManagedAdvice ManagedBuffer ManagedHint ManagedPlace MappedBuffer MappedOptions
    MemoryLimitError MemoryMark MemoryReport MemoryResource MemoryTrack
    OpenOptions OriginDetail OutOfMemoryError
    PackedBuffers PeerRoute PinnedBuffer PitchedBuffer PlaceOptions PointerAttributes
    RegisterOptions RegisteredBuffer
    SafetensorsError SafetensorsModel ScalarOf Scope ScopeOptions Shape StagedBuffer StagedOptions
    StreamChoice StreamOptions StreamPriority StridedView SystemState
    Timeline TimelineEvent TimelineOptions Timing TransferChoice TransferOptions TransferTuning
    UnavailableReason UntypedSource UploadAllOptions UploadFileOptions UploadIntoOptions
    UploadOptions Uploadable
    VERSION
    WriteFileOptions WritingOptions
    elementBytes
    formatBytes fromBfloat16
    parseBytes
    toBfloat16
  `),
  "./group": wordsOf(`
    BroadcastOptions
    CollectiveOptions
    DeviceGroup DeviceLink DeviceList DeviceParts
    GatherAllOptions GatherOptions GroupError GroupErrorFields GroupFailure GroupOptions GroupWork
    IntoAllOptions
    JoinOptions
    LinkBandwidthData LinkBandwidthOptions LinkBandwidthResult LinkCase LinkMatrix LinkPath LinkSpeed
    ListedDevice LoadShardedOptions
    MeasuredDevice
    PartsOptions Placement PlacementRule
    RankBuffers ReceiveOptions ReduceAllOptions ReduceOptions Reduction ReplicateWay
    ScatterOptions SendOptions ShardedModel ShrinkOptions Split SplitOptions StripeBufferOptions
    StripeOptions StripedMemoryResource
    Topology TopologyDevice
    UploadPartsOptions
    joinGroup
  `),
  "./gguf": wordsOf(`
    DeviceModel
    GGUF_FORMATS GgufError GgufFormat GgufHeader GgufModel GgufTensor GgufValue
    LoadGgufOptions LoadTensorsOptions LoadedTensors
    NamedFormat
    ReadGgufOptions
    loadGguf
    readGgufHeader
  `),
  "./kernels": wordsOf(`
    CompileError CompileOptions CompileProblem CompileReport CudaKernel CudaModule
    GlobalOptions
    KernelArgument KernelLimits KernelMemory KernelModule KernelNumber
    LaunchOptions LaunchShapeOptions LaunchSize
    ModuleOptions ModuleSource
    NumberType
    Occupancy OccupancyOptions
    f16 f32 f64
    i16 i32 i64 i8
    readOnly
    u16 u32 u64 u8
  `),
  "./memory": wordsOf(`
    AlignedResourceAdaptor AlignmentOptions AllocationAction ArraysOf AsTypeOptions
    BUFFER_KIND BaseMemoryResource BitArrays BuffersOf
    CacheAdaptor CacheUsage CachingOptions CachingResourceAdaptor Context ContextOwner CudaAsyncMemoryResource
    CudaMemoryResource
    DLPackOptions DLPackPointer DLPackTensor DeviceAccess DeviceAllocator DeviceAttribute Driver
    DriverArguments
    FailureCallback FailureCallbackOptions FailureCallbackResourceAdaptor ForeignStream
    ForeignStreamOptions FromDLPackOptions
    GraphMemoryResource
    Held HostMemory HostValue
    IotaOptions
    KindUsage
    LazyOptions LibraryUsage LimitAmounts LimitingOptions LimitingResourceAdaptor LiveBlock
    LiveGroup LiveGroupKey LiveOrder LoadedContents LoggedAllocation LoggingOptions LoggingResourceAdaptor
    MakeResource ManagedMemoryResource MappedHostMemoryResource MappedMemoryOptions
    MemoryLimitError MemoryReportData MemoryResource MemoryShortage MemorySpan MemoryUsage
    Owned
    PinnedHostMemoryResource PinnedPoolOptions PitchedMemoryResource PoolOptions PoolReuse
    PooledPinnedHostMemoryResource
    QueuedWork
    RegistrationOptions RemoteBuffer ReplayResult ResourceAdaptor Retyped
    SizeClass StagedRange StatisticsLevel StatisticsResourceAdaptor StridedLayout
    TimelineAction TimelineFacts TrackedAllocation TrackingOptions TrackingResourceAdaptor
    VirtualMemoryOptions VirtualMemoryResource
    WarningListener
    parseAllocationLog
    replayAllocations
  `),
  "./numpy": wordsOf(`
    LoadNpyOptions
    NamedArrays NpzArrays NumpyError
    SaveNpyOptions SaveNpzOptions
    loadNpy loadNpz
    saveNpz
  `),
  "./persist": wordsOf(`
    LoadedFile
    PersistError PersistOptions PersistProblem Persistable PersistableBuffers Persisted
    PersistedTable Persistence
    SleepOptions SleepTag Sleepable
    Wholeness
  `),
  "./python": wordsOf(`
    Python PythonBufferOptions PythonError PythonInput PythonOptions PythonStreamOptions
    PythonUnavailableError PythonValue
    startPython
  `),
  "./safetensors": wordsOf(`
    DeviceModel
    HubModelOptions HubOptions
    LoadSafetensorsOptions LoadTensorsOptions LoadedTensors
    NamedFormat NamedTensors
    ReadHeaderOptions
    SafetensorsError SafetensorsFormat SafetensorsHeader SafetensorsModel SafetensorsSource
    SaveSafetensorsOptions
    TensorEntry
    hubModel
    localPath
    readSafetensorsHeader
  `),
  "./sharing": wordsOf(`
    DeviceAllocateOptions
    EventTicket
    HandedOver
    MemoryTicket
    OpenEventOptions OpenTicketOptions
    ShareableMemoryResource
    TakeOverOptions TicketError TicketProblem
  `),
  "./simulated": wordsOf(`
    Dimensions DriverApi DriverFunction DriverStatus
    RankFault
    SimulatedDriverOptions SimulatedKernel SimulatedLaunch SimulationError SimulationRule
    simulateDriver
  `),
  "./testing": wordsOf(`
    Leak LeakError
    withoutLeaks
  `),
  "./notebook": wordsOf(`
    BandwidthData BandwidthFit BandwidthPoint BandwidthResult Bus
    ColorMap CopyDirection
    DisplayBundle
    Figure FigureOptions
    HostKind
    ImageOptions
    LinkBandwidthData LinkBandwidthResult LinkCase LinkMatrix LinkSpeed LiveWatch LoadSample
    MachineCard MachineJson MachineOptions MachineReport MachineRow MemorySnapshot
    OverlapRecorder OverlapSpan OverlapTrace
    PictureSize PlotConfig PlotLayout PlotlyRuntime PlotlyRuntimeOptions ProgressBar ProgressOptions
    ProgressState
    ProgressSurface Provenance
    ShownWatchOptions SnapshotAnnotation SnapshotBlock SnapshotDevice SnapshotEvent SnapshotFrame
    SnapshotOptions SnapshotSegment SnapshotStack SnapshotTimelineOptions StackUsage
    Trace
    Verdict
    WatchOptions
    compareMachines
    machineCard memoryMeter
    plotBandwidth plotLatency plotLinks plotMemoryMap plotMemoryTimeline plotOverlap progress
    readMemorySnapshot
    show systemMeter
    warnOfReruns
  `),
  "./bench": wordsOf(`
    BenchDirection
    CaseLatency CaseSpeed CopyCase
    LatencyCase
    TransferBenchOptions
    transferBench
  `),
  "./cli": wordsOf("main"),
};

/** Classes that programs construct; all others come from methods. */
const CONSTRUCTED = [
  /(Resource|Adaptor)$/,
  /Error$/,
  /^((Link)?BandwidthResult|MachineCard)$/, // from stored JSON
  /^Figure$/,
  /^(ProgressBar|PlotlyRuntime)$/,
];

function wordsOf(text: string): string[] {
  return text.trim().split(/\s+/);
}

interface DocMember {
  readonly name: string;
  readonly isStatic?: boolean;
  readonly jsDoc?: { readonly tags?: readonly { readonly kind: string }[] };
}

interface DocSymbol {
  readonly name: string;
  readonly declarations: readonly {
    readonly kind: string;
    readonly def: {
      readonly constructors?: readonly DocMember[];
      readonly methods?: readonly DocMember[];
      readonly properties?: readonly DocMember[];
    };
  }[];
}

interface DocOutput {
  readonly nodes: Readonly<Record<string, { readonly symbols: readonly DocSymbol[] }>>;
}

/** The documentation of all entries. */
let documented: Promise<DocOutput> | undefined;

async function symbolsOf(path: string): Promise<readonly DocSymbol[]> {
  const entries = Object.values(config.exports).map((entry) => new URL(entry, PROJECT_ROOT));
  const paths = entries.map(({ pathname }) => pathname);
  const { nodes } = await (documented ??= denoJson(["doc", "--json", "--no-lock", ...paths]));
  return nodes[new URL(path, PROJECT_ROOT).href]?.symbols ?? [];
}

for (const [name, path] of Object.entries(config.exports)) {
  Deno.test(`${path} exports exactly the names in the list of "${name}"`, async () => {
    const names = (await symbolsOf(path)).map(({ name }) => name);
    assertEquals(names.sort(), PUBLIC_NAMES[name as keyof typeof PUBLIC_NAMES]);
  });
}

for (const path of Object.values(config.exports)) {
  Deno.test(`${path} documents no constructor that programs do not call, and nothing internal`, async () => {
    const wrong = (await symbolsOf(path)).flatMap(({ name, declarations }) =>
      declarations.filter(({ kind }) => kind === "class").flatMap(({ def }) => {
        const { constructors = [], methods = [], properties = [] } = def;
        const isCalled = CONSTRUCTED.some((pattern) => pattern.test(name));
        const members = [...constructors, ...methods, ...properties];
        const internal = members.filter(({ jsDoc }) =>
          jsDoc?.tags?.some(({ kind }) => kind === "internal")
        );
        return [...isCalled ? [] : constructors, ...internal]
          .map((member) => `${name}.${member.name}`);
      })
    );
    assertEquals(wrong, []);
  });
}

Deno.test("deno doc prints every static method, also beside one of an instance that has its name", async () => {
  const { href } = new URL("mod.ts", PROJECT_ROOT);
  const { stdout } = await runDeno(["doc", "--no-lock", href]);
  const methods = (await symbolsOf("mod.ts")).flatMap(({ declarations }) =>
    declarations.flatMap(({ def }) => def.methods ?? [])
  );
  const names = new Set(methods.filter(({ isStatic }) => isStatic).map(({ name }) => name));
  assertEquals([...names].filter((name) => !stdout.includes(`static ${name}(`)), []);
});

Deno.test("mod.ts exports no more names than its budget", () => {
  assertLessOrEqual(PUBLIC_NAMES["."].length, ROOT_BUDGET);
});

Deno.test("entries export names that hide no global", () => {
  assertEquals(Object.values(PUBLIC_NAMES).flat().filter((name) => name in globalThis), []);
});
