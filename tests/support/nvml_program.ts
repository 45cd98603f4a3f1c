// Looks for the system's NVML and prints why it cannot be had, or "found".

import { LibraryError } from "../../ffi/library.ts";
import { findNvml } from "../../ffi/nvml_library.ts";
import { OWN } from "../../ffi/own_parts.ts";
import { simulateDriver } from "../../ffi/simulated/driver.ts";

if (import.meta.main) {
  const driver = { ...simulateDriver(), [OWN]: undefined };
  try {
    findNvml(driver);
    console.log("found");
  } catch (error) {
    console.log(error instanceof LibraryError ? `${error.reason}: ${error.message}` : error);
  }
}
