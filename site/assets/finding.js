// Search: from the words of a reader to places of the site. A plain script for pages and for the tests.
// The words are those of many systems; the table has what they are called here.

globalThis.vramkitFinding = (() => {
  const SYNONYMS = {
    oom: "out of memory OutOfMemoryError",
    matmul: "compute matrix products kernel",
    gemm: "compute matrix products kernel",
    "element-wise": "compute arithmetic kernel",
    elementwise: "compute arithmetic kernel",
    add: "add compute arithmetic",
    fp16: "float16 DType",
    half: "float16 DType",
    bf16: "bfloat16 DType",
    fp32: "float32 DType",
    dtypes: "DType element types",
    cast: "astype convert",
    h2d: "upload host device",
    htod: "upload host device",
    d2h: "download device host",
    dtoh: "download device host",
    d2d: "copyFrom",
    memcpy: "copyFrom upload download",
    malloc: "alloc allocate",
    free: "free dispose lifetimes",
    leak: "leak live lifetimes",
    pageable: "pageable upload ordinary arrays page-locked pinned",
    "page-locked": "pinned",
    pin: "pinned",
    uvm: "managed",
    zerocopy: "mapped dlpack",
    "zero-copy": "mapped dlpack",
    windows: "windows platforms",
    macos: "macOS platforms",
    mac: "macOS platforms",
    bun: "Bun platforms",
    node: "Node platforms",
    wsl: "WSL platforms",
    license: "licence MIT",
    licence: "licence MIT",
    install: "get the kit clone install",
    numpy: "numpy python npy",
    parquet: "parquet recipes",
    dataframe: "parquet recipes",
    pandas: "parquet recipes python",
    arrow: "parquet recipes",
    dataloader: "dataloader recipes",
    webgpu: "WebGPU compute",
    multigpu: "several",
    "multi-gpu": "several",
    ddp: "several gpus torch.distributed group",
    allreduce: "allReduce",
    checkpoint: "safetensors save",
    profiler: "timing time bandwidth",
    benchmark: "time your own transfers transferBench",
    nvidia: "driver",
    ipc: "another process share",
    jit: "compile",
    nvcc: "compile loadModule",
    print: "preview summary describe",
  };
  /** Names of calls elsewhere, each with the one here that does it; its own letters find nothing. */
  const CALLS = {
    cudamalloc: "alloc",
    cumemalloc: "alloc",
    cudamallocmanaged: "managed",
    cudamallochost: "pinned",
    cudahostalloc: "pinned",
    cudamemcpy: "copyFrom",
    cudamemcpyasync: "copyFrom",
    cudafree: "dispose",
    unified: "managed",
    cudastreamsynchronize: "synchronize",
    cudadevicesynchronize: "synchronize",
  };
  /** Words that are on so many pages that they only help to order what the others find. */
  const WEAK = new Set(["memory", "gpu", "buffer", "array", "arrays"]);
  /** Words that say nothing about a page. */
  const EMPTY = new Set(
    "a an and are as at be by can do does for from how i in is it my of on or should the to use using what when where which why with you your"
      .split(" "),
  );
  const VARIABLES = {
    gpu: "CudaDevice",
    stream: "CudaStream",
    buffer: "DeviceBuffer",
    x: "DeviceBuffer",
    graph: "CudaGraph",
    event: "CudaEvent",
  };
  const WEIGHTS = {
    guide: 2.2,
    class: 2.2,
    function: 1.6,
    method: 1.3,
    notebook: 1,
    property: 0.8,
    interface: 0.7,
    type: 0.8,
    constant: 0.6,
    module: 0.9,
    constructor: 0.5,
    table: 0.8,
    line: 0.25,
    page: 0.35,
  };
  /** Classes whose methods people call; the others inherit them or are rare. */
  const FIRST = ["CudaDevice", "DeviceBuffer", "CudaStream"];
  let index;

  /** `copyFrom` is found by "copy", "from" and "copyfrom". */
  function tokenize(text) {
    const words = text.split(/[^\p{L}\p{N}-]+/u).flatMap((word) => [word, ...word.split("-")]);
    const parts = words.flatMap((word) =>
      word.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    );
    return [...new Set([...words, ...parts])].filter((word) => word !== "" && word !== "-");
  }

  function build() {
    index = new globalThis.MiniSearch({
      fields: ["name", "where", "text"],
      storeFields: ["name", "where", "kind", "text", "address"],
      tokenize,
      searchOptions: {
        boost: { name: 6, where: 2, text: 1 },
        prefix: (term) => term.length > 2,
        fuzzy: (term) => term.length > 4 ? 0.2 : false,
        bm25: { k: 1.2, b: 0.6, d: 0.5 },
      },
    });
    index.addAll(
      globalThis.VRAMKIT_FOUND.map(([name, where, kind, text, address], id) => ({
        id,
        name,
        where,
        kind,
        text,
        address,
      })),
    );
  }

  /** Queries: every word as it is, or as one of what it is called here. */
  function queryOf(words) {
    const typed = words.trim().replace(/^(\w+)(?=\.)/, (name) => VARIABLES[name] ?? name);
    const all = typed.toLowerCase().split(/[^\p{L}\p{N}_-]+/u).filter((word) => word !== "");
    const telling = all.filter((word) => !EMPTY.has(word));
    const chosen = telling.length > 0 ? telling : all;
    const original = typed.split(/[^\p{L}\p{N}_-]+/u);
    const exact = chosen.map((word) =>
      original.find((each) => each.toLowerCase() === word) ?? word
    );
    return {
      exact,
      queries: exact.map((word) => {
        const call = CALLS[word.toLowerCase()];
        if (call !== undefined) return { queries: [call], combineWith: "AND", fuzzy: false };
        const meant = SYNONYMS[word.toLowerCase()];
        const own = word.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ");
        const itself = { queries: [own], combineWith: "AND" };
        return meant === undefined ? itself : {
          combineWith: "OR",
          queries: [itself, {
            queries: [meant],
            combineWith: "OR",
            boostTerm: () => 0.9,
            fuzzy: false,
            prefix: false,
          }],
        };
      }),
    };
  }

  /** Returns the places that fit, best first. */
  function find(words, count = 30) {
    if (index === undefined) build();
    const { exact, queries } = queryOf(words);
    const isWeak = (at) => WEAK.has(exact[at].toLowerCase());
    const strong = queries.filter((_, at) => !isWeak(at));
    const weak = strong.length === 0 ? [] : queries.filter((_, at) => isWeak(at));
    const needed = strong.length === 0 ? queries : strong;
    const names = namesOf(words, exact.filter((_, at) => strong.length === 0 || !isWeak(at)));
    const boostDocument = (_id, _term, row) => weightOf(row, names);
    const search = (combineWith) => {
      const all = { queries: needed, combineWith };
      const hits = index.search(all, { boostDocument });
      if (weak.length === 0) return hits;
      const found = new Set(hits.map(({ id }) => id));
      return index.search({ queries: [all, ...weak], combineWith: "OR" }, { boostDocument })
        .filter(({ id }) => found.has(id));
    };
    const hits = search("AND");
    // Where nothing has all the words, something may have some of them.
    return once(hits.length > 0 ? hits : search("OR")).slice(0, count);
  }

  /** What a name would be if the words were one: "pinned memory" may mean `pinned`. */
  function namesOf(words, telling) {
    const typed = words.trim().replace(/\(\)?$/, "").replace(
      /^(\w+)(?=\.)/,
      (name) => VARIABLES[name] ?? name,
    );
    const called = telling.map((word) => CALLS[word.toLowerCase()] ?? word);
    return new Set([typed, called.join(""), called.join("_")].map((name) => name.toLowerCase()));
  }

  function weightOf({ name, where, kind }, names) {
    const plain = name.toLowerCase();
    const isExact = names.has(plain) || names.has(`${where}.${name}`.toLowerCase());
    const starts = [...names].some((each) => plain.startsWith(each));
    const isFirst = FIRST.includes(where);
    const rank = kind === "method" ? (isFirst ? 1.4 : 0.7) : /Error$/.test(name) ? 0.5 : 1;
    return (WEIGHTS[kind] ?? 1) * (isExact ? 8 : starts ? 2 : 1) * rank;
  }

  /** A member that many classes inherit is one line, of the class that people hold. */
  function once(hits) {
    const groups = Map.groupBy(hits, ({ name, kind, text }) => `${kind} ${name} ${text}`);
    return [...groups.values()].map((group) => {
      const [first] = group;
      const shown = group.find(({ where }) => FIRST.includes(where)) ?? first;
      return { ...shown, otherCount: group.length - 1 };
    });
  }

  return { find };
})();
