// Numbers over epochs, one line per run.
import type { JSX } from "preact";
import { number, percent, tick } from "../words";
import { scale } from "./scale";

export interface Curve {
  label: string;
  colour: string;
  dash?: boolean;
  points: { x: number; y: number; low?: number; high?: number }[];
}

const width = 440;
const height = 230;
const left = 46;
const foot = 30;
const top = 10;
const right = 8;

export function Curves(props: { title: string; curves: Curve[]; share?: boolean }): JSX.Element {
  const all = props.curves.flatMap((curve) => curve.points);
  const as = props.share ? percent : number;
  const onAxis = (value: number): string => (props.share ? `${tick(100 * value)} %` : tick(value));
  const lastEpoch = Math.max(1, ...all.map((point) => point.x));
  const firstEpoch = Math.min(lastEpoch, ...all.map((point) => point.x));
  const up = scale(all.flatMap((point) => [point.y, point.low, point.high]));
  const x = (epoch: number): number =>
    lastEpoch === firstEpoch
      ? left + (width - left - right) / 2
      : left + ((epoch - firstEpoch) / (lastEpoch - firstEpoch)) * (width - left - right);
  const y = (value: number): number => height - foot - up.at(value) * (height - foot - top);
  const step = Math.max(1, Math.ceil((lastEpoch - firstEpoch) / 6));
  const epochs: number[] = [];
  for (let epoch = firstEpoch; epoch <= lastEpoch; epoch += step) epochs.push(epoch);
  const line = (curve: Curve): string =>
    curve.points.map((point, k) => `${k ? "L" : "M"}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`).join("");
  const band = (curve: Curve): string => {
    const sure = curve.points.filter((point) => point.low !== undefined && point.high !== undefined);
    if (sure.length < 2) return "";
    const over = sure.map((point) => `${x(point.x).toFixed(1)} ${y(point.high ?? 0).toFixed(1)}`);
    const under = sure.map((point) => `${x(point.x).toFixed(1)} ${y(point.low ?? 0).toFixed(1)}`).reverse();
    return `M${[...over, ...under].join("L")}Z`;
  };
  const said = props.curves
    .map((curve) => {
      const last = curve.points[curve.points.length - 1];
      return last ? `${curve.label} ${as(last.y)} at epoch ${last.x}` : "";
    })
    .join("; ");
  return (
    <figure class="panel curves">
      <h3>{props.title}</h3>
      <svg class="chart" role="img" viewBox={`0 0 ${width} ${height}`} aria-label={`${props.title}: ${said}`}>
        {up.ticks.map((value) => (
          <g key={value}>
            <line class="grid" x1={left} x2={width - right} y1={y(value)} y2={y(value)} />
            <text class="tick end" x={left - 6} y={y(value) + 4}>
              {onAxis(value)}
            </text>
          </g>
        ))}
        {epochs.map((epoch) => (
          <text key={epoch} class="tick middle" x={x(epoch)} y={height - foot + 15}>
            {epoch}
          </text>
        ))}
        <text class="tick middle" x={left + (width - left - right) / 2} y={height - 2}>
          epoch
        </text>
        {props.curves.map((curve) => (
          <g key={curve.label} class={curve.colour}>
            <path class="band" d={band(curve)} />
            <path class={curve.dash ? "curve dash" : "curve"} d={line(curve)} />
            {curve.points.map((point) => (
              <circle key={point.x} class="point" cx={x(point.x)} cy={y(point.y)} r={curve.points.length > 40 ? 1.5 : 3}>
                <title>{`${curve.label}, epoch ${point.x}: ${as(point.y)}`}</title>
              </circle>
            ))}
          </g>
        ))}
      </svg>
      <figcaption>
        {props.curves.map((curve) => {
          const last = curve.points[curve.points.length - 1];
          return (
            <span key={curve.label} class={`key line ${curve.dash ? "dash" : ""} ${curve.colour}`}>
              <span class="ink">{`${curve.label} ${last ? as(last.y) : ""}`}</span>
            </span>
          );
        })}
      </figcaption>
    </figure>
  );
}
