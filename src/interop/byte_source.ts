// What bytes can be streamed from, and how many it says there are.

/** A response, a stream of bytes, or a blob (a File is one). */
export type ByteSource = Response | ReadableStream<Uint8Array<ArrayBufferLike>> | Blob;

/** A stream and what is known of it. */
export interface OpenedSource {
  /** The bytes; read once. */
  readonly readable: ReadableStream<Uint8Array<ArrayBufferLike>>;
  /** How many bytes will come, when the source says so and can be believed. */
  readonly byteLength: number | undefined;
}

/**
 * Opens a source; nothing is read yet.
 *
 * @throws TypeError for something else, and for a response whose body was used.
 * @throws Error when a response tells of a failure, with its status.
 */
export async function openSource(source: ByteSource): Promise<OpenedSource> {
  if (source instanceof Blob) return { readable: source.stream(), byteLength: source.size };
  if (source instanceof ReadableStream) return { readable: source, byteLength: undefined };
  if (source instanceof Response) return await openResponse(source);
  throw new TypeError("Cannot stream to the GPU: expected a Response, a ReadableStream or a Blob");
}

async function openResponse(response: Response): Promise<OpenedSource> {
  const { body, bodyUsed, ok, status, statusText, headers } = response;
  const name = response.url === "" ? "a response" : response.url;
  if (bodyUsed || body?.locked) {
    throw new TypeError(`Cannot stream ${name} to the GPU: its body is in use or was used`);
  }
  if (!ok) {
    await body?.cancel();
    throw new Error(`Cannot stream ${name} to the GPU: ${`${status} ${statusText}`.trim()}`);
  }
  if (body === null) return { readable: new Blob().stream(), byteLength: 0 };
  return { readable: body, byteLength: contentLength(headers) };
}

/** The body's length; with a content encoding the header tells how long it is packed. */
function contentLength(headers: Headers): number | undefined {
  const encoding = headers.get("content-encoding") ?? "identity";
  const text = headers.get("content-length");
  if (encoding !== "identity" || text === null || !/^\d+$/.test(text)) return undefined;
  const byteLength = Number(text);
  return Number.isSafeInteger(byteLength) ? byteLength : undefined;
}
