// Finds a key that occurs twice in one JSON object, which JSON.parse takes without a word.

/**
 * Finds the first key that its object has had before; undefined when there is none.
 *
 * @param json is valid JSON: JSON.parse has taken it.
 */
export function findDuplicateKey(json: string): string | undefined {
  /** The keys of the objects around the present place; undefined stands for an array. */
  const around: (Set<string> | undefined)[] = [];
  let expectsKey = false;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case "{":
        around.push(new Set());
        expectsKey = true;
        break;
      case "[":
        around.push(undefined);
        expectsKey = false;
        break;
      case "}":
      case "]":
        around.pop();
        expectsKey = false;
        break;
      case ",":
        expectsKey = around.at(-1) !== undefined;
        break;
      case '"': {
        const end = endOfString(json, at);
        if (expectsKey) {
          const key: string = JSON.parse(json.slice(at, end));
          const keys = around.at(-1);
          if (keys?.has(key)) return key;
          keys?.add(key);
          expectsKey = false;
        }
        at = end - 1;
      }
    }
  }
  return undefined;
}

/** The place after the string that starts at `start`. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === "\\") at++;
    else if (json[at] === '"') return at + 1;
  }
  return json.length;
}
