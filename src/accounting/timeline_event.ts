// One thing that happened to memory, as the timeline records it and as it shows it.

/** What happened: memory came or went, bytes were copied, or a track began or ended. */
export type TimelineAction = "allocate" | "free" | "copy" | "begin" | "end";

/** What is told about an event however it is recorded or shown. */
export interface TimelineFacts {
  /** What happened. */
  readonly action: TimelineAction;
  /** The number of the object, the same for its allocation and its free; 0 where there is none. */
  readonly id: number;
  /** What kind of memory it is, of a copy's destination; `"track"` for tracks. */
  readonly kind: string;
  /** The label of the object, or its kind and number; `"host"` for ordinary host memory. */
  readonly name: string;
  /** Where a copy reads from; undefined for everything else. */
  readonly source?: string | undefined;
  /** Bytes that came, went or were copied. */
  readonly byteLength: number;
  /** Device memory held by live objects after it, in bytes. */
  readonly deviceBytes: number;
}

/** An event to record. */
export interface TimelineRecord extends TimelineFacts {
  /** The object's address. */
  readonly address: bigint;
  /** The stream's handle. */
  readonly stream: bigint;
}

/** An event as it is shown. */
export interface TimelineEvent extends TimelineFacts {
  /** When, in seconds since 1970; for a copy, when it was queued. */
  readonly timeSeconds: number;
  /** The notebook's cell that ran, such as `"cell 7"`; undefined where that is not known. */
  readonly cell?: string | undefined;
  /** The object's address in hexadecimal. */
  readonly address: string;
  /** The stream's handle in hexadecimal. */
  readonly stream: string;
}
