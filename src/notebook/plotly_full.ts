// All of plotly.js as text (4.8 MB). Imported when a figure has a type that the smaller bundle lacks: a
// text in a package is found by a literal alone, and Deno fetches it with whatever imports this file.

export { default as source } from "npm:plotly.js-dist-min@4.1.1/plotly.min.js" with {
  type: "text",
};
