// The only argument that constructors of the kit's own objects accept. Programs cannot make one: they
// get the objects from methods, which the error names.

/** A class whose objects the kit makes. */
type Made = abstract new (parts: never) => object;

/** The methods from which programs get an object, by its class. */
const makers = new WeakMap<object, string>();

/** Notes the methods from which programs get the objects of a class. */
export function comesFrom(made: Made, methods: string): void {
  makers.set(made, methods);
}

/** The parts from which the kit makes an object. */
export class Parts<T> {
  declare readonly value: T;

  constructor(value: T) {
    this.value = value;
  }
}

/**
 * Returns the parts of an object under construction.
 *
 * @throws TypeError for anything else, with the methods that make such an object.
 */
export function partsOf<T>(parts: Parts<T>, made: Made): T {
  if (parts instanceof Parts) return parts.value;
  throw new TypeError(`Cannot construct ${made.name}: it comes from ${makersOf(made)}`);
}

/** Returns the methods; those of its base for a class that a program derived. */
function makersOf(made: object | null): string {
  return made === null ? "the kit" : makers.get(made) ?? makersOf(Object.getPrototypeOf(made));
}
