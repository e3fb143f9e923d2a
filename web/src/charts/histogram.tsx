// How strongly a filter fires on its own category and on the others, each as shares of its images.
import type { JSX } from "preact";
import type { FilterPage } from "../server";
import { count, number, percent, tick } from "../words";

const width = 420;
const height = 150;
const foot = 20;

export function Histogram(props: { histogram: NonNullable<FilterPage["histogram"]>; category: string }): JSX.Element | null {
  const { edges, own, others } = props.histogram;
  if (edges.length < 2) return null;
  const sum = (counts: number[]): number => counts.reduce((a, b) => a + b, 0);
  const [all, rest] = [sum(own), sum(others)];
  const shares = (counts: number[], of: number): number[] => counts.map((one) => (of > 0 ? one / of : 0));
  const [mine, theirs] = [shares(own, all), shares(others, rest)];
  const most = Math.max(...mine, ...theirs, 1e-9);
  const first = edges[0] ?? 0;
  const last = edges[edges.length - 1] ?? 1;
  const x = (value: number): number => ((value - first) / (last - first || 1)) * width;
  const y = (value: number): number => height - foot - (value / most) * (height - foot - 8);
  const outline = theirs.map((value, k) => `${k ? "L" : "M"}${x(edges[k] ?? 0)} ${y(value)}H${x(edges[k + 1] ?? 0)}`).join("");
  const category = props.category || "its category";
  return (
    <figure class="histogram">
      <svg
        class="chart"
        role="img"
        viewBox={`0 0 ${width} ${height}`}
        aria-label={`Peaks from ${number(first)} to ${number(last)} on ${count(all, "image")} of ${category} and ${rest} of others; the tallest bar holds ${percent(most)}`}
      >
        {mine.map((value, k) => (
          <rect
            key={k}
            class="own"
            x={x(edges[k] ?? 0) + 0.5}
            width={Math.max(1, x(edges[k + 1] ?? 0) - x(edges[k] ?? 0) - 1)}
            y={y(value)}
            height={height - foot - y(value)}
          />
        ))}
        <path class="others" d={outline} />
        <line class="axis" x1="0" x2={width} y1={height - foot} y2={height - foot} />
        <text class="tick" x="0" y={height - 5}>
          {tick(first)}
        </text>
        <text class="tick middle" x={width / 2} y={height - 5}>
          how strongly it fires
        </text>
        <text class="tick end" x={width} y={height - 5}>
          {tick(last)}
        </text>
      </svg>
      <figcaption>
        <span class="key own">{`${category}, ${count(all, "image")}`}</span>{" "}
        <span class="key others">{`others, ${count(rest, "image")}`}</span> Each as shares of its images; the tallest bar
        holds {percent(most)}.
      </figcaption>
    </figure>
  );
}
