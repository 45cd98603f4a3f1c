// Sources of streamed bytes, and their length, if they tell it.

import { addressOf } from "../disk/file_path.ts";
import { type HostMemory, isHostMemory } from "../memory/host_memory.ts";
import { letGo } from "../transfer/web_streams.ts";
import { describeValue, visibleText } from "../words/format.ts";

/** A response or a server's request, a stream of arrays or of bytes, or a blob (a File is one). */
export type ByteSource = Response | Request | ReadableStream<HostMemory> | Blob;

/** A stream of bytes and its length, if known. */
export interface OpenedSource {
  /** The bytes; read once. */
  readonly readable: ReadableStream<HostMemory>;
  /** Number of bytes that will come; undefined when the source does not tell, or may be wrong. */
  readonly byteLength: number | undefined;
}

/**
 * Opens a source; nothing is read yet.
 *
 * @throws TypeError when it is not a source, or is a stream that is being read, or a response or a
 *   request whose body was used.
 * @throws Error when a response reports a failure; the message has its status.
 */
export async function openSource(source: ByteSource): Promise<OpenedSource> {
  if (source instanceof Blob) return { readable: source.stream(), byteLength: source.size };
  if (source instanceof ReadableStream) return openStream(source);
  if (source instanceof Response) return await openResponse(source);
  if (source instanceof Request) return openBody(source, `the request to ${addressOf(source.url)}`);
  throw new TypeError(
    `Cannot stream to the GPU: it was given ${describeValue(source)}, expected a Response, a ` +
      `Request, a ReadableStream or a Blob${fixFor(source)}`,
  );
}

function openStream(readable: OpenedSource["readable"]): OpenedSource {
  if (!readable.locked) return { readable, byteLength: undefined };
  throw new TypeError("Cannot stream a ReadableStream to the GPU: another reader has locked it");
}

async function openResponse(response: Response): Promise<OpenedSource> {
  const { body, ok, status, statusText } = response;
  const name = response.url === "" ? "a response" : addressOf(response.url);
  const opened = openBody(response, name);
  if (ok) return opened;
  if (body !== null) await letGo(body, undefined);
  const words = `${status} ${statusText}`.trim();
  throw new Error(`Cannot stream ${visibleText(name)} to the GPU: its status is ${words}`);
}

function openBody({ body, bodyUsed, headers }: Response | Request, name: string): OpenedSource {
  if (bodyUsed || body?.locked) {
    throw new TypeError(
      `Cannot stream ${visibleText(name)} to the GPU: its body is in use or was used`,
    );
  }
  if (body === null) return { readable: new Blob().stream(), byteLength: 0 };
  return { readable: body, byteLength: contentLength(headers) };
}

/** Names the call for a value of another kind: an array, an address, a file, a Node stream. */
function fixFor(value: unknown): string {
  if (isHostMemory(value) || Array.isArray(value)) return "; upload() takes arrays";
  if (value instanceof URL || (typeof value === "string" && URL.canParse(value))) {
    return "; await fetch(url) returns one";
  }
  if (typeof value === "string") return "; uploadFile() takes paths";
  if (Object(value).readable instanceof ReadableStream) return "; pass its readable";
  return Symbol.asyncIterator in Object(value) ? "; ReadableStream.from() makes one of it" : "";
}

/** Returns the body's length; unknown with a content encoding, whose length is another one. */
function contentLength(headers: Headers): number | undefined {
  const encoding = headers.get("content-encoding") ?? "identity";
  const text = headers.get("content-length");
  if (encoding !== "identity" || text === null || !/^\d+$/.test(text)) return undefined;
  const byteLength = Number(text);
  return Number.isSafeInteger(byteLength) ? byteLength : undefined;
}
