#include "partwise/report/html.h"

namespace partwise::report {

namespace {

constexpr std::string_view kStyleSheet = R"css(
:root{color-scheme:light dark;
 --paper:#fdfcfa;--raised:#fff;--ink:#1c2024;--muted:#5b636d;--line:#e2dfd8;--accent:#0b6e6e;--soft:#f3f1ec;
 --good:#1a6b3c;--bad:#a03421;--edge:#0003;
 --s0:#5f6873;--s1:#8a6100;--s2:#2f62b5;--s3:#b3361c;--s4:#6b3fa0;--s5:#0b7a6b;--s6:#94406f;--s7:#4d5c18;
 --sans:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
 --serif:"Iowan Old Style",Charter,"Palatino Linotype",Palatino,Georgia,serif;
 --mono:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
@media (prefers-color-scheme:dark){:root{
 --paper:#15181b;--raised:#1c2024;--ink:#e6e4df;--muted:#a2a9b1;--line:#333940;--accent:#5cc4bd;--soft:#20252a;
 --good:#7fd09c;--bad:#f09a86;--edge:#fff3;
 --s0:#a9b2bc;--s1:#e0b34c;--s2:#86b1f5;--s3:#ff8a6b;--s4:#c4a1f0;--s5:#5fd0bd;--s6:#eb9ac8;--s7:#bccb72}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.6 var(--sans);overflow-wrap:break-word}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--raised);padding:.5rem 1rem;z-index:2}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
a{color:var(--accent);text-underline-offset:.18em;text-decoration-thickness:1px}
.frame{max-width:78rem;margin:0 auto;padding:1.4rem 1.5rem 4rem}
.kicker{margin:0;color:var(--accent);font-size:.75rem;font-weight:600;letter-spacing:.08em;text-transform:uppercase}
h1{font:600 clamp(1.5rem,3vw,2.1rem)/1.15 var(--serif);margin:.1rem 0 .3rem;text-wrap:balance}
h2{font:600 1.55rem/1.25 var(--serif);margin:0 0 .8rem}
h3{font:600 1.12rem/1.35 var(--sans);margin:2rem 0 .5rem}
h4{font:600 .95rem/1.4 var(--sans);margin:1.5rem 0 .6rem;color:var(--muted)}
section{padding:2.4rem 0 .4rem}
section+section{border-top:1px solid var(--line);margin-top:2rem}
p,ul,ol,dl{max-width:75ch;margin:0 0 .9rem}li{margin:.25rem 0}
.facts{display:flex;flex-wrap:wrap;gap:.1rem 1.4rem;color:var(--muted);font-size:.88rem;margin:0;max-width:none}
.facts b{color:var(--ink);font-weight:600}
header{border-bottom:1px solid var(--line);padding-bottom:.6rem}
.top{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:.2rem 2rem;margin-bottom:.3rem}
nav{font-size:.88rem}nav ol{list-style:none;display:flex;flex-wrap:wrap;gap:0 1.4rem;margin:0;padding:0;max-width:none}nav li{margin:0}
nav a{display:inline-block;padding:.15rem 0;color:var(--muted);text-decoration:none}nav a:hover,nav a:focus-visible{color:var(--accent);text-decoration:underline}
#glance{padding-top:.9rem}#glance>h2{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.three{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:1.1rem;margin:0 0 .6rem}
.shown{display:grid;grid-template:"title title" "photo list" "photo list" 1fr/minmax(0,1fr) minmax(0,1fr);gap:.4rem .9rem;background:var(--raised);border:1px solid var(--line);border-radius:.5rem;padding:.7rem .8rem}
.shown h3{grid-area:title;margin:0;font-size:.95rem}.photo{grid-area:photo}.shown>div:last-child{grid-area:list}.shown.wrong h3{color:var(--bad)}
.shown img{display:block;width:100%;height:auto;max-height:16rem;object-fit:contain;object-position:0 0;border-radius:.3rem}
.shown p{margin:0 0 .35rem;font-size:.9rem;line-height:1.35}
.shown figcaption{font-size:.78rem;line-height:1.35;margin-top:.35rem}.shown .weak{color:var(--bad)}.file{color:var(--muted);overflow-wrap:anywhere}
.shares{margin:0;padding:0 0 0 1.3rem;font-size:.82rem;line-height:1.3}.shares li{margin:0 0 .2rem;display:list-item}
.shares b{float:right;font-weight:600;font-variant-numeric:tabular-nums;padding-left:.4rem}
.shares li::after{content:"";display:block;clear:both;height:.42rem;width:calc(var(--length)*100%);min-width:2px;background:var(--colour,var(--muted));border:1px solid var(--edge);border-radius:1px}
.shares .against::after{background:repeating-linear-gradient(115deg,var(--colour,var(--muted)) 0 3px,transparent 3px 6px)}
.said{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,30rem);gap:1.5rem;align-items:start;margin-top:1rem}
.verdict{font:1.1rem/1.55 var(--serif);border-left:3px solid var(--accent);padding:.1rem 0 .1rem 1.1rem;margin:0}
.verdict p{margin:0 0 .8rem}.verdict p:last-child{margin:0}
.headline{padding:.5rem .7rem}.headline figcaption{font-size:.8rem;line-height:1.4;margin-top:.3rem}
.note{color:var(--muted);font-size:.88rem}.three+.note{max-width:none;margin:0}
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
.grid2 .panel h3{margin:0 0 .4rem;font-size:.95rem}
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
.tool{display:inline-block;font-size:.88rem;color:var(--accent);background:var(--raised);border:1px solid var(--line);border-radius:.35rem;padding:.2rem .8rem}
.tool:hover{border-color:var(--accent)}
.better{color:var(--good);font-weight:600;white-space:nowrap}.worse{color:var(--bad);font-weight:600;white-space:nowrap}.unclear{color:var(--muted);white-space:nowrap}
.confusion table{min-width:0}.confusion td{text-align:right;background:color-mix(in srgb,var(--accent) calc(var(--share,0)*45%),transparent);border:1px solid var(--line);min-width:2.6rem}
.confusion td.right{font-weight:600}.confusion td.corner{border:0}.confusion th{font-size:.82rem}
details{border:1px solid var(--line);border-radius:.5rem;background:var(--raised);margin:.8rem 0;padding:0 1.1rem}
summary{cursor:pointer;padding:.7rem 0;font-weight:600}summary .note{font-weight:400}
details[open]>summary{margin-bottom:.2rem}details h3{font-size:.95rem;margin:1.2rem 0 .6rem}
.family .metric:first-of-type{padding-top:.6rem}
.share{display:block;white-space:nowrap;font-size:.82rem;padding:0 .3rem;margin:0 0 1px;background:linear-gradient(90deg,color-mix(in srgb,var(--accent) 24%,transparent) calc(var(--share)*100%),transparent 0)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr));gap:1.1rem;margin:0 0 1.2rem}
.card img{display:block;width:100%;height:auto;border-radius:.3rem;background:var(--soft)}
.card figcaption{margin-top:.4rem;line-height:1.45}.card b{color:var(--ink)}
.sheet{max-width:100%;height:auto;border-radius:.4rem;border:1px solid var(--line)}
code,pre{font-family:var(--mono);font-size:.88em}pre{background:var(--soft);border-radius:.4rem;padding:.8rem 1rem;overflow-x:auto}
pre.csv{max-height:30rem;overflow:auto;font-size:.75rem}
td code,.note code{overflow-wrap:anywhere}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--muted);font-size:.85rem}
@media (max-width:60rem){.three,.said,.metric{grid-template-columns:minmax(0,1fr)}.frame{padding:1.2rem 1rem 3rem}section{padding-top:1.8rem}.verdict{font-size:1.02rem}details{padding:0 .7rem}}
@media (max-width:30rem){.headline{padding:.4rem 0}.headline figcaption{padding:0 .6rem}.shown{display:block}.shown img{max-height:none;margin:.3rem 0}.shown figcaption{margin-bottom:.6rem}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
@media print{:root{color-scheme:light;--paper:#fff;--raised:#fff;--ink:#000;--muted:#444;--line:#bbb;--soft:#f4f4f4}
 .frame{max-width:none;padding:0}nav,.tool,.skip{display:none}html{font-size:75%}
 *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
 .three{grid-template-columns:repeat(3,minmax(0,1fr))}.said{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}
 .shown{display:block}.cards,.grid2,.metric{grid-template-columns:repeat(2,minmax(0,1fr))}.arms{grid-template-columns:repeat(4,minmax(0,1fr))}
 details::details-content{content-visibility:visible;display:block;height:auto}
 figure,.card,.metric,tr{break-inside:avoid}h2,h3,h4,summary{break-after:avoid}details{border:0;padding:0}.scroll{overflow:visible}
 pre{white-space:pre-wrap;overflow-wrap:anywhere}pre.csv{max-height:none;font-size:6pt}table{font-size:7.5pt;min-width:0}td,td *,th{white-space:normal!important;overflow-wrap:anywhere}}
)css";

}  // namespace

std::string_view style_sheet() {
  return kStyleSheet;
}

}  // namespace partwise::report
