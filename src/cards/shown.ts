// The cards of all classes that mod.ts loads: each file shows its own. Those of archives and of GGUF come
// with their entries.

import "./bandwidth_card.ts";
import "./buffer_card.ts";
import "./device_card.ts";
import "./error_card.ts";
import "./group_cards.ts";
import "./kernel_cards.ts";
import "./live_card.ts";
import "./memory_cards.ts";
import "./model_card.ts";
import "./persisted_cards.ts";
import "./queue_cards.ts";
import "./result_cards.ts";
import "./system_card.ts";
