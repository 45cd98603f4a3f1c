// An output of a cell that changes after the cell has run: display updates, with no widget.

import { displayInCell } from "../accounting/notebook_kernel.ts";
import type { DisplayBundle } from "../cards/show_card.ts";
import { warn } from "../words/warning.ts";

/** One output that can be redrawn, also while other cells run. */
export class LiveDisplay {
  readonly #id = crypto.randomUUID();
  #isShown = false;

  /** Shows the bundle, in place of the former one if any. */
  show(bundle: DisplayBundle): void {
    const options = { raw: true, display_id: this.#id, update: this.#isShown };
    this.#isShown = true;
    // A rejection in a timer's callback would stop the kernel from answering.
    displayInCell({ ...bundle }, options)
      .catch((error) => warn(`an output could not be updated: ${error}`));
  }
}
