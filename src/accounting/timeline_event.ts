// An event of memory, as the timeline records it and as it shows it.

/** Kind of event: memory was allocated or freed, bytes were copied, or a track began or ended. */
export type TimelineAction = "allocate" | "free" | "copy" | "begin" | "end";

/** The facts that recorded and shown events share. */
export interface TimelineFacts {
  /** Kind of event. */
  readonly action: TimelineAction;
  /** Number of the object, for its allocation and its free; 0 for events without an object. */
  readonly id: number;
  /** Kind of memory; for a copy that of its destination, and `"track"` for tracks. */
  readonly kind: string;
  /** The label of the object, or its kind and number; `"host"` for ordinary host memory. */
  readonly name: string;
  /** Source of a copy; undefined for all other events. */
  readonly source?: string | undefined;
  /** Bytes that were allocated, freed or copied. */
  readonly byteLength: number;
  /** Device memory held by live objects after it, in bytes. */
  readonly deviceBytes: number;
}

export interface TimelineRecord extends TimelineFacts {
  readonly address: bigint;
  readonly stream: bigint;
  /** Places on the stack where the object was made, nearest first. */
  readonly stack?: readonly string[] | undefined;
}

/** An event as it is shown. */
export interface TimelineEvent extends TimelineFacts {
  /** Time in seconds since 1970; for a copy, the time when it was queued. */
  readonly timeSeconds: number;
  /** The notebook cell that was running, such as `"cell 7"`; undefined when it is unknown. */
  readonly cell?: string | undefined;
  /** The object's address in hexadecimal. */
  readonly address: string;
  /** The stream's handle in hexadecimal. */
  readonly stream: string;
}
