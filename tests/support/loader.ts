// Loads the test files that its arguments name into one graph of modules, so that they load the kit once:
// `deno test tests/support/loader.ts -- FILES`. tests/run.ts says so for each folder.

for (const path of Deno.args) {
  try {
    await import(new URL(`../../${path}`, import.meta.url).href);
  } catch (error) {
    Deno.test(`${path} loads`, () => {
      throw error; // here, so that the other files' tests run
    });
  }
}
