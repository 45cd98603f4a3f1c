// A move makes up the next steps of a random sequence, with arguments that are mostly right.

import type { Draft } from "../draft.ts";

/** Steps that rest on one another: those behind one that fails are left out. */
export type Chain = readonly string[];

/** Makes up a step, a chain of them, or several chains; none where nothing fits. */
export type Move = (draft: Draft) => string | Chain | readonly Chain[] | undefined;

/** Moves with how often they are taken. */
export type WeightedMoves = readonly (readonly [weight: number, move: Move])[];
