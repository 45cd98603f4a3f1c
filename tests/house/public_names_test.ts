// The public names, pinned: adding, renaming or removing one is a decision and shows in a diff.
// Types count as much as values, so the list is compared with what the documentation tool sees.

import { assertEquals } from "@std/assert";
import { denoJson } from "../support/child_deno.ts";
import { PROJECT_ROOT } from "../support/project_files.ts";

/** What a program gets from mod.ts, sorted. */
const PUBLIC_NAMES = [
  "AllocateOptions",
  "ArrayOf",
  "BandwidthFit",
  "BandwidthOptions",
  "BandwidthPoint",
  "BandwidthResult",
  "BitsOf",
  "BufferFields",
  "Bus",
  "ByteSize",
  "Context",
  "ContextOwner",
  "CopyDirection",
  "CudaAsyncMemoryResource",
  "CudaDevice",
  "CudaError",
  "CudaEvent",
  "CudaMemoryResource",
  "CudaStream",
  "CudaUnavailableError",
  "DTYPE_NAMES",
  "DType",
  "DTypeOf",
  "DeviceAllocator",
  "DeviceBuffer",
  "DeviceBufferRequest",
  "DeviceInfo",
  "DeviceMemory",
  "DisposedError",
  "DriverChoice",
  "EventOptions",
  "FilePath",
  "GpuBuffer",
  "HostArray",
  "HostBuffer",
  "HostBufferFields",
  "HostKind",
  "HostMemory",
  "LiveBlock",
  "LiveKind",
  "LiveObject",
  "LiveTable",
  "LoadSafetensorsOptions",
  "LoadedTensor",
  "MemoryAmounts",
  "MemoryCache",
  "MemoryResource",
  "MemorySpan",
  "ModelFields",
  "NamedTensors",
  "OpenOptions",
  "OutOfMemoryError",
  "PinnedBuffer",
  "PinnedHostMemoryResource",
  "Provenance",
  "SafetensorsError",
  "SafetensorsFormat",
  "SafetensorsHeader",
  "SafetensorsModel",
  "SafetensorsSource",
  "SaveSafetensorsOptions",
  "ScalarOf",
  "Scope",
  "Shape",
  "StreamChoice",
  "StreamOptions",
  "StreamPriority",
  "TensorEntry",
  "Timing",
  "TransferChoice",
  "TransferOptions",
  "TransferableBuffer",
  "UnavailableReason",
  "UploadFileOptions",
  "UploadOptions",
  "Uploadable",
  "VERSION",
  "elementBytes",
  "formatBytes",
  "fromBfloat16",
  "loadSafetensors",
  "parseBytes",
  "readSafetensorsHeader",
  "saveSafetensors",
  "toBfloat16",
];

interface DocOutput {
  readonly nodes: Readonly<
    Record<string, { readonly symbols: readonly { readonly name: string }[] }>
  >;
}

Deno.test("mod.ts exports exactly the names in the list", async () => {
  const mod = new URL("mod.ts", PROJECT_ROOT);
  const { nodes } = await denoJson<DocOutput>(["doc", "--json", "--no-lock", mod.pathname]);
  const names = (nodes[mod.href]?.symbols ?? []).map(({ name }) => name);
  assertEquals(names.sort(), PUBLIC_NAMES);
});

Deno.test("mod.ts exports names that hide no global", () => {
  assertEquals(PUBLIC_NAMES.filter((name) => name in globalThis), []);
});
