// Hints for managed memory, kept for each page so that a part of a block can have its own.
// They change nothing in the simulation: they are only read back.

const PAGE_BYTES = 4096;

/** The answer of `cuMemRangeGetAttribute` when the pages of a range differ or have no advice. */
export const NO_LOCATION = -2;

export interface PageAdvice {
  /** Copies for reading may be kept on several devices. */
  readMostly: boolean;
  /** Best place for the page. */
  preferredLocation: number;
  lastPrefetchLocation: number;
  /** Devices that keep a mapping. */
  accessedBy: ReadonlySet<number>;
}

const UNADVISED: PageAdvice = {
  readMostly: false,
  preferredLocation: NO_LOCATION,
  lastPrefetchLocation: NO_LOCATION,
  accessedBy: new Set(),
};

/** Keeps the hints for one block. */
export class Advice {
  #pages = new Map<number, PageAdvice>();
  #unadvised: PageAdvice;

  constructor(preferredLocation = NO_LOCATION) {
    this.#unadvised = { ...UNADVISED, preferredLocation };
  }

  /** Changes the hints of all pages that a range touches. */
  update(start: number, end: number, change: (page: PageAdvice) => Partial<PageAdvice>): void {
    for (const index of pagesOf(start, end)) {
      const page = this.#pages.get(index) ?? this.#unadvised;
      this.#pages.set(index, { ...page, ...change(page) });
    }
  }

  /** Lists the hints of all pages that a range touches. */
  read(start: number, end: number): PageAdvice[] {
    return [...pagesOf(start, end)].map((index) => this.#pages.get(index) ?? this.#unadvised);
  }
}

function* pagesOf(start: number, end: number): Generator<number> {
  for (let index = Math.floor(start / PAGE_BYTES); index * PAGE_BYTES < end; index++) yield index;
}
