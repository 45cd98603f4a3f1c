// The search of a page: words in its header, and a panel with the places. A plain script, since a page
// that is opened as a file may load no module; what it finds is read when a reader begins to search.

(() => {
  const base = document.documentElement.dataset.base ?? "./";
  const toolbar = document.querySelector(".tsd-toolbar-contents");
  if (toolbar === null) return;
  const box = document.createElement("div");
  box.className = "vk-search";
  box.innerHTML =
    '<input type="search" placeholder="Search (press /)" aria-label="Search"><div class="vk-found" hidden></div>';
  toolbar.append(box);
  const [input, panel] = box.children;
  let chosen = -1;
  let loading;

  function load() {
    loading ??= ["minisearch.js", "found.js", "finding.js"].reduce(
      (before, name) =>
        before.then(() =>
          new Promise((resolve, reject) => {
            const script = document.createElement("script");
            script.src = `${base}assets/${name}`;
            script.onload = resolve;
            script.onerror = reject;
            document.head.append(script);
          })
        ),
      Promise.resolve(),
    );
    return loading;
  }

  function line({ otherCount, name, where, kind, text, address }, position) {
    const link = document.createElement("a");
    link.href = base + address;
    link.classList.toggle("chosen", position === chosen);
    const isMember = /^(method|property|constructor)$/.test(kind);
    const title = document.createElement("b");
    title.textContent = isMember ? `${where}.${name}` : name;
    const side = document.createElement("i");
    side.textContent = isMember || where === "" ? kind : where;
    if (isMember && otherCount > 0) side.textContent += `, also in ${otherCount} more`;
    const sentence = document.createElement("small");
    sentence.textContent = text.slice(0, 200);
    link.append(side, title, ...(text === "" ? [] : [sentence]));
    return link;
  }

  async function show() {
    await load();
    panel.hidden = input.value.trim() === "";
    if (panel.hidden) return;
    const hits = globalThis.vramkitFinding.find(input.value);
    chosen = hits.length === 0 ? -1 : Math.min(Math.max(chosen, 0), hits.length - 1);
    panel.replaceChildren(...hits.map(line));
    if (hits.length > 0) return;
    const none = document.createElement("p");
    none.textContent = "Nothing has these words";
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

  input.addEventListener("focus", () => load().then(show));
  input.addEventListener("input", () => {
    chosen = 0;
    show();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") show().then(() => panel.querySelector("a.chosen")?.click());
    else if (event.key === "Escape") input.blur();
    else return;
    event.preventDefault();
  });
  panel.addEventListener("click", () => panel.hidden = true);
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest(".vk-search")) panel.hidden = true;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") panel.hidden = true;
    if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // TypeDoc's own search listens as well
    input.focus();
  }, true);
})();
