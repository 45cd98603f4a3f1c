// Where the names in texts and types lead: to the page of a public name, or to a member on it.

import { relativeAddress } from "./html.ts";
import { type Member, membersOf } from "./members.ts";
import type { PublicSymbol, Reference } from "./reference.ts";

/** The variables of the documentation's examples, by what they hold. */
export const VARIABLES: Readonly<Record<string, string>> = {
  gpu: "CudaDevice",
  stream: "CudaStream",
  buffer: "DeviceBuffer",
  x: "DeviceBuffer",
  graph: "CudaGraph",
  event: "CudaEvent",
};

/** Finds public names and their members. */
export class Names {
  readonly reference: Reference;
  readonly #members = new Map<PublicSymbol, readonly Member[]>();

  constructor(reference: Reference) {
    this.reference = reference;
  }

  /** The members of a name; worked out once. */
  members(symbol: PublicSymbol): readonly Member[] {
    return this.#members.getOrInsertComputed(symbol, () => membersOf(symbol, this.reference));
  }

  /** The place of `Name` or `Name.member` in the site, as `page.html#anchor`. */
  place(path: string, beside?: PublicSymbol): string | undefined {
    const [name = "", ...rest] = path.split(".");
    const symbol = this.reference.find(name, beside);
    if (symbol === undefined) return undefined;
    if (rest.length === 0) return symbol.page;
    const member = this.#member(symbol, rest.join("."));
    return member === undefined ? undefined : `${symbol.page}#${member.anchor}`;
  }

  /**
   * The place of what a `{@link}` on a symbol's page names: a public name, a member of one, or a member
   * of this symbol, with or without the name of a base that has no page.
   */
  linked(target: string, beside: PublicSymbol): string | undefined {
    const place = this.place(target, beside);
    const [owner = "", name = owner] = target.split(".");
    if (place !== undefined || (name !== owner && this.reference.find(owner) !== undefined)) {
      return place;
    }
    const member = this.#member(beside, name);
    return member === undefined ? undefined : `${beside.page}#${member.anchor}`;
  }

  /** The place of what a piece of code names: `DeviceBuffer`, `new X()`, `gpu.live()`. */
  ofCode(code: string, beside?: PublicSymbol): string | undefined {
    const found = /^(?:await |new )?([A-Za-z_$][\w$]*)(?:\.([\w$]+))?(?:\(.*\))?;?$/s.exec(code);
    if (found === null) return undefined;
    const [, name = "", member] = found;
    const owner = member === undefined ? name : VARIABLES[name] ?? name;
    const place = this.place(member === undefined ? owner : `${owner}.${member}`, beside);
    if (place !== undefined || member !== undefined || beside === undefined) return place;
    const own = this.#member(beside, name);
    return own === undefined ? undefined : `${beside.page}#${own.anchor}`;
  }

  address(from: string, place: string | undefined): string | undefined {
    return place === undefined || place === from ? undefined : relativeAddress(from, place);
  }

  #member(symbol: PublicSymbol, name: string): Member | undefined {
    const members = this.members(symbol).filter((each) => each.name === name);
    return members.find(({ group }) => group !== "Static methods") ?? members[0];
  }
}
