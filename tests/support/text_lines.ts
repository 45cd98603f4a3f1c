// Lines of a stream of bytes.

/** Cuts bytes into lines of text, and drops the last one when it has no end. */
export class TextLineStream extends TransformStream<Uint8Array, string> {
  constructor() {
    const decoder = new TextDecoder();
    let rest = "";
    super({
      transform(bytes, controller) {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) controller.enqueue(line);
      },
    });
  }
}
