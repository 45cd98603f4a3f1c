// Search in the browser: names, members and headings, while the reader types; no server takes part.
// A plain script, since a page that is opened as a file may load no module.

(() => {
  const input = document.querySelector("#search");
  const panel = document.querySelector("#found");
  const root = document.body.dataset.root;
  const COUNT = 30;
  let index;
  let chosen = -1;

  /** `copyFrom` is found by "copy", "from" and "copyfrom". */
  function tokenize(text) {
    const words = text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
    const parts = words.flatMap((word) =>
      word.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    );
    return [...new Set([...words, ...parts])];
  }

  function build() {
    const rows = globalThis.VRAMKIT_FOUND.map(([name, where, kind, text, address], id) => ({
      id,
      name,
      where,
      kind,
      text,
      address,
    }));
    index = new globalThis.MiniSearch({
      fields: ["name", "where", "text"],
      storeFields: ["name", "where", "kind", "text", "address"],
      tokenize,
      searchOptions: {
        tokenize: (text) => tokenize(text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ")),
        prefix: true,
        fuzzy: (term) => term.length > 4 ? 0.2 : false,
        combineWith: "AND",
        boost: { name: 8, where: 2, text: 1 },
      },
    });
    index.addAll(rows);
  }

  /** `gpu.limit` of the examples means `CudaDevice.limit`. */
  function withClass(words) {
    const variables = globalThis.VRAMKIT_VARIABLES;
    return words.trim().replace(/^(\w+)(?=\.)/, (name) => variables[name] ?? name);
  }

  function find(input) {
    const words = withClass(input);
    if (index === undefined) build();
    const typed = words.trim().toLowerCase().replace(/\(\)?$/, "");
    const options = {
      boostDocument: (_id, _term, { name, where, kind }) => {
        const plain = name.toLowerCase();
        const whole = `${where}.${name}`.toLowerCase();
        const isExact = plain === typed || whole === typed;
        const weight = {
          class: 3,
          "abstract class": 2,
          function: 2.5,
          guide: 1.6,
          notebook: 1.3,
          interface: 0.9,
          type: 0.9,
          line: 0.5,
        }[kind] ?? 1;
        return weight * (isExact ? 8 : plain.startsWith(typed) ? 2 : 1);
      },
    };
    // Where nothing has all the words, something may have some of them.
    const all = index.search(words, options);
    const hits = all.length > 0 ? all : index.search(words, { ...options, combineWith: "OR" });
    return once(hits).slice(0, COUNT);
  }

  /** A member that many classes inherit is one line, of the class that was found first. */
  function once(hits) {
    const groups = Map.groupBy(hits, ({ name, kind, text }) => `${kind} ${name} ${text}`);
    return [...groups.values()].map(([first, ...others]) => ({
      ...first,
      otherCount: others.length,
    }));
  }

  function line({ otherCount, name, where, kind, text, address }, position) {
    const link = document.createElement("a");
    link.href = root + address;
    link.classList.toggle("chosen", position === chosen);
    const title = document.createElement("b");
    const isMember = /^(method|property|constructor)$/.test(kind);
    const before = document.createElement("span");
    before.textContent = isMember && kind !== "constructor" ? `${where}.` : "";
    title.append(before, name);
    const side = document.createElement("i");
    side.textContent = isMember || where === "" ? kind : where;
    if (isMember && otherCount > 0) side.textContent += `, also in ${otherCount} more`;
    const sentence = document.createElement("small");
    sentence.textContent = text;
    link.append(title, side, ...(text === "" ? [] : [sentence]));
    return link;
  }

  function show() {
    const words = input.value;
    panel.hidden = words.trim() === "";
    if (panel.hidden) return;
    const hits = find(words);
    chosen = hits.length === 0 ? -1 : Math.min(Math.max(chosen, 0), hits.length - 1);
    panel.replaceChildren(...hits.map(line));
    if (hits.length > 0) return;
    const none = document.createElement("p");
    none.textContent = "Nothing of that name";
    panel.append(none);
  }

  function move(step) {
    const links = [...panel.querySelectorAll("a")];
    if (links.length === 0) return;
    links[chosen]?.classList.remove("chosen");
    chosen = (chosen + step + links.length) % links.length;
    links[chosen].classList.add("chosen");
    links[chosen].scrollIntoView({ block: "nearest" });
  }

  input.addEventListener("input", () => {
    chosen = 0;
    show();
  });
  input.addEventListener("focus", show);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") panel.querySelector("a.chosen")?.click();
    else if (event.key === "Escape") input.blur();
    else return;
    event.preventDefault();
  });
  panel.addEventListener("click", () => {
    panel.hidden = true;
  });
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest(".search")) panel.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") panel.hidden = true;
    if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
    event.preventDefault();
    input.focus();
  });
  // The menu begins at the page that is shown.
  const here = document.querySelector('.menu [aria-current="page"]');
  const menu = document.querySelector(".menu");
  if (here !== null && here.offsetTop > menu.clientHeight * 0.7) {
    menu.scrollTop = here.offsetTop - menu.clientHeight / 3;
  }
})();
