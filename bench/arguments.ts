// The arguments of a bench, read alike in all of them. `--help` prints the comment on top of its file.

import { parseArgs, type ParseArgsConfig } from "node:util";

/** The options of a program, as `parseArgs()` of `node:util` takes them. */
type OptionTable = NonNullable<ParseArgsConfig["options"]>;

/** What a program got for its options. */
type ValuesOf<T extends OptionTable> = ReturnType<typeof parseArgs<{ options: T }>>["values"];

/** Reads the arguments of a program that has words and no options; wrong ones end it. */
export function readWords({ most }: { readonly most: number }): string[] {
  const { positionals } = read({ allowPositionals: true, options: {} });
  if (positionals.length > most) refuse(`Unexpected argument '${positionals[most]}'`);
  return positionals;
}

/** Reads the arguments of a program that has options and no words; wrong ones end it. */
export function readOptions<const T extends OptionTable>(options: T): ValuesOf<T> {
  return read({ options }).values as ValuesOf<T>;
}

function read(config: ParseArgsConfig) {
  if (Deno.args.includes("--help") || Deno.args.includes("-h")) {
    console.log(usage());
    Deno.exit();
  }
  try {
    return parseArgs(config);
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(why: string): never {
  console.error(`${why}\n\n${usage()}`);
  Deno.exit(2);
}

/** The comment on top of the program, which says what it asks and how it is started. */
function usage(): string {
  const lines = Deno.readTextFileSync(new URL(Deno.mainModule)).split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  return lines.slice(0, end).map((line) => line.replace(/^\/\/ ?/, "")).join("\n");
}
