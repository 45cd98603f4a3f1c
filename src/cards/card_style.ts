// The style of cards. Colours are the page's text colour, made lighter, and three hues that are
// readable on white and on black. The class is doubled where it must override a notebook's table
// style.

/** The style sheet that every card carries, since each output of a notebook stands alone. */
export const CARD_STYLE = `
.vk-card{box-sizing:border-box;max-width:760px;margin:4px 0;padding:10px 14px 12px;
 border:1px solid color-mix(in srgb,currentColor 22%,transparent);border-radius:8px;
 font:13px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:anywhere}
.vk-card i{display:inline-block;font-style:normal}
.vk-head{display:flex;flex-wrap:wrap;align-items:baseline;gap:2px 10px}
.vk-title{font-size:15px}
.vk-kind,.vk-name{opacity:.68}
.vk-summary{margin-bottom:6px;white-space:pre-line}
.vk-state{padding:0 8px;border-radius:9px;border:1px solid currentColor;font-size:11px}
.vk-disposed{opacity:.7;border-style:dashed}
.vk-warning{background:#b3730033;border-color:#b37300}
.vk-error{background:#cf3a3a33;border-color:#cf3a3a}
.vk-facts{display:flex;flex-wrap:wrap;gap:1px 24px;margin:4px 0}
.vk-facts .vk-name{margin-right:4px}
.vk-bar{display:flex;height:14px;margin:5px 0 4px;border-radius:4px;overflow:hidden;
 box-shadow:inset 0 0 0 1px color-mix(in srgb,currentColor 26%,transparent)}
.vk-bar i{flex:none}
.vk-bar i.vk-empty{flex:1 1 0}
.vk-solid{background:#2f81c7}
.vk-hatched{background:repeating-linear-gradient(45deg,#c98a1b 0 3px,#c98a1b55 3px 6px)}
.vk-dotted{background:radial-gradient(circle,#8a8f98 1.2px,#8a8f9844 1.4px) 0 0/5px 5px}
.vk-empty{background:transparent}
.vk-legend{display:flex;flex-wrap:wrap;gap:2px 18px}
.vk-legend b{font-weight:600}
.vk-swatch{width:11px;height:11px;margin-right:6px;border-radius:2px;vertical-align:-1px;
 box-shadow:inset 0 0 0 1px color-mix(in srgb,currentColor 40%,transparent)}
.vk-note{margin-top:6px;padding-left:9px;border-left:3px solid color-mix(in srgb,currentColor 30%,transparent);white-space:pre-line}
.vk-scroll{overflow-x:auto}
.vk-card.vk-card table.vk-table{width:100%;margin:4px 0;border-collapse:collapse;border:0;
 font:inherit;color:inherit}
.vk-card.vk-card table.vk-table tr{background:none}
.vk-card.vk-card table.vk-table :is(th,td){padding:2px 14px 2px 0;text-align:left;
 white-space:nowrap;border:0;font-variant-numeric:tabular-nums}
.vk-card.vk-card table.vk-table th{font-weight:400;opacity:.68;
 border-bottom:1px solid color-mix(in srgb,currentColor 22%,transparent)}
.vk-card.vk-card table.vk-table .vk-right{text-align:right}
.vk-card.vk-card table.vk-table td.vk-left{white-space:normal;overflow-wrap:normal}
.vk-card.vk-card table.vk-table .vk-track{width:22%;min-width:70px;padding-right:0}
.vk-track i{height:9px;border-radius:2px}
.vk-card.vk-card pre.vk-values{margin:2px 0 0;padding:0;overflow-x:auto;background:none;color:inherit;
 font:12px/1.5 ui-monospace,Menlo,Consolas,monospace}
.vk-histogram{display:flex;align-items:flex-end;gap:1px;height:64px;margin-top:6px;
 border-bottom:1px solid color-mix(in srgb,currentColor 30%,transparent)}
.vk-histogram i{flex:1 1 0}
.vk-ends{display:flex;justify-content:space-between;opacity:.68;font-variant-numeric:tabular-nums}
`;
