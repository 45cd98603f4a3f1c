// machineCard(): the report of a machine as an object that draws itself, and its two forms of JSON.

import { BandwidthResult } from "../measure/bandwidth_result.ts";
import { LinkBandwidthResult } from "../measure/link_bandwidth_result.ts";
import { casesOf, documentOf, type MeasuredCase } from "../measure/nvbandwidth.ts";
import { AMOUNT, maybe, PlainDataCheck } from "../measure/plain_data.ts";
import {
  eitherOf,
  FLAG,
  isRecord,
  LIST,
  listOf,
  NUMBER,
  oneOf,
  type OptionKind,
  requireKind,
  TEXT,
} from "../words/options.ts";
import { machineFragment, machinePage } from "./machine_page.ts";
import { MACHINE_FORMAT, type MachineReport } from "./machine_report.ts";
import { machineText, VERDICTS } from "./machine_text.ts";
import { MACHINE_OPTIONS, type MachineOptions, measureMachine } from "./measure_machine.ts";

/** A report as JSON: the kit's own form, and nvbandwidth's under its name. */
export interface MachineJson {
  /** The report. */
  readonly machine: MachineReport;
  /** The document that nvbandwidth itself writes under this name. */
  readonly nvbandwidth: Readonly<Record<string, unknown>>;
}

/**
 * The report of a machine, as {@link machineCard} returns it. In a notebook it draws itself, on a console
 * it prints its rows, and `JSON.stringify()` stores it; scripts that read nvbandwidth's JSON read that, too.
 */
export class MachineCard {
  /** The report as plain data. */
  readonly report: MachineReport;

  /**
   * Takes a report, such as parsed JSON.
   *
   * @throws TypeError when it is not the report of a machine.
   */
  constructor(json: MachineReport | Pick<MachineJson, "machine">) {
    const report: unknown = isRecord(json) && "machine" in json ? json["machine"] : json;
    if (!isRecord(report) || report["format"] !== MACHINE_FORMAT) {
      throw new TypeError(
        `Cannot read a machine's report: its format is not "${MACHINE_FORMAT}", which the command ` +
          '"machine" and machineCard() write',
      );
    }
    this.report = checked(report as unknown as MachineReport);
  }

  /** Returns the report in both forms. */
  toJSON(): MachineJson {
    return { machine: this.report, nvbandwidth: nvbandwidthOf(this.report) };
  }

  /** Returns a page that needs no network: tables, plots, and the commands that check each row. */
  async toPage(): Promise<string> {
    return await machinePage([this.report]);
  }

  /** Returns the rows as text, those that want a look first. */
  toString(): string {
    return machineText(this.report);
  }

  /** Returns the text that the console shows. */
  [Symbol.for("Deno.customInspect")](): string {
    return `${this}`;
  }

  /** Returns the page's contents for a notebook, with its text. */
  async [Symbol.for("Jupyter.display")](): Promise<Record<string, string>> {
    return { "text/html": await machineFragment(this.report), "text/plain": `${this}` };
  }
}

/**
 * Finds out in about a minute whether this machine is all right: its GPUs, bus, clocks and limits, and the
 * speeds of copies by nvbandwidth's methods, of ordinary arrays, host memory, files and calls, each beside
 * the value that it should reach. Without a GPU the report is about the host. An interrupted one has what was
 * found until then. It takes at most 2 GiB of device memory, and changes no setting.
 *
 * @throws RangeError when a device does not exist.
 */
export async function machineCard(options: MachineOptions = {}): Promise<MachineCard> {
  options = MACHINE_OPTIONS.read(options, "machineCard");
  return new MachineCard(await measureMachine(options));
}

/**
 * Returns a page that shows reports side by side, and first in which rows they differ by more than their
 * samples do.
 *
 * @throws RangeError for fewer than two.
 */
export async function compareMachines(cards: readonly MachineCard[]): Promise<string> {
  requireKind(cards, listOf(CARD), "compareMachines");
  if (cards.length < 2) {
    throw new RangeError("Cannot compare machines: expected two reports or more");
  }
  return await machinePage(cards.map(({ report }) => report));
}

const NULL: OptionKind = { expected: "null", accepts: (value) => value === null };
const TEXT_OR_NULL = eitherOf(TEXT, NULL);
const NUMBER_OR_NULL = eitherOf(NUMBER, NULL);

/** Checks a report that may come out of a file: everything that is shown or drawn. */
function checked(report: MachineReport): MachineReport {
  const check = new PlainDataCheck("new MachineCard");
  const { rows, gpus, load, bandwidth, driver, links } = report;
  for (const name of ["date", "vramkit", "deno"] as const) check.value(name, report[name], TEXT);
  check.value("seconds", report.seconds, AMOUNT);
  for (const name of ["unfinished", "whyNoGpu"] as const) {
    check.value(name, report[name], TEXT_OR_NULL);
  }
  if (driver !== null) check.record("driver", driver, { cuda: TEXT, version: TEXT_OR_NULL });
  check.list("gpus", gpus, { ordinal: AMOUNT, name: TEXT, pciBusId: TEXT });
  check.list("rows", rows, {
    ...{ id: TEXT, group: TEXT, name: TEXT, unit: TEXT, words: TEXT, check: TEXT },
    value: eitherOf(NUMBER_OR_NULL, TEXT),
    least: maybe(NUMBER_OR_NULL),
    most: maybe(NUMBER_OR_NULL),
    better: maybe(oneOf("more", "less")),
    expected: maybe(eitherOf(NUMBER_OR_NULL, TEXT)),
    expectedFrom: maybe(TEXT),
    verdict: oneOf(...Object.keys(VERDICTS)),
    isModelled: maybe(FLAG),
  });
  check.list("load", load, {
    ...{ gpu: AMOUNT, atSeconds: AMOUNT, link: TEXT_OR_NULL, throttleReasons: listOf(TEXT) },
    smClockMegahertz: NUMBER_OR_NULL,
    memoryClockMegahertz: NUMBER_OR_NULL,
    powerWatts: NUMBER_OR_NULL,
    temperatureCelsius: NUMBER_OR_NULL,
  });
  check.value("bandwidth", bandwidth, LIST);
  for (const data of bandwidth) new BandwidthResult({ ...data });
  if (links !== null) new LinkBandwidthResult({ ...links });
  return report;
}

const CARD: OptionKind = {
  expected: "the report of a machine, as machineCard() returns it",
  accepts: (value) => value instanceof MachineCard,
};

/** Writes the copies in nvbandwidth's form: a column for each GPU. */
function nvbandwidthOf(report: MachineReport): MachineJson["nvbandwidth"] {
  const ofGpus = report.bandwidth.map((data) => casesOf(new BandwidthResult({ ...data })));
  const names = new Set(ofGpus.flatMap((cases) => cases.map(({ name }) => name)));
  const rows = [...names].map((name): MeasuredCase => {
    const found = ofGpus.map((cases) => cases.find((each) => each.name === name));
    const speeds = found.map((each) => each?.gigabytesPerSecond ?? null);
    return {
      name,
      verified: found.every((each) => each?.verified !== false),
      gigabytesPerSecond: speeds.reduce<number>((sum, speed) => sum + (speed ?? 0), 0),
      matrix: [speeds],
    };
  });
  const links = report.links === null ? [] : new LinkBandwidthResult({ ...report.links }).cases;
  const { nvbandwidth } = documentOf([...rows, ...links], {
    cuda: report.driver?.cuda ?? "0.0",
    driverVersion: report.driver?.version ?? undefined,
    devices: report.gpus.map(({ ordinal, name, pciBusId }) => `${ordinal}: ${name} (${pciBusId})`),
  });
  return { ...nvbandwidth };
}
