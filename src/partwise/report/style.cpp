#include "partwise/report/html.h"

namespace partwise::report {

namespace {

constexpr std::string_view kStyleSheet = R"css(
:root{color-scheme:light dark;
 --paper:#fdfcfa;--raised:#fff;--ink:#1c2024;--muted:#5b636d;--line:#e2dfd8;--accent:#0b6e6e;--soft:#f3f1ec;
 --good:#1a6b3c;--bad:#a03421;
 --s0:#5f6873;--s1:#8a6100;--s2:#2f62b5;--s3:#b3361c;--s4:#6b3fa0;--s5:#0b7a6b;--s6:#94406f;--s7:#4d5c18;
 --sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
 --serif:"Iowan Old Style",Charter,"Palatino Linotype",Palatino,Georgia,serif;
 --mono:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){:root{
 --paper:#15181b;--raised:#1c2024;--ink:#e6e4df;--muted:#a2a9b1;--line:#333940;--accent:#5cc4bd;--soft:#20252a;
 --good:#7fd09c;--bad:#f09a86;
 --s0:#a9b2bc;--s1:#e0b34c;--s2:#86b1f5;--s3:#ff8a6b;--s4:#c4a1f0;--s5:#5fd0bd;--s6:#eb9ac8;--s7:#bccb72}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 var(--sans)}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--raised);padding:.5rem 1rem;z-index:2}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
a{color:var(--accent);text-underline-offset:.18em;text-decoration-thickness:1px}
.frame{max-width:80rem;margin:0 auto;padding:2.5rem 1.5rem 4rem;display:grid;grid-template-columns:11.5rem minmax(0,1fr);gap:0 3rem}
header{grid-column:2;padding-bottom:1.2rem;border-bottom:1px solid var(--line)}
.kicker{margin:0;color:var(--accent);font-size:.8rem;font-weight:600;letter-spacing:.08em;text-transform:uppercase}
h1{font:600 clamp(1.7rem,4vw,2.5rem)/1.15 var(--serif);margin:.3rem 0 .6rem;text-wrap:balance}
h2{font:600 1.55rem/1.25 var(--serif);margin:0 0 .8rem}
h3{font:600 1.12rem/1.35 var(--sans);margin:2rem 0 .5rem}
h4{font:600 .95rem/1.4 var(--sans);margin:1.5rem 0 .6rem;color:var(--muted)}
section{padding:2.4rem 0 .4rem;scroll-margin-top:.5rem}
section+section{border-top:1px solid var(--line);margin-top:2rem}
p,ul,ol,dl{max-width:70ch;margin:0 0 .9rem}li{margin:.25rem 0}
.facts{display:flex;flex-wrap:wrap;gap:.15rem 1.6rem;color:var(--muted);font-size:.9rem;margin:0;max-width:none}
.facts b{color:var(--ink);font-weight:600}
nav{grid-column:1;grid-row:1/span 3;font-size:.9rem}
nav .stick{position:sticky;top:2rem}
nav ol{list-style:none;margin:.3rem 0 0;padding:0}nav li{margin:0}
nav a{display:block;padding:.28rem 0;color:var(--muted);text-decoration:none}nav a:hover,nav a:focus-visible{color:var(--accent);text-decoration:underline}
nav p{margin:0;font-weight:600}
main{grid-column:2;min-width:0}
.verdict{font:1.14rem/1.65 var(--serif);max-width:66ch;border-left:3px solid var(--accent);padding:.1rem 0 .1rem 1.2rem;margin:0 0 1.4rem}
.verdict p{margin:0 0 .7rem}.verdict p:last-child{margin:0}
.note{color:var(--muted);font-size:.9rem}
.warnings{background:var(--soft);border-radius:.5rem;padding:1rem 1.2rem 1rem 2.2rem;max-width:none;font-size:.94rem}
.arms{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1rem;max-width:none;margin:1rem 0}
.arms div{border:1px solid var(--line);border-top:3px solid currentColor;border-radius:.3rem;background:var(--raised);padding:.8rem 1rem}
.arms dt{font-weight:600}.arms dd{margin:.3rem 0 0;color:var(--ink);font-size:.92rem;line-height:1.5}.arms dd.facts{color:var(--muted);font-size:.82rem}
.metric{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:.5rem 2.2rem;align-items:start;padding:1.4rem 0}
.metric+.metric{border-top:1px dashed var(--line)}
.metric h3{margin:0 0 .4rem}.metric p{font-size:.95rem;line-height:1.55}
.metric .hint{font-weight:400;color:var(--muted);font-size:.85rem}
.lead{font-weight:600}.panel h4{margin:.9rem 0 .3rem;font-size:.85rem}
figure{margin:0}figcaption{font-size:.88rem;color:var(--muted)}
.panel{background:var(--raised);border:1px solid var(--line);border-radius:.5rem;padding:.9rem}
.grid2{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1.2rem;margin:1rem 0}
.grid2 .panel h4{margin:0 0 .4rem;color:var(--ink)}
svg.chart{display:block;width:100%;height:auto;color:var(--ink);overflow:visible}
svg .muted{fill:var(--muted)}svg .ink{fill:var(--ink)}svg .grid{color:var(--muted)}svg .control{color:var(--ink)}
svg .hollow{fill:var(--raised)}
.series-0{color:var(--s0)}.series-1{color:var(--s1)}.series-2{color:var(--s2)}.series-3{color:var(--s3)}
.series-4{color:var(--s4)}.series-5{color:var(--s5)}.series-6{color:var(--s6)}.series-7{color:var(--s7)}
.scroll{overflow-x:auto;margin:.6rem 0 1rem}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums;min-width:100%}
caption{text-align:left;color:var(--muted);padding:0 0 .5rem;font-size:.88rem}
th,td{padding:.42rem .55rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
thead th{border-bottom:2px solid var(--line);font-weight:600;vertical-align:bottom}
th[scope=row]{font-weight:600}
.number{text-align:right}td.number{white-space:nowrap}.small{display:block;color:var(--muted);font-size:.8rem;font-weight:400}td.number .small{white-space:nowrap}.keep{white-space:nowrap}
th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer;text-align:inherit}
th button::after{content:"\00a0↕";color:var(--muted);font-weight:400}th[aria-sort=ascending] button::after{content:"\00a0↑"}th[aria-sort=descending] button::after{content:"\00a0↓"}
.tool{font:inherit;font-size:.85rem;color:var(--accent);background:var(--raised);border:1px solid var(--line);border-radius:.35rem;padding:.3rem .8rem;cursor:pointer;margin:0 .5rem .5rem 0}
.tool:hover{border-color:var(--accent)}
.better{color:var(--good);font-weight:600;white-space:nowrap}.worse{color:var(--bad);font-weight:600;white-space:nowrap}.unclear{color:var(--muted);white-space:nowrap}
.confusion table{min-width:0}.confusion td{text-align:right;background:color-mix(in srgb,var(--accent) calc(var(--share,0)*45%),transparent);border:1px solid var(--line);min-width:2.6rem}
.confusion td.right{font-weight:600}.confusion td.corner{border:0}.confusion th{font-size:.82rem}
details{border:1px solid var(--line);border-radius:.5rem;background:var(--raised);margin:.8rem 0;padding:0 1.1rem}
summary{cursor:pointer;padding:.7rem 0;font-weight:600}summary .note{font-weight:400}
details[open]>summary{margin-bottom:.2rem}
.family .metric:first-of-type{padding-top:.6rem}
.share{display:block;white-space:nowrap;font-size:.82rem;padding:0 .3rem;margin:0 0 1px;background:linear-gradient(90deg,color-mix(in srgb,var(--accent) 24%,transparent) calc(var(--share)*100%),transparent 0)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));gap:1.1rem;margin:0 0 1.2rem}
.card img{display:block;width:100%;height:auto;border-radius:.3rem;background:var(--soft)}
.card figcaption{margin-top:.4rem;line-height:1.45}.card b{color:var(--ink)}
.sheet{max-width:100%;height:auto;border-radius:.4rem;border:1px solid var(--line)}
code,pre{font-family:var(--mono);font-size:.88em}pre{background:var(--soft);border-radius:.4rem;padding:.8rem 1rem;overflow-x:auto}
td code{overflow-wrap:anywhere}
footer{grid-column:2;margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--muted);font-size:.85rem}
@media (max-width:60rem){.frame{display:block;padding:1.4rem 1rem 3rem}nav{margin:1rem 0 0;padding:.8rem 1rem;background:var(--soft);border-radius:.5rem}
 nav .stick{position:static}nav ol{columns:2}.metric{grid-template-columns:minmax(0,1fr)}section{padding-top:1.8rem}.verdict{font-size:1.05rem}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{:root{color-scheme:light;--paper:#fff;--raised:#fff;--ink:#000;--muted:#444;--line:#bbb;--soft:#f4f4f4}
 .frame{display:block;max-width:none;padding:0}nav,.tool,.skip{display:none}body{font-size:10pt}
 figure,.card,.metric,tr{break-inside:avoid}h2,h3,h4{break-after:avoid}details{border:0;padding:0}.scroll{overflow:visible}}
)css";

constexpr std::string_view kScript = R"js(
"use strict";
(() => {
  const cellValue = (row, column) => {
    const cell = row.cells[column];
    const number = parseFloat(cell.dataset.value ?? cell.dataset.sort ?? "");
    return Number.isNaN(number) ? cell.textContent.trim() : number;
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b);
  };
  const sortBy = (table, column) => {
    const head = table.tHead.rows[0].cells;
    const up = head[column].getAttribute("aria-sort") !== "ascending";
    for (const th of head) th.removeAttribute("aria-sort");
    head[column].setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => (up ? 1 : -1) * compare(cellValue(a, column), cellValue(b, column)));
    body.append(...rows);
  };
  const save = (name, type, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], {type}));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  // A text cell must not start a formula in a spreadsheet.
  const csvCell = (cell) => {
    const raw = cell.dataset.value ?? cell.textContent.trim().replace(/\s+/g, " ");
    const safe = cell.dataset.value === undefined && /^[=+\-@\t\r]/.test(raw) ? "'" + raw : raw;
    return '"' + safe.replaceAll('"', '""') + '"';
  };
  const csv = (table) => [...table.rows].map((row) => [...row.cells].map(csvCell).join(",")).join("\r\n") + "\r\n";
  const button = (label, action) => {
    const element = document.createElement("button");
    element.type = "button";
    element.className = "tool";
    element.textContent = label;
    element.addEventListener("click", action);
    return element;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const name = (table.dataset.name || "table") + ".csv";
    table.parentElement.before(button("Download CSV", () => save(name, "text/csv", csv(table))));
    [...table.tHead.rows[0].cells].forEach((th, column) => {
      const sorter = document.createElement("button");
      sorter.type = "button";
      sorter.append(...th.childNodes);
      sorter.addEventListener("click", () => sortBy(table, column));
      th.append(sorter);
    });
  }
  const data = document.getElementById("numbers-json");
  document.getElementById("downloads").append(
    button("Download everything as JSON", () => save("report.json", "application/json", data.textContent)));
  for (const place of document.querySelectorAll(".open-all")) {
    place.append(button("Open all filters", () => {
      for (const part of place.parentElement.querySelectorAll("details")) part.open = true;
    }));
  }
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const part of folded) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of folded) part.open = false; });
})();
)js";

}  // namespace

std::string_view style_sheet() {
  return kStyleSheet;
}
std::string_view script() {
  return kScript;
}

}  // namespace partwise::report
