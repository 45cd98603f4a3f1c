// Runs a bench by its name: `deno task bench NAME [ARGUMENTS]`. Without a name it lists them.

import { fileURLToPath } from "node:url";

/** A program, by its path from this folder. */
interface Bench {
  readonly file: string;
  /** The question that it answers. */
  readonly about: string;
  /** Flags of Deno that it needs besides all permissions. */
  readonly flags?: readonly string[];
}

/** The benches by name. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  report: {
    file: "../src/bench/report.ts",
    about: "Turn the output of deno bench --json into GB/s, a page and a comparison",
  },
  programs: {
    file: "programs.ts",
    about: "Time whole programs from nothing, beside CuPy, cuda.core, JAX and PyTorch",
  },
  driver: {
    file: "against_driver.ts",
    about: "Compare copies, calls and start-up with the driver API from C++",
  },
  copy: {
    file: "device_copy.ts",
    about: "Queue copies on the device, beside the same calls from C++",
  },
  graphs: {
    file: "graphs.ts",
    about: "Launch graphs of copies, beside single calls and C++",
  },
  freed: {
    file: "freed_memory.ts",
    about: "Allocate, use and dispose in loops, in another version of this kit and this one",
  },
  persisted: {
    file: "persisted.ts",
    about: "Open persisted memory beside loading it again, and let memory sleep and wake",
  },
  launches: {
    file: "launches.ts",
    about: "Launch kernels, beside C++, cuda.core and CuPy",
  },
  collectives: {
    file: "collectives.ts",
    about: "Time collective operations over all GPUs, beside torch.distributed and nccl4py",
  },
  links: {
    file: "links.ts",
    about: "Move arrays and models to all GPUs at once, beside one GPU and the links",
  },
  versions: {
    file: "versions.ts",
    about: "Time another version of this kit, this one and the driver's calls, in turn",
  },
  ablation: {
    file: "ablation.ts",
    about: "Time this kit with each mechanism of transfers switched off, in turn",
  },
  views: {
    file: "views.ts",
    about: "Make and dispose views",
  },
  strided: {
    file: "strided_copies.ts",
    about: "Copy transposed and interleaved elements, beside PyTorch and CuPy",
  },
  transfer: {
    file: "transfer/host_arrays.ts",
    about: "Move ordinary arrays of every size, beside the driver's own calls",
  },
  files: {
    file: "transfer/files.ts",
    about: "Move files and models, in the page cache and cold, beside the bus, dd and PyTorch",
  },
  ranges: {
    file: "transfer/ranges.ts",
    about: "Load a model from a server by one connection, and by several with ranges of it",
  },
  saves: {
    file: "transfer/saves.ts",
    about: "Save files and models, new and over others, beside Python's save_file",
  },
  header: {
    file: "header_reading.ts",
    flags: ["--v8-flags=--max-old-space-size=8192"],
    about: "Read the largest header of a safetensors file, beside its JSON.parse",
  },
  many: {
    file: "transfer/many_arrays.ts",
    about: "Move 1,000 small arrays packed, beside one call each",
  },
  both: {
    file: "transfer/both_directions.ts",
    about: "Move bytes in both directions at once, beside the pinned ceiling",
  },
  touched: {
    file: "transfer/touched_memory.ts",
    about: "Copy page-locked memory that a core has just read or written",
  },
  cost: {
    file: "transfer/host_cost.ts",
    about: "Measure what large transfers cost the host beside the bytes",
  },
  ledger: {
    file: "ledger_cost.ts",
    flags: ["--v8-flags=--expose-gc"],
    about: "Measure what accounting for a live buffer costs, in time and bytes",
  },
  newcomer: {
    file: "newcomer.ts",
    about: "Time the way from nothing to the first card, by clone, URL and one file",
  },
  nvbandwidth: {
    file: "nvbandwidth.ts",
    about: "Measure nvbandwidth's cases, beside what it printed itself",
  },
  peers: {
    file: "peers/run.ts",
    about: "Run other libraries beside ours on a GPU machine, into a JSON file",
  },
  musts: {
    file: "musts.ts",
    about: "Write the page of what must hold from the results files",
  },
  calls: {
    file: "peers/first_calls.ts",
    about: "Make the calls that people write first, by size, beside PyTorch, CuPy and JAX",
  },
};

/** The benches of `deno bench`, which time calls on the host and every way of transfer. */
const HOST_NAME = "host";

function list(): string {
  const rows = Object.entries(BENCHES).map(([name, { about }]) => [name, about] as const);
  const host = [
    HOST_NAME,
    "Time calls on the host and every way of transfer, by deno bench",
  ] as const;
  return [host, ...rows].map(([name, about]) => `  ${name.padEnd(12)} ${about}`).join("\n");
}

if (import.meta.main) {
  const [name = "", ...args] = Deno.args;
  const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
  if (bench === undefined && name !== HOST_NAME) {
    const text = `deno task bench NAME [ARGUMENTS]\n\n${list()}`;
    if (/^(-h|--help)?$/.test(name)) {
      console.log(text);
      Deno.exit();
    }
    console.error(`Cannot run the bench "${name}": there is none of that name\n\n${text}`);
    Deno.exit(2);
  }
  const command = bench === undefined ? ["bench", "-A"] : [
    "run",
    "-A",
    ...bench.flags ?? [],
    fileURLToPath(new URL(bench.file, import.meta.url)),
  ];
  const { code } = await new Deno.Command(Deno.execPath(), { args: [...command, ...args] }).spawn()
    .status;
  Deno.exit(code);
}
