// The card of a GGUF model, with the formats of its tensors. The entry for GGUF loads it.

import { GgufModel } from "../interop/gguf/model.ts";
import { modelCard } from "./model_card.ts";
import { show } from "./show_card.ts";

show(GgufModel, (model) => {
  return modelCard(model, { heading: "format", words: (_, name) => model.format(name) });
});
