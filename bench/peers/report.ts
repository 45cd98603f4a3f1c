// What the peers' programs print, as types: one document a library, merged into one report a run.
// Times are seconds, speeds GB/s with 1 GB = 10^9 bytes; value is the median of all samples.

/** Describes one case of one library. */
export interface PeerResult {
  /** The case; the same name is the same question in every library. */
  readonly name: string;
  /** The calls that did it. */
  readonly method: string;
  readonly byteLength?: number;
  readonly value: number;
  readonly unit: "s" | "GB/s" | "ratio";
  /** At most about twenty of the samples, evenly spread. */
  readonly samples: readonly number[];
  readonly sampleCount: number;
  /** For an allocation trace: the most bytes live at once, equal in every language. */
  readonly peakLiveBytes?: number;
}

/** Describes a section that failed; the sections around it still count. */
export interface PeerFailure {
  readonly name: string;
  readonly error: string;
}

/** Holds everything one library's program printed. */
export interface PeerDocument {
  readonly peer: string;
  readonly device: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly results: readonly (PeerResult | PeerFailure)[];
}

/** Holds one run of all libraries on one machine. */
export interface PeerReport {
  readonly date: string;
  readonly device: string;
  readonly coreCount: number;
  readonly documents: readonly PeerDocument[];
}

/** Picks one result of a document. */
export interface ResultQuery {
  readonly name: string;
  readonly method?: string;
  readonly byteLength?: number;
}

/** Picks one result of a report. */
export interface PeerQuery extends ResultQuery {
  readonly peer: string;
}

/** Finds the first result that fits the query; undefined when there is none. */
export function findPeerResult(report: PeerReport, query: PeerQuery): PeerResult | undefined {
  const document = report.documents.find(({ peer }) => peer === query.peer);
  return document === undefined ? undefined : findResult(document, query);
}

/** Finds the first result of a document that fits the query; undefined when there is none. */
export function findResult(document: PeerDocument, query: ResultQuery): PeerResult | undefined {
  return document.results.filter(isPeerResult).find((result) =>
    result.name === query.name &&
    (query.method === undefined || result.method === query.method) &&
    (query.byteLength === undefined || result.byteLength === query.byteLength)
  );
}

/** Tells a result from a failure. */
export function isPeerResult(entry: PeerResult | PeerFailure): entry is PeerResult {
  return !("error" in entry);
}

/** Reads the JSON document that a peer's program printed; throws a TypeError when it is not one. */
export function parsePeerDocument(text: string): PeerDocument {
  const document: unknown = JSON.parse(text);
  if (!isPeerDocument(document)) {
    throw new TypeError(`Cannot read a peer's document: ${text.slice(0, 200)}`);
  }
  return document;
}

function isPeerDocument(value: unknown): value is PeerDocument {
  return isRecord(value) && typeof value.peer === "string" && typeof value.device === "string" &&
    isRecord(value.versions) && Array.isArray(value.results) && value.results.every(isEntry);
}

function isEntry(value: unknown): value is PeerResult | PeerFailure {
  if (!isRecord(value) || typeof value.name !== "string") return false;
  if (typeof value.error === "string") return true;
  return typeof value.method === "string" && typeof value.value === "number" &&
    ["s", "GB/s", "ratio"].includes(String(value.unit)) && Array.isArray(value.samples) &&
    typeof value.sampleCount === "number";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
