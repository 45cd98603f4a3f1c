// The card of a device's state in the system: load, memory of all programs, and facts in words.
// The doctor prints the same facts.

import { SystemState } from "../device/system_state.ts";
import { formatBytes } from "../words/format.ts";
import { type Card, type CardPart, factsPart, hiddenNote, MODELLED, note, table } from "./card.ts";
import { segment } from "./memory_bar.ts";
import { show } from "./show_card.ts";

show(SystemState, systemCard);

/** The most rows shown, so that the card stays small. */
const SHOWN_PROCESSES = 20;

export function systemCard(state: SystemState): Card {
  const { device, unavailable, isModelled, driverVersion } = state;
  const card = { title: device, kind: "SystemState" };
  if (unavailable !== undefined) {
    return { ...card, state: "warning", summary: unavailable, parts: [] };
  }
  const words = [
    ...(isModelled ? [MODELLED] : []),
    ...(driverVersion === undefined ? [] : [`driver ${driverVersion}`]),
  ];
  return {
    ...card,
    summary: words.join(", "),
    parts: [
      ...loadBar("GPU", state.gpuUtilizationPercent),
      ...memoryBar(state),
      ...factsPart(systemFacts(state)),
      ...processTable(state),
      ...migNote(state),
    ],
  };
}

/** Returns the known facts in words, in the order of nvidia-smi; unknown ones are left out. */
export function systemFacts(
  state: SystemState,
): readonly (readonly [name: string, value: string])[] {
  const { powerWatts, powerLimitWatts, throttleReasons } = state;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["memory utilization", withUnit(state.memoryUtilizationPercent, "%")],
    ["temperature", withUnit(state.temperatureCelsius, "°C")],
    ["power", ofLimit(round(powerWatts), round(powerLimitWatts), "W")],
    ["SM clock", ofLimit(state.smClockMegahertz, state.smClockMaxMegahertz, "MHz")],
    ["memory clock", ofLimit(state.memoryClockMegahertz, state.memoryClockMaxMegahertz, "MHz")],
    ["PCIe link", formatLink(state)],
    ["clocks lowered by", throttleReasons && (throttleReasons.join(", ") || "nothing")],
    ["MIG", state.migMode],
    ["fan", withUnit(state.fanPercent, "%")],
  ];
  return facts.flatMap(([name, value]) => value === undefined ? [] : [[name, value]]);
}

/** Describes memory and load: `"3 % busy, 1.2 GiB of 80 GiB used, 600 MiB reserved"`. */
export function formatLoad(state: SystemState): string {
  const { gpuUtilizationPercent, memoryUsedBytes, memoryTotalBytes } = state;
  const { memoryReservedBytes = 0 } = state;
  return [
    ...(gpuUtilizationPercent === undefined ? [] : [`${gpuUtilizationPercent} % busy`]),
    ...(memoryUsedBytes === undefined || memoryTotalBytes === undefined
      ? []
      : [`${formatBytes(memoryUsedBytes)} of ${formatBytes(memoryTotalBytes)} used`]),
    ...(memoryReservedBytes === 0 ? [] : [`${formatBytes(memoryReservedBytes)} reserved`]),
  ].join(", ");
}

/** Lists the processes that use the device: `"pid 4711 deno 1.2 GiB"`. */
export function formatProcesses(state: SystemState): readonly string[] {
  return (state.processes ?? []).map((process) =>
    ["pid", ...processCells(process)].filter((cell) => cell !== "").join(" ")
  );
}

function loadBar(caption: string, percent: number | undefined): CardPart[] {
  if (percent === undefined) return [];
  return [{
    type: "bar",
    caption,
    segments: [
      { name: "busy", amount: percent, text: `${percent} %`, fill: "solid" },
      { name: "idle", amount: 100 - percent, text: `${100 - percent} %`, fill: "empty" },
    ],
  }];
}

/** Returns a bar of the memory that is used, reserved by the driver if it tells, and free. */
function memoryBar(state: SystemState): CardPart[] {
  const { memoryUsedBytes, memoryFreeBytes, memoryReservedBytes = 0 } = state;
  if (memoryUsedBytes === undefined || memoryFreeBytes === undefined) return [];
  return [{
    type: "bar",
    caption: "memory of all programs",
    segments: [
      segment("used", memoryUsedBytes, "solid"),
      ...(memoryReservedBytes === 0 ? [] : [segment("reserved", memoryReservedBytes, "dotted")]),
      segment("free", memoryFreeBytes, "empty"),
    ],
  }];
}

function processTable({ processes, memoryTotalBytes }: SystemState): CardPart[] {
  if (processes === undefined) return note("The system does not say which programs use the device");
  if (processes.length === 0) return note("The system shows no program that uses the device");
  const rows = processes.slice(0, SHOWN_PROCESSES).map((process) => ({
    cells: processCells(process),
    share: memoryTotalBytes && (process.memoryBytes ?? 0) / memoryTotalBytes,
  }));
  return [
    table({ pid: "right", program: "left", memory: "right" }, rows),
    ...hiddenNote(processes.length - SHOWN_PROCESSES),
  ];
}

function processCells(
  { pid, name, memoryBytes }: NonNullable<SystemState["processes"]>[number],
): string[] {
  const own = pid === Deno.pid ? ", this program" : "";
  return [
    String(pid),
    `${name ?? "name unknown"}${own}`,
    memoryBytes === undefined ? "unknown" : formatBytes(memoryBytes),
  ];
}

function migNote({ uuid }: SystemState): CardPart[] {
  const words = "Memory and programs are this MIG device's; the rest is that of the GPU around it";
  return note(uuid.startsWith("MIG-") ? words : undefined);
}

function formatLink(state: SystemState): string | undefined {
  const { pcieGeneration, pcieLaneCount, pcieGenerationMax, pcieLaneCountMax } = state;
  if (pcieGeneration === undefined || pcieLaneCount === undefined) return undefined;
  const now = `${pcieGeneration}.0 x${pcieLaneCount}`;
  if (pcieGenerationMax === undefined || pcieLaneCountMax === undefined) return now;
  return `${now}, at most ${pcieGenerationMax}.0 x${pcieLaneCountMax}`;
}

function ofLimit(
  amount: number | undefined,
  limit: number | undefined,
  unit: string,
): string | undefined {
  if (amount === undefined) return limit === undefined ? undefined : `at most ${limit} ${unit}`;
  return limit === undefined ? `${amount} ${unit}` : `${amount} of ${limit} ${unit}`;
}

function withUnit(amount: number | undefined, unit: string): string | undefined {
  return amount === undefined ? undefined : `${amount} ${unit}`;
}

function round(amount: number | undefined): number | undefined {
  return amount === undefined ? undefined : Math.round(amount);
}
