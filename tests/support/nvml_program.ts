// Looks for the system's NVML and prints why it cannot be had, or "found".

import { LibraryError } from "../../ffi/library.ts";
import { findNvml, OWN_NVML } from "../../ffi/nvml_library.ts";
import { simulateDriver } from "../../ffi/simulated/driver.ts";

if (import.meta.main) {
  const { [OWN_NVML]: _, ...driver } = { [OWN_NVML]: undefined, ...simulateDriver() };
  try {
    findNvml(driver);
    console.log("found");
  } catch (error) {
    console.log(error instanceof LibraryError ? `${error.reason}: ${error.message}` : error);
  }
}
